"""`python -m analysis VERB ...`: see analysis.cli."""

from __future__ import annotations

import sys

from analysis.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
