"""`python -m contextui`, or safer `python -P -m contextui`.

Without ``-P`` Python looks for `contextui` in the current folder before it comes here. What keeps
that folder's other modules out is `contextui.safe_path`.
"""

import sys

from contextui.cli import main

if __name__ == "__main__":
    sys.exit(main())
