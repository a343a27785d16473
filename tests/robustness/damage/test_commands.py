"""With one file of a run folder damaged, a command works, or names the file in one sentence.

GLT_DAMAGE=all tries every damage on every file with every command (`make damage`); without it, a few of each.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.store import Store
from tests.robustness.damage.commands import CHEAP, READERS, Outcome, complaint, damages, read

ALL = os.environ.get("GLT_DAMAGE") == "all"
FEW = ("cut to 0/8", "cut to 5/8", "flip 1", "flip 4", "folder", "dangling link", "unreadable")
WHICH = list(READERS) if ALL else list(CHEAP)
FILES = (
    "config.json",
    *(
        f"seed-0/{name}"
        for name in (
            "checksums.jsonl",
            "environment.json",
            "events.jsonl",
            "init.safetensors",
            "lock",
            "log.txt",
            "round-01.safetensors",
            "round-02.safetensors",
            "rounds.jsonl",
            "status.json",
            "weights-01.safetensors",
            "weights-02.safetensors",
        )
    ),
)
PRETRAINED = ("config.json", "seed-0/events.jsonl", "seed-0/pretrained.safetensors", "seed-0/status.json")
Copy = Callable[[], Store]


@pytest.fixture(scope="session")
def expected(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Outcome]:
    """Output of commands on the undamaged store, each run once."""
    known: dict[tuple[str, str], Outcome] = {}

    def expected(name: str, run: str) -> Outcome:
        if (name, run) not in known:
            known[name, run] = read(name, whole, run)
            assert known[name, run].code == 0, known[name, run].err
        return known[name, run]

    return expected


def chosen() -> dict[str, Callable[[Path], None]]:
    every = damages(24 if ALL else 6)
    return every if ALL else {name: every[name] for name in FEW}


@pytest.mark.parametrize(
    ("kind", "file"), [*(("run", file) for file in FILES), *(("pre-training", file) for file in PRETRAINED)]
)
def test_commands_work_or_name_the_damaged_file(
    copy: Copy, expected: Callable[[str, str], Outcome], kind: str, file: str
) -> None:
    wrong = []
    for damage, do in chosen().items():
        store = copy()
        run = store.runs()[0] if kind == "run" else store.pretrainings()[0]
        do(run.path / file)
        for name in WHICH if kind == "run" else ("list", "show", "doctor"):
            result = read(name, store.root, run.name)
            if why := complaint(name, result, expected(name, run.name), file):
                wrong.append(f"{damage}, {name}: {why}: {result.code} {result.err.strip()}")
    assert not wrong, "\n".join(wrong)
