"""A page runs the app: it draws, takes keys, and leaves no process when it is closed."""

import asyncio
import signal
from pathlib import Path

import pytest
from aiohttp import WSCloseCode

from contextui.cli.arguments import parse
from contextui.cli.serve import earlier_flags, settings_flags
from contextui.cli.serve.process import limited
from tests.cli.calling import Program
from tests.cli.serve.serving import Serving, all_gone, opened

pytestmark = pytest.mark.long

SLEEPER = '''
import subprocess

from contextui import Body, Lod, Window


class Sleeper(Window):
    """Starts a program that does not end by itself."""

    def opened(self) -> None:
        subprocess.Popen(["sleep", "1000"])

    def content(self, lod: Lod) -> Body:
        return "asleep"
'''


async def test_a_closed_page_leaves_no_process_and_a_whole_session(tmp_path: Path) -> None:
    window = tmp_path / "sleeper.py"
    window.write_text(SLEEPER)

    with Serving(tmp_path / "work", f"--window={window}") as serving:
        async with opened(serving) as page:
            await page.until_shown("No model is connected")
            await page.type("/open sleeper\r")
            await page.until_shown("asleep")
            apps = serving.apps()
        assert [one.name() for one in apps].count("sleep") == 1
        assert len(apps) == 2  # the app and the sleeper
        assert all_gone(apps)
        async with opened(serving, page.link) as page:
            await page.until_shown("1 sleeper")
            # it was closed, and its session let go of: this is not a copy
            assert not any("This is a copy" in line for line in page.screen.display)
            await page.type("\x11")  # ctrl+q
            with pytest.raises(AssertionError, match=str(int(WSCloseCode.OK))):
                await page.until_shown("something that never comes")
        assert all_gone(serving.apps())
        status, err = serving.end(signal.SIGTERM)
        assert (status, err) == (143, "")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGKILL, -9)])
async def test_pages_end_with_a_server(tmp_path: Path, number: signal.Signals, status: int) -> None:
    with Serving(tmp_path / "work", "--lang", "zh") as serving:
        async with opened(serving) as page:
            await page.until_shown("没有连接模型")
            apps = serving.apps()
            assert len(apps) == 1
            found, err = await asyncio.to_thread(serving.end, number)
            assert (found, err) == (status, "")
            assert await asyncio.to_thread(all_gone, apps)


async def test_a_page_that_sends_invalid_messages_is_closed(tmp_path: Path) -> None:
    async def look(serving: Serving, nonsense: str) -> None:
        async with opened(serving) as page:
            await page.socket.send_str(nonsense)
            while not page.socket.closed:
                await page.socket.receive(timeout=60)
            assert page.socket.close_code == WSCloseCode.PROTOCOL_ERROR

    with Serving(tmp_path / "work") as serving:
        sizes = '["resize", {"width": "x", "height": 1}]'
        wrong = ["{", "[]", '["stdin", 5]', sizes, "[" * 9_999]
        await asyncio.gather(*(look(serving, one) for one in wrong))
        assert all_gone(serving.apps())


async def test_a_paste_presses_no_keys_and_may_be_large(tmp_path: Path) -> None:
    with Serving(tmp_path / "work") as serving:
        async with opened(serving) as page:
            await page.until_shown("No model is connected")
            await page.socket.send_json(["paste", "one\r\nt\0wo\ud800 \x1b[201~\rthree"])
            await page.until_shown("three")
            await page.type("four")
            await page.until_shown("threefour")
            assert any("two? " in line for line in page.screen.display)
            assert any("No model is connected" in line for line in page.screen.display)
            await page.socket.send_json(["paste", "x" * 5_000_000])
            await page.until_shown("[pasted 1: 5.0M characters]")
            await page.socket.send_json(["paste", "x" * 11_000_000])
            await page.until_shown("The paste is too large")


def test_flags_are_passed_to_the_app() -> None:
    words = ["-c", "--fork", "--lang", "zh", "--window", "a.py", "--window", "b.py"]
    arguments = parse(["serve", "--port", "80", "--host", "::1", *words])
    assert (arguments.host, arguments.port) == ("::1", 80)
    handed_on = [*earlier_flags(arguments), *settings_flags(arguments)]
    assert handed_on == ["--continue", "--fork", "--window=a.py", "--window=b.py", "--lang=zh"]
    again = parse(handed_on)
    assert (again.newest, again.fork, again.flags) == (True, True, arguments.flags)
    assert list(earlier_flags(parse(["serve", "--resume=-x"]))) == ["--resume=-x"]
    assert [*earlier_flags(parse(["serve"])), *settings_flags(parse(["serve"]))] == []


def test_no_page_is_so_large_that_it_cannot_be_drawn() -> None:
    assert limited(10**9, -5) == (500, 1)
    assert limited(120, 40) == (120, 40)


def test_errors_are_reported_before_anything_is_served(program: Program) -> None:
    program("serve", "--port", "x").fails(2, "--port")
    program("serve", "--port", "99999").fails(2, "65535")
    program("serve", "--host", "no such host").fails(2, "no such host")
    program("serve", "-c").fails(2, "There is no session")
    program("serve", "--lang", "xx").fails(2, "--lang")


def test_a_missing_package_is_named_with_the_command_to_install_it(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextui.cli.serve.find_spec", lambda _: None)
    program("serve").fails(2, "pip install 'contextui[serve]'")


def test_an_address_that_others_can_reach_prints_a_warning(tmp_path: Path) -> None:
    with Serving(tmp_path / "work", "--host", "0.0.0.0") as serving:
        assert serving.url.host == "127.0.0.1"
        status, err = serving.end(signal.SIGINT)
        assert status == 0
        assert err.count("\n") == 1
        assert "reachable from other machines" in err
