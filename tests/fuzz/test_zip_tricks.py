"""Zips that are to harm: each is refused in one sentence, in little memory, and nothing is unpacked anywhere."""

from __future__ import annotations

import bz2
import io
import lzma
import os
import pickle
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from glt.errors import DataError
from glt.export.opening import about_of, members
from tests.fuzz.limited import limited, one_sentence

# Python and what reads a zip take 60; torch, which only a whole ticket needs, would take 250 more.
MOST_MB = 100
ZEROS = 1 << 20
NEEDED = {"ticket.json": b"{}", "tensors.safetensors": b""}


def packed(members: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_member(name: str) -> bytes:
    return packed({**NEEDED, name: b"harm"})


def linked() -> bytes:
    """A zip whose members are symbolic links out of it, as `zip -y` writes them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in NEEDED:
            link = zipfile.ZipInfo(name)
            link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
            archive.writestr(link, "/etc/passwd")
    return buffer.getvalue()


def lying(content: bytes, how: int, stated: int) -> bytes:
    """A zip whose `ticket.json` unpacks to all of `content` and states a size of `stated`."""
    whole = packed({"ticket.json": content, "tensors.safetensors": b""}, how)
    true, told = struct.pack("<L", len(content)), struct.pack("<L", stated)
    assert whole.count(true) >= 2
    return whole.replace(true, told)


def crowded(count: int) -> bytes:
    """A zip with very many empty members."""
    one = packed({"a": b""}, zipfile.ZIP_STORED)
    end = one.rindex(b"PK\x05\x06")
    start = one.rindex(b"PK\x01\x02", 0, end)
    entry = one[start:end]
    directory = entry * count
    tail = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(directory), start, 0)
    return one[:start] + directory + tail


def nested(depth: int) -> bytes:
    inner = packed({"a": bytes(ZEROS)})
    for _ in range(depth):
        inner = packed({f"{number}.zip": inner for number in range(8)})
    return packed({"tensors.safetensors": inner, "ticket.json": inner})


def huge_deflated() -> bytes:
    """A quarter of a gigabyte that says it is one byte."""
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = bytes(1 << 24)
    body = b"".join([*(packer.compress(block) for _ in range(10)), packer.flush()])
    return handmade(body, zipfile.ZIP_DEFLATED)


def huge_bzip2() -> bytes:
    packer = bz2.BZ2Compressor()
    block = bytes(1 << 24)
    return handmade(b"".join([*(packer.compress(block) for _ in range(10)), packer.flush()]), zipfile.ZIP_BZIP2)


def huge_lzma() -> bytes:
    filters = [{"id": lzma.FILTER_LZMA1, "preset": 0}]
    packer = lzma.LZMACompressor(lzma.FORMAT_RAW, filters=filters)
    properties = lzma._encode_filter_properties(filters[0])  # type: ignore[attr-defined]
    block = bytes(1 << 24)
    body = b"".join([*(packer.compress(block) for _ in range(10)), packer.flush()])
    return handmade(struct.pack("<BBH", 9, 4, len(properties)) + properties + body, zipfile.ZIP_LZMA)


def handmade(body: bytes, how: int) -> bytes:
    """A zip whose ticket.json has this packed body and states a size of one byte."""
    parts, directory = b"", b""
    for name, content, method, size in ((b"ticket.json", body, how, 1), (b"tensors.safetensors", b"", 0, 0)):
        sizes = struct.pack("<LLL", 0, len(content), size)
        head = struct.pack("<HHHHH", 63, 0, method, 0, 0x21)
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + head + sizes
        directory += struct.pack("<HHHHHLL", len(name), 0, 0, 0, 0, 0, len(parts)) + name
        parts += b"PK\x03\x04" + head + sizes + struct.pack("<HH", len(name), 0) + name + content
    tail = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, 2, 2, len(directory), len(parts), 0)
    return parts + directory + tail


def pickled_npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([Harm()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


class Harm:
    """Whoever unpickles this leaves a folder behind."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, ("harmed",)


PATHS = (
    "../../escaped", "/escaped", "C:\\Windows\\escaped", "..\\..\\escaped", "CON", "NUL.txt", "a" * 60_000, "a\nb",
    "\u202egpj", "-rf", "~/escaped", "ticket.json/../../escaped",
)  # fmt: skip
SMALL: dict[str, Callable[[], bytes]] = {
    **{f"path {name[:20]!r}": lambda name=name: with_member(name) for name in PATHS},
    "links": linked,
    "a pickle": lambda: pickle.dumps(Harm()),
    "a pickle as tensors": lambda: packed({"ticket.json": b"{}", "tensors.safetensors": pickle.dumps(Harm())}),
    "a pickle in a torch file": lambda: packed({"archive/data.pkl": pickle.dumps(Harm()), "archive/version": b"3"}),
    "an array of objects": lambda: packed({"ticket.json": pickled_npy(), "tensors.safetensors": pickled_npy()}),
    "an array of objects alone": pickled_npy,
    "no UTF-8 in a name": lambda: with_member("é").replace("é".encode(), b"\xff\xfe"),
    "a size that is less": lambda: lying(bytes(ZEROS), zipfile.ZIP_DEFLATED, 1),
    "a size that is more": lambda: lying(bytes(ZEROS), zipfile.ZIP_STORED, 2 * ZEROS),
    "another version": lambda: packed(NEEDED).replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\x14\x03\xff"),
    "the end alone": lambda: b"PK\x05\x06" + bytes(18),
    "deep JSON": lambda: packed({"ticket.json": b"[" * 1_000_000, "tensors.safetensors": b""}),
    "a long number": lambda: packed({**NEEDED, "ticket.json": b'{"version":' + b"1" * 1_000_000 + b"}"}),
    "one name twice": lambda: packed({**NEEDED, "ticket.json": b'{"format":1,"format":"GLT Studio ticket"}'}),
    "entities": lambda: b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
}  # fmt: skip
# Those that are unpacked to nothing before they are refused take a second or less each.
LARGE: dict[str, Callable[[], bytes]] = {
    "much that says it is a byte": huge_deflated,
    "the same by bzip2": huge_bzip2,
    "the same by LZMA": huge_lzma,
    "a hundred thousand members": lambda: crowded(100_000),
    "zips in zips": lambda: nested(3),
}


@pytest.mark.parametrize("kind", list(SMALL))
def test_a_file_to_harm_is_refused(around: Path, kind: str) -> None:
    path = around / "brought" / "ticket.zip"
    path.parent.mkdir()
    path.write_bytes(SMALL[kind]())
    with pytest.raises(DataError) as refusal:
        about_of(path, *members(path, 1 << 30))
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 1000


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.long) if "zips" in kind else kind for kind in LARGE]
)
def test_a_bomb_is_refused_in_little_memory(around: Path, kind: str) -> None:
    path = around / "brought" / "ticket.zip"
    path.parent.mkdir()
    path.write_bytes(LARGE[kind]())
    ended = limited("glt", "import", str(path), "--most-mb", "1000")
    one_sentence(ended)
    assert ended.peak_mb < MOST_MB


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "/proc/self/mem", "/", "pipe"])
def test_what_is_no_file_is_refused(around: Path, name: str) -> None:
    if name == "pipe":
        (around / "brought").mkdir()
        name = str(around / "brought" / name)
        os.mkfifo(name)
    with pytest.raises(DataError):
        members(Path(name))
