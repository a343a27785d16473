"""`latency` as a command."""

from __future__ import annotations

import json

import pytest

from glt.cli.main import main
from glt.store import Store, bundled_examples
from tests.cli.test_ticket import run as run  # noqa: PLC0414 - the same small run


def test_latency_prints_one_json_document(run, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ANN001
    assert main(["latency", run.name, "--round", "1", "--repeats", "2", "--warm-up", "0", "--json"]) == 0
    captured = capfd.readouterr()
    document = json.loads(captured.out)
    assert "profiler" not in captured.err
    assert (document["run"], document["seed"], document["round"]) == (run.name, 3, 1)
    assert document["disk_bytes"]["round"] < document["disk_bytes"]["dense"]
    assert document["search_seconds"] == 4.0
    assert document["executions"][0]["name"] == "masked"
    assert (document["repeats"], document["warm_up"], document["threads"]) == (2, 0, 1)


def test_latency_tells_how_far_it_is(run, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ANN001
    assert main(["latency", run.name, "--round", "1", "--repeats", "3", "--warm-up", "1", "--json", "--progress"]) == 0
    assert [float(line) for line in capfd.readouterr().err.split()] == [0.25, 0.5, 0.75, 1.0]


def test_an_example_cannot_be_measured(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    example = next(iter(bundled_examples()))
    assert main(["latency", str(example.path), "--round", "1"]) == 1
    assert "leaves weights out" in capsys.readouterr().err
