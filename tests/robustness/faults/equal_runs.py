"""What "byte-equal" means for the folder of a run: every file, but for what tells when and where it was computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# The only things in which a run that was killed and resumed may differ from one that was not.
EXEMPT_FILES = {
    "log.txt",  # what was printed, each time
    "lock",  # the process that held it last, and its host
}
MOMENTS = {"heartbeat", "queued_at", "running_since", "progress"}
EXEMPT_FIELDS = {
    "status.json": {"pid", "process_started", "process_mark", "host", *MOMENTS},
    "rounds.jsonl": {"seconds"},
}


def comparable(run: Path) -> dict[str, Any]:
    """Return the content of every file of a run's folder by its path in it, without what is exempt."""
    files = [path for path in sorted(run.rglob("*")) if path.is_file() and path.name not in EXEMPT_FILES]
    return {path.relative_to(run).as_posix(): _content(path) for path in files}


def assert_equal(run: Path, reference: Path) -> None:
    """Compare two folders of the same run file by file."""
    found, expected = comparable(run), comparable(reference)
    assert sorted(found) == sorted(expected)
    for name in expected:
        assert found[name] == expected[name], name


def assert_nothing_is_lost(run: Path, reference: Path, rounds: int) -> int:
    """See that so many rounds or more are whole, each written one as in the reference; return their number."""
    from glt.store import Store

    if not (run / "seed-0" / "rounds.jsonl").exists():
        assert rounds == 0
        return 0
    seed_run = Store(run.parent).find(run.name).seed(0)
    whole = seed_run.whole_rounds()
    assert seed_run.sound_rounds() == whole >= rounds
    for number in range(whole):
        for kind in ("round", "weights"):
            name = f"seed-0/{kind}-{number:02d}.safetensors"
            assert (run / name).read_bytes() == (reference / name).read_bytes(), name
    return whole


def _content(path: Path) -> Any:
    content, exempt = path.read_bytes(), EXEMPT_FIELDS.get(path.name)
    if exempt is None:
        return content
    return [{name: value for name, value in json.loads(line).items() if name not in exempt} for line in _lines(content)]


def _lines(content: bytes) -> list[bytes]:
    assert content.endswith(b"\n") or content.count(b"\n") == 0
    return content.splitlines()
