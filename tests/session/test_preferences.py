"""What the screen remembers between runs."""

import os
from pathlib import Path

from contextui.session.preferences import Preferences
from tests.windowing.samples import together


def test_a_value_is_there_again(tmp_path: Path) -> None:
    Preferences.of_folder(Path("/a/b"), tmp_path).put("layout", {"rows": 22})
    again = Preferences.of_folder(Path("/a/b"), tmp_path)
    assert again.get("layout") == {"rows": 22}
    assert Preferences.of_folder(Path("/a/c"), tmp_path).get("layout") is None
    assert Preferences.of_person(tmp_path).get("layout") is None


def test_only_the_person_can_read_it(tmp_path: Path) -> None:
    preferences = Preferences.of_folder(Path("/a/b"), tmp_path / "home")
    assert preferences.put("theme", "light")
    assert os.stat(preferences.path).st_mode & 0o777 == 0o600


def test_none_removes_a_value(tmp_path: Path) -> None:
    preferences = Preferences.of_person(tmp_path)
    preferences.put("theme", "light")
    preferences.put("theme", None)
    assert preferences.get("theme") is None
    assert "theme" not in preferences.path.read_text()


def test_a_damaged_file_counts_as_empty_and_is_replaced(tmp_path: Path) -> None:
    preferences = Preferences.of_person(tmp_path)
    for damage in (b"{", b"[1]", b"\xff\xfe", b"[" * 100_000):
        preferences.path.write_bytes(damage)
        assert preferences.get("theme") is None
        assert preferences.put("theme", "light")
        assert preferences.get("theme") == "light"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    preferences = Preferences.of_person(tmp_path / "file" / "home")
    assert not preferences.put("theme", "light")
    assert preferences.get("theme") is None


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    def write(name: str) -> None:
        for number in range(20):
            Preferences.of_person(tmp_path).put(f"{name}{number}", number)

    together(lambda: write("a"), lambda: write("b"))
    preferences = Preferences.of_person(tmp_path)
    assert all(
        preferences.get(f"{name}{number}") == number for name in "ab" for number in range(20)
    )


def test_a_value_that_cannot_be_kept_costs_no_other(tmp_path: Path) -> None:
    preferences = Preferences.of_person(tmp_path)
    preferences.path.write_text('{"draft": "\\ud800 x", "theme": "dark"}')  # another program's text
    assert preferences.put("theme", "light")
    assert not preferences.put("draft", "x" * (1 << 20))
    assert preferences.get("theme") == "light"
    assert preferences.get("draft") == "\ud800 x"
