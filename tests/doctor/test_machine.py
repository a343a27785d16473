"""What the doctor says of the machine: packages against pins, the store's disk, and data sets at hand."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from glt.cli.doctor import lines_on
from glt.doctor import Examined, Finding, Repaired
from glt.doctor.environment import machine, packages
from glt.store import Store


def test_packages_are_held_against_their_pins(tmp_path: Path) -> None:
    pins = tmp_path / "requirements.txt"
    pins.write_text(
        "# a comment\n-e .\n"
        f"numpy=={version('numpy')}  # as it is\n"
        'scipy==0.0.1 ; python_version >= "3.0"\n'
        'pandas==0.0.1 ; python_version < "3.0"\n'
        "no-such-package==1.0\n"
    )
    missing, told = packages(pins)
    assert missing == ["no-such-package"]
    assert "no-such-package is missing" in told
    assert f"scipy is {version('scipy')}, pinned ==0.0.1" in told
    assert "numpy" not in told
    assert "pandas" not in told


def test_a_build_of_a_pinned_version_is_that_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pins = tmp_path / "requirements.txt"
    pins.write_text("torch==2.13.0\n")
    monkeypatch.setattr("glt.doctor.environment.version", lambda name: "2.13.0+cpu")
    assert packages(pins)[1].endswith("all 1 packages as pinned.")


def test_a_store_that_cannot_be_written_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = machine(Store(tmp_path / "file"))
    assert ["cannot be written" in fault for fault in found.faults] == [True]
    assert not machine(Store(tmp_path / "not made yet")).faults


def test_data_sets_at_hand_are_named(test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_DATA", str(test_data))
    told = next(line for line in machine(Store(tmp_path)).lines if line.startswith("Data in"))
    assert str(test_data) in told
    here, away = told.split("; not yet: ")
    assert "citeseer, cora, pubmed" in here
    assert "ogbn-arxiv" in away


# Findings: equal ones of several seeds share a line.


def test_equal_findings_of_seeds_are_one_line() -> None:
    run = Path("runs/a")
    same = [Finding(run / f"seed-{seed}" / "init.safetensors", "is missing", "it is made again") for seed in (0, 3)]
    other = Finding(run / "seed-1" / "init.safetensors", "is damaged", "it is made again")
    beside = Finding(run / "figure.png", "was not written by GLT Studio", "it is not changed", is_fault=False)
    found = (*same, other, beside)
    assert list(lines_on(Examined(run, found), Repaired((), found, None))) == [
        "runs/a: init.safetensors of seeds 0, 3 is missing: it is made again.",
        "runs/a/seed-1/init.safetensors is damaged: it is made again.",
        "runs/a/figure.png was not written by GLT Studio: it is not changed.",
    ]
