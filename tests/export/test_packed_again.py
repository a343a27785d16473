"""A ticket that was unpacked and packed again: its folder and what systems add are in the zip, and it is read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from glt.cli.main import main
from glt.export.archive import read_ticket
from glt.export.opening import members

JUNK = {"__MACOSX/{0}/._ticket.json": b"\0\5\x16\7", "__MACOSX/{0}/ticket.json": b"", "{0}/.DS_Store": b"\0\0\0\1Bud1"}


def packed_again(path: Path, folder: str, separator: str = "/", junk: bool = True) -> Path:
    """Write the members of a ticket file into a folder of a new zip, as a desktop's "Compress" does."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    again = path.with_name("again.zip")
    with zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{folder}/", b"")
        for name, content in (JUNK if junk else {}).items():
            archive.writestr(name.format(folder), content)
        for name, content in held.items():
            archive.writestr(f"{folder}{separator}{name}", content)
    return again


@pytest.mark.parametrize("folder", ["ticket", "Größe (2)", "a/b/c", "../ticket"])
@pytest.mark.parametrize("separator", ["/", "\\"])
def test_a_folder_that_was_packed_again(path: Path, folder: str, separator: str) -> None:
    again = packed_again(path, folder, separator)
    assert members(again) == members(path)


def test_it_passes_the_check(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(packed_again(path, "ticket"))]) == 0
    assert "Check passed" in capsys.readouterr().out
    assert read_ticket(path.with_name("again.zip")).about == read_ticket(path).about


def zip_of(path: Path, names: list[str]) -> Path:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, b"{}")
    path.write_bytes(buffer.getvalue())
    return path


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a/ticket.json", "b/tensors.safetensors"], "is no ticket file: it holds no ticket.json"),
        (["a/ticket.json", "tensors.safetensors"], "is no ticket file: it holds no ticket.json"),
        (["__MACOSX/a/ticket.json", "__MACOSX/a/tensors.safetensors"], "is no ticket file"),
        ([f"{place}/{name}" for place in "ab" for name in ("ticket.json", "tensors.safetensors")], "holds 2 tickets"),
    ],
)
def test_what_is_not_one_ticket_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], names: list[str], sentence: str
) -> None:
    assert main(["import", str(zip_of(tmp_path / "x.zip", names))]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert sentence in told


def test_a_folder_does_not_lift_the_limits(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = packed_again(path, "ticket")
    with zipfile.ZipFile(again, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ticket/more", bytes(3 << 20))
    assert main(["import", str(again), "--most-mb", "2"]) == 1
    assert "would unpack to" in capsys.readouterr().err
