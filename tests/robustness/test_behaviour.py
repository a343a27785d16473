"""A small part of what `behaviour.py` records is unchanged: two runs, a figure, a document; and its comparison.

Compared is what does not depend on the processor: theta_0, masks, records, counts, names, and other numbers to six
digits; sentences are not. After an intended change copy the file that a failure names to
tests/robustness/behaviour.json.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("behaviour.py")
KNOWN = Path(__file__).with_name("behaviour.json")
CASES = "^(run-again-gcn|run-paper-gcn|figure-accuracy-svg|figure-accuracy-json|show-gat|list-examples|bad-00-.*)$"
# Scores of soft masks and trained weights depend on the order of additions, and so on the processor.
EXACT = {"BOOL", "U8", "I32", "I64"}


def called(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("record")
    made = called("record", folder, "--cases", CASES)
    assert made.returncode == 0, made.stderr
    return folder


def hashed(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def stable(value: Any) -> Any:
    """Return a value with six digits of every broken number and without its sentences."""
    if isinstance(value, dict):
        return {name: stable(each) for name, each in value.items() if name != "picture"}
    if isinstance(value, list):
        found = [stable(each) for each in value]
        return sorted(found) if all(isinstance(each, str) for each in found) else found
    if isinstance(value, float):
        return f"{value:.6g}"
    return "words" if isinstance(value, str) and " " in value else value


def stable_files(run: dict[str, Any]) -> dict[str, str]:
    """Return hashes of a run's config, records, theta_0 and masks."""
    found = {"config.json": hashed(run["config.json"])}
    for name, result in run.items():
        if name.endswith("rounds.jsonl"):
            found[name] = hashed(stable(result))
        elif name.endswith("init.safetensors"):
            found[name] = hashed(result)
        elif "/round-" in name:
            found[name] = hashed({key: each for key, each in result.items() if key != "metadata" and each[0] in EXACT})
    return found


def summary(folder: Path) -> dict[str, Any]:
    """Return hashes of all that two machines must agree on."""
    runs = {path.stem: json.loads(path.read_text()) for path in sorted((folder / "results").iterdir())}
    output = {path.stem: json.loads(path.read_text()) for path in sorted((folder / "output").iterdir())}
    return {
        "runs": {name: stable_files(run) for name, run in runs.items()},
        "codes": {name: result["code"] for name, result in output.items()},
        "documents": {
            name: hashed(stable(result["document"])) for name, result in output.items() if "document" in result
        },
        "files": {
            name: hashed(stable(content)) for result in output.values() for name, content in result["files"].items()
        },
    }


def test_recorded_behaviour_is_unchanged(record: Path, tmp_path: Path) -> None:
    found = summary(record)
    (tmp_path / "behaviour.json").write_text(json.dumps(found, indent=1) + "\n")
    assert found == json.loads(KNOWN.read_text()), f"what is now: {tmp_path / 'behaviour.json'}"


def test_a_record_equals_itself_and_resumes(record: Path) -> None:
    same = called("compare", record, record)
    assert same.returncode == 0
    assert "results: no differences" in same.stdout
    assert "0 to run" in called("record", record, "--cases", CASES).stdout


@pytest.mark.parametrize(
    ("path", "old", "new", "section", "code"),
    [
        ("results/*.json", '"val": 0.', '"val": 1.', "results", 1),
        ("output/figure-accuracy-svg.json", "Graph sparsity", "Sparsity", "figures", 1),
        ("output/show-gat.json", '"best_epoch": ', '"best_epoch": 1', "json", 1),
        ("output/bad-00-*.json", '"code": 2', '"code": 1', "codes", 1),
        ("output/bad-00-*.json", "Unknown data set", "No data set", "words", 0),
    ],
)
def test_differences_are_reported_by_section(
    record: Path, tmp_path: Path, path: str, old: str, new: str, section: str, code: int
) -> None:
    other = tmp_path / "other"
    for name in ("results", "output"):
        shutil.copytree(record / name, other / name)
    changed = min(other.glob(path))
    assert old in changed.read_text()
    changed.write_text(changed.read_text().replace(old, new))
    printed = called("compare", record, other)
    assert printed.returncode == code
    assert [line.split(":")[0] for line in printed.stdout.splitlines() if re.match(r"\w+: \d", line)] == [section]
    assert called("compare", record, other, "--words").returncode == 1
