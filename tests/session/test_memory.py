"""What the screen remembers between runs."""

import os
import threading
from pathlib import Path

from contextui.session.memory import Memory


def test_a_value_is_there_again(tmp_path: Path) -> None:
    Memory.of_folder(Path("/a/b"), tmp_path).put("layout", {"rows": 22})
    again = Memory.of_folder(Path("/a/b"), tmp_path)
    assert again.get("layout") == {"rows": 22}
    assert Memory.of_folder(Path("/a/c"), tmp_path).get("layout") is None
    assert Memory.of_person(tmp_path).get("layout") is None


def test_only_the_person_can_read_it(tmp_path: Path) -> None:
    memory = Memory.of_folder(Path("/a/b"), tmp_path / "home")
    assert memory.put("theme", "light")
    assert os.stat(memory.path).st_mode & 0o777 == 0o600


def test_none_removes_a_value(tmp_path: Path) -> None:
    memory = Memory.of_person(tmp_path)
    memory.put("theme", "light")
    memory.put("theme", None)
    assert memory.get("theme") is None
    assert "theme" not in memory.path.read_text()


def test_a_damaged_file_counts_as_empty_and_is_replaced(tmp_path: Path) -> None:
    memory = Memory.of_person(tmp_path)
    for damage in (b"{", b"[1]", b"\xff\xfe", b"[" * 100_000):
        memory.path.write_bytes(damage)
        assert memory.get("theme") is None
        assert memory.put("theme", "light")
        assert memory.get("theme") == "light"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    memory = Memory.of_person(tmp_path / "file" / "home")
    assert not memory.put("theme", "light")
    assert memory.get("theme") is None


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    def write(name: str) -> None:
        for number in range(20):
            Memory.of_person(tmp_path).put(f"{name}{number}", number)

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    memory = Memory.of_person(tmp_path)
    assert all(memory.get(f"{name}{number}") == number for name in "ab" for number in range(20))


def test_a_value_that_cannot_be_kept_costs_no_other(tmp_path: Path) -> None:
    memory = Memory.of_person(tmp_path)
    memory.path.write_text('{"draft": "\\ud800 x", "theme": "dark"}')  # another program's text
    assert memory.put("theme", "light")
    assert not memory.put("draft", "x" * (1 << 20))
    assert memory.get("theme") == "light"
    assert memory.get("draft") == "\ud800 x"
