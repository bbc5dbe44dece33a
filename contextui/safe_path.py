"""Keep the current folder out of the search paths for modules and programs.

The program runs in untrusted folders. Python looks for modules in the current folder when started
with ``-m`` or when ``PYTHONPATH`` has an empty or relative entry, and the system looks there for
programs when ``PATH`` has one. This module runs before any module that could be found there, so it
imports only what Python has already loaded.
"""

import os
import sys


def is_program() -> bool:
    """Whether this process is the contextui program, not another one that imports the library.

    While Python resolves ``-m``, ``sys.argv`` starts with ``-m`` and the word before the arguments
    is the module, or ends with it as in ``-Bmcontextui``.
    """
    first = sys.argv[0] if sys.argv else ""
    if first != "-m":
        return first.endswith(("/contextui", "/contextui.exe"))
    word = sys.orig_argv[len(sys.orig_argv) - len(sys.argv)]
    module = word.partition("m")[2] if word.startswith("-") else word
    return module.partition(".")[0] == "contextui"


def remove_current_folder() -> None:
    """Remove the current folder from the search paths of this process and its children."""
    if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
        sys.path.pop(0)
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    unsafe = {os.path.abspath(entry) for entry in given if not _is_other_folder(entry)}
    unsafe -= _installed()
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) not in unsafe]
    _clean("PYTHONPATH", None)
    _clean("PATH", os.defpath)


def _clean(variable: str, default: str | None) -> None:
    """Keep only the entries of a search path that name a folder other than the current one."""
    if variable not in os.environ:
        return
    entries = os.environ[variable].split(os.pathsep)
    kept = os.pathsep.join(filter(_is_other_folder, entries)) or default
    if kept is None:
        del os.environ[variable]
    else:
        os.environ[variable] = kept


def _is_other_folder(entry: str) -> bool:
    if not os.path.isabs(entry):
        return False
    try:
        return os.path.realpath(entry) != os.path.realpath(os.getcwd())
    except OSError:  # the current folder was removed
        return True


def _installed() -> set[str]:
    """Return the folders of installed modules: the current folder may be one of them."""
    found = {os.path.dirname(os.__file__)}
    if (site := sys.modules.get("site")) is not None:
        found.update(site.getsitepackages())
    return found
