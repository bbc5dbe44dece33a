"""For those who write windows: a harness to test them with."""

from contextui.windowing.testing import WindowTester

__all__ = ["WindowTester"]
