"""Names of everything the store has on disk, made here only."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from glt.seeds import LARGEST

SCHEMA = 1

# The example runs that come with the program: in the package where it was installed, else in the checkout.
_INSTALLED = Path(__file__).resolve().parents[1] / "examples" / "runs"
EXAMPLES = _INSTALLED if _INSTALLED.is_dir() else _INSTALLED.parents[2] / "examples" / "runs"
# What stands before the name of an example where runs are named: in addresses, tables and on the command line.
EXAMPLES_PREFIX = "examples/"

CONFIG = "config.json"
CONFIG_LOCK = ".config.lock"
EXAMPLE_MARK = "EXAMPLE"
TRASH = ".trash"
ASIDE = "set-aside"
QUEUE = ".queue"
ANNOTATIONS = "annotations.json"
ANNOTATIONS_LOCK = ".annotations.lock"

STATUS = "status.json"
EVENTS = "events.jsonl"
ROUNDS = "rounds.jsonl"
CHECKSUMS = "checksums.jsonl"
INIT = "init.safetensors"
CHECKPOINT = "checkpoint.safetensors"
INIT_HASH = "init.sha256"
PRETRAINED = "pretrained.safetensors"
ENVIRONMENT = "environment.json"
LOG = "log.txt"
LOCK = "lock"
COMPACT_MASKS = "masks.npz"

OF_SEED = frozenset(
    {STATUS, EVENTS, ROUNDS, CHECKSUMS, INIT, CHECKPOINT, INIT_HASH, PRETRAINED, ENVIRONMENT, LOG, LOCK, COMPACT_MASKS}
)

OF_RUN = frozenset({CONFIG, EXAMPLE_MARK, ASIDE})

SEED_FOLDER = re.compile(r"seed-(0|[1-9]\d*)")
TENSORS_OF_ROUND = re.compile(r"(round|weights|predictions)-(\d{2,})\.safetensors")
UNFINISHED_WRITE = ".writing"
UNFINISHED = re.compile(rf"\.(?P<name>.+)\.(?P<pid>[1-9]\d{{0,9}})-\d+{re.escape(UNFINISHED_WRITE)}")
RUN_FOLDER = re.compile(r"[\w.+@]+(?:-[\w.+@]+){3,}-[0-9a-f]{8}")


def is_same_folder(one: Path, other: Path) -> bool:
    """Say whether two paths lead to one folder; loops of links lead nowhere and raise nothing."""
    return os.path.realpath(one) == os.path.realpath(other)


def is_in_examples(folder: Path) -> bool:
    """Say whether a folder is one of the bundled examples."""
    return is_same_folder(folder.parent, EXAMPLES)


def reference_of(folder: Path) -> str:
    """Return the reference of the run in a folder: its name, "examples/NAME" if bundled."""
    return f"{EXAMPLES_PREFIX}{folder.name}" if is_in_examples(folder) else folder.name


@lru_cache(maxsize=40_000)
def inside(folder: Path, name: str) -> Path:
    """Return `folder / name`, cached: joining paths dominates a look at many runs."""
    return folder / name


def seed_folder(run: Path, seed: int) -> Path:
    """Return the folder of one seed."""
    return inside(run, f"seed-{seed}")


def store_of(path: Path) -> Path:
    """Return the root of the store that holds a lock, or any file of a run, seed or queue."""
    for folder in path.parents:
        if folder.name == QUEUE or has_run_name(folder.name):
            return folder.parent
    return path.parent


def masks_file(seed: Path, number: int) -> Path:
    """Return the file with the binary masks and edge scores of round `number`."""
    return seed / f"round-{number:02d}.safetensors"


def weights_file(seed: Path, number: int) -> Path:
    """Return the file with the surviving weights of round `number`."""
    return seed / f"weights-{number:02d}.safetensors"


def predictions_file(seed: Path, number: int) -> Path:
    """Return the file with the logits of round `number`, which need not exist."""
    return seed / f"predictions-{number:02d}.safetensors"


def round_of(name: str) -> int | None:
    """Return the round of a tensor file, None for any other file.

    >>> round_of("weights-07.safetensors"), round_of("init.safetensors")
    (7, None)
    """
    match = TENSORS_OF_ROUND.fullmatch(name)
    return int(match.group(2)) if match else None


def is_predictions(name: str) -> bool:
    """Say whether a file holds the logits of a round.

    >>> is_predictions("predictions-07.safetensors"), is_predictions("weights-07.safetensors")
    (True, False)
    """
    match = TENSORS_OF_ROUND.fullmatch(name)
    return match is not None and match.group(1) == "predictions"


def is_of_seed(name: str) -> bool:
    """Say whether the store uses this name in the folder of a seed."""
    return name in OF_SEED or round_of(name) is not None


def is_of_run(name: str) -> bool:
    """Say whether the store uses this name in the folder of a run."""
    return name in OF_RUN or seed_of(name) is not None


def has_run_name(name: str) -> bool:
    """Say whether a name has the form "<dataset>-<task>-<model>-<method>-<hash8>".

    >>> has_run_name("cora-node-gcn-ugs-4e39c3d4"), has_run_name("model")
    (True, False)
    """
    return RUN_FOLDER.fullmatch(name) is not None


def writer_of(name: str) -> tuple[str, int] | None:
    """Return target and writing process of a temporary file, None for any other name.

    >>> writer_of(".config.json.77-1.writing"), writer_of("draft.writing")
    (('config.json', 77), None)
    """
    match = UNFINISHED.fullmatch(name)
    return (match["name"], int(match["pid"])) if match else None


def is_unfinished_of_seed(name: str) -> bool:
    """Say whether a name is that of an unfinished write in a seed's folder."""
    writer = writer_of(name)
    return writer is not None and is_of_seed(writer[0])


def seed_of(name: str) -> int | None:
    """Return the seed of a folder, None for any other folder.

    >>> seed_of("seed-12"), seed_of("seed-x"), seed_of("seed-1000000000")
    (12, None, None)
    """
    match = SEED_FOLDER.fullmatch(name)
    return int(match.group(1)) if match and int(match.group(1)) <= LARGEST else None
