"""`python -m glt VERB ...`: see glt.cli."""

from __future__ import annotations

import sys

from glt.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
