"""How much is tried, and what chance is drawn from: a little in the suite, everything by `make faults`."""

from __future__ import annotations

import os

# Moments at which runs are killed; from fifty on everything else is tried in full too.
KILLS = int(os.environ.get("GLT_FAULT_KILLS", "8"))
THOROUGH = KILLS >= 50


def _drawn_seed() -> int:
    wanted = os.environ.get("GLT_FAULT_SEED")
    if wanted is not None:
        return int(wanted)
    return 0 if os.environ.get("CI") else int.from_bytes(os.urandom(3), "big")


# GLT_FAULT_SEED, which draws the same moments again, else another number each time, but in CI.
SEED = _drawn_seed()
