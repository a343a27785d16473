"""Tickets whose tensors another program wrote in another type: converted where that loses nothing that matters."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from glt.cli.main import main
from glt.config import canonical_json
from glt.export.archive import read_ticket
from glt.export.opening import ABOUT, TENSORS, checksum
from tests.export.changed_files import changed, checked, zipped

REAL = ("weight.", "theta_0.", "features.values", "edge_weight", "outputs")


def in_type(path: Path, kind: torch.dtype, names: tuple[str, ...]) -> Path:
    """Write the file again with these tensors in another type, and sums that fit it."""
    with zipfile.ZipFile(path) as archive:
        document, tensors = json.loads(archive.read(ABOUT)), load(archive.read(TENSORS))
    document.pop("sha256")
    content = save({name: each.to(kind) if name.startswith(names) else each for name, each in tensors.items()})
    document["sha256"] = {ABOUT: checksum(canonical_json(document).encode()), TENSORS: checksum(content)}
    return zipped(path, {ABOUT: json.dumps(document).encode(), TENSORS: content})


def test_double_precision_passes_the_check(path: Path) -> None:
    before = read_ticket(path)
    report = checked(in_type(path, torch.float64, REAL))
    assert report.passed
    assert all(np.array_equal(read_ticket(path).weights[name], values) for name, values in before.weights.items())


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_halves_are_read_as_what_they_are(path: Path, kind: torch.dtype) -> None:
    """Rounded weights give rounded outputs: the check finds a difference, and computes all the same."""
    whole = read_ticket(path).weights
    report = checked(in_type(path, kind, ("weight.",)))
    assert 1e-5 < report.max_output_difference < 0.1
    for name, values in read_ticket(path).weights.items():
        assert values.dtype == np.float32
        assert np.array_equal(values, torch.from_numpy(whole[name]).to(kind).float().numpy())


def test_masks_of_zeros_and_ones_are_masks(path: Path) -> None:
    assert checked(in_type(path, torch.uint8, ("mask.", "edge_mask"))).passed


@pytest.mark.parametrize(
    ("kind", "names", "sentence"),
    [
        (torch.int64, ("weight.",), "is of type int64, where it must hold floating-point numbers"),
        (torch.bool, ("outputs",), "outputs is of type bool, where it must hold floating-point numbers"),
        (torch.float32, ("labels",), "labels is of type float32, where it must hold whole numbers"),
        (torch.float32, ("edge_mask",), "edge_mask is of type float32, where it must hold true and false"),
        (torch.float8_e4m3fn, ("weight.",), "is of type F8_E4M3, and no tensor of a ticket is"),
        (torch.complex64, ("weight.",), "is of type C64, and no tensor of a ticket is"),
    ],
    ids=str,
)
def test_a_type_of_another_kind_is_one_sentence(
    path: Path, capsys: pytest.CaptureFixture[str], kind: torch.dtype, names: tuple[str, ...], sentence: str
) -> None:
    assert main(["import", str(in_type(path, kind, names))]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert sentence in told.err
    assert "export the ticket again" in told.err


def test_numbers_beyond_single_precision_are_one_sentence(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = read_ticket(path).weights["layers.1.weight"].astype(np.float64)
    values[np.nonzero(values)[0][0], np.nonzero(values)[1][0]] = 1e300
    assert main(["import", str(changed(path, **{"weight.layers.1.weight": values}))]) == 1
    assert "beyond the range of single precision" in capsys.readouterr().err


def test_a_weight_that_is_no_number_fails_the_check(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = read_ticket(path).weights["layers.1.weight"].astype(np.float64)
    values[np.nonzero(values)[0][0], np.nonzero(values)[1][0]] = np.nan
    assert main(["import", str(changed(path, **{"weight.layers.1.weight": values}))]) == 1
    told = capsys.readouterr()
    assert "Unexpected" not in told.err
    assert "not a number" in told.out
