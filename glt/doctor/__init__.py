"""The doctor: checks every file of a store, and repairs by moving damaged or leftover files aside."""

from __future__ import annotations

from glt.doctor.checks import Examined as Examined
from glt.doctor.checks import Finding as Finding
from glt.doctor.checks import Repair as Repair
from glt.doctor.checks import examine as examine
from glt.doctor.checks import examine_store as examine_store
from glt.doctor.repair import Repaired as Repaired
from glt.doctor.repair import repair as repair
