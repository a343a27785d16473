"""The doctor: looks at every file of a store, says which is damaged, left over or out of place, and mends by moving."""

from __future__ import annotations

from glt.doctor.examination import Examined as Examined
from glt.doctor.examination import examine as examine
from glt.doctor.examination import examine_store as examine_store
from glt.doctor.finding import Finding as Finding
from glt.doctor.mending import mend as mend
