"""Entry point of `python -m contextui` (`python -P -m contextui` is safer).

Without ``-P``, Python looks for `contextui` in the current folder first. `contextui.safe_path`
keeps other modules of that folder out.
"""

import sys

from contextui.cli import main

if __name__ == "__main__":
    sys.exit(main())
