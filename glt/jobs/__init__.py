"""Start, watch, stop and resume workers: local processes that outlive their starter."""

from glt.jobs.launcher import resume, start, start_pretraining, stop
from glt.jobs.queue import is_busy, place_in_line, slot_count

__all__ = ["is_busy", "place_in_line", "resume", "slot_count", "start", "start_pretraining", "stop"]
