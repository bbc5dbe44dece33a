"""Children that are forked, and killed in the middle of what they do.

Only for a process of its own that has no threads: pytest's has some.
"""

import os
import signal
import time
import traceback
from collections.abc import Callable


def forked(work: Callable[[], object]) -> int:
    """Have a child do it: its id. It ends with 0, or with 1 if it failed, and says why."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def killed(work: Callable[[int], None], seconds: float, after: int = 0) -> list[str]:
    """Let a child work, and kill it in the middle; return the lines that it wrote until then.

    Args:
        work: Never ends, and writes lines to the descriptor that it is given.
        seconds: The moment of the crash.
        after: The lines from which on the seconds are counted, rather than from its start.
    """
    readable, writable = os.pipe()
    child = forked(lambda: work(writable))
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        written = b"".join(pipe.readline() for _ in range(after))
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the child failed by itself"
        written += pipe.read()
    return written.decode().split("\n")[:-1]  # the last one may be torn
