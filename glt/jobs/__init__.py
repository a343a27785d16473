"""Start, watch, stop and resume workers: local processes that outlive whoever started them."""

from glt.jobs.launching import resume as resume
from glt.jobs.launching import start as start
from glt.jobs.launching import start_pretraining as start_pretraining
from glt.jobs.queue import is_busy as is_busy
from glt.jobs.queue import place_in_line as place_in_line
from glt.jobs.queue import slot_count as slot_count
from glt.jobs.stopping import stop as stop
