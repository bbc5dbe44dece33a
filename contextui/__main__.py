"""`python -m contextui`. What keeps the current folder's modules out is in `contextui` itself."""

import sys

from contextui.cli import main

if __name__ == "__main__":
    sys.exit(main())
