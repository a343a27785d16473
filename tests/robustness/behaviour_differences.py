"""Two records of behaviour side by side: a line for every difference, in sections; see behaviour.py."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SECTIONS = ("results", "figures", "json", "pages", "codes", "words")
# Which section a part of a command's output belongs to; a document's is the command's own.
PARTS = {"document": "", "files": "figures", "stdout": "words", "stderr": "words"}
NUMBER = re.compile(rb"-?\d+\.\d+(?:e[+-]?\d+)?")
# Numbers of figures, tables and documents are equal below this difference; files of runs are compared bit for bit.
CLOSE = 1e-9
ABSENT, MOST_TOLD, MOST_LETTERS = "<absent>", 25, 70


class Difference(NamedTuple):
    """A place, what changed there, and whether only the words of a sentence did."""

    path: str
    change: str
    wording: bool = False


def compare_records(one: Path, other: Path, *, words: bool, pictures: bool, shared: bool) -> int:
    """Print every difference of two recorded folders; return 1 if there is one that counts, otherwise 0."""
    found: dict[str, list[str]] = {name: [] for name in SECTIONS}
    for name, left, right in pairs(one / "results", other / "results", shared):
        found["results"] += prefixed_lines(name, differences(left, right))
    for name, left, right in pairs(one / "output", other / "output", shared):
        for section, lines in output_differences(left, right, pictures).items():
            found[section] += prefixed_lines(name, lines)
    for section, lines in found.items():
        print(f"{section}: {len(lines) or 'no'} difference{'' if len(lines) == 1 else 's'}")
        for line in lines:
            print(f"  {line}")
    return int(any(lines for section, lines in found.items() if words or section != "words"))


def pairs(one: Path, other: Path, shared: bool) -> Iterator[tuple[str, Any, Any]]:
    """Yield every file name of two folders with both contents; None for a missing file, unless `shared`."""
    left, right = ({path.name for path in folder.glob("*.json")} for folder in (one, other))
    for name in sorted(left & right if shared else left | right):
        yield (
            name.removesuffix(".json"),
            *(
                json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
                for path in (one / name, other / name)
            ),
        )


def prefixed_lines(name: str, found: Iterable[Difference]) -> list[str]:
    """Return a line for every change of one file; a change that is the same at several places is told once."""
    places: dict[tuple[str, str], list[str]] = {}
    for path, change, _ in found:
        places.setdefault((re.sub(r"\d+", "", path), change), []).append(path)
    lines = [
        f"{name}{paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}: {change}"
        for (_, change), paths in places.items()
    ]
    return lines if len(lines) <= MOST_TOLD else [*lines[:MOST_TOLD], f"{name}: and {len(lines) - MOST_TOLD} more"]


def output_differences(left: Any, right: Any, pictures: bool) -> dict[str, list[Difference]]:
    """Return the differences of one command by section."""
    if left is None or right is None:
        which = "second" if left is None else "first"
        return {(left or right)["section"]: [Difference("", f"recorded only in the {which} folder")]}
    found: dict[str, list[Difference]] = {name: [] for name in SECTIONS}
    if left.get("code") != right.get("code"):
        found["codes"].append(Difference("", f"exit code {left.get('code')} -> {right.get('code')}"))
    own = "pages" if left["section"] == "pages" else "json"
    for part, section in PARTS.items():
        one, other = (side.get(part) if pictures else without_pictures(side.get(part)) for side in (left, right))
        for each in differences(one, other, f" {part}", CLOSE):
            wording = part == "document" and (each.wording or each.path.startswith(" document.words"))
            found["words" if wording else section or own].append(each)
    return found


def differences(left: Any, right: Any, path: str = "", close: float = 0) -> Iterator[Difference]:
    """Yield the differences of two values.

    Numbers, those in texts too, are equal where their relative difference is at most `close`.
    """
    if left == right:
        return
    if isinstance(left, dict) and isinstance(right, dict):
        for name in [*left, *(name for name in right if name not in left)]:
            yield from differences(left.get(name, ABSENT), right.get(name, ABSENT), f"{path}.{name}", close)
    elif not isinstance(left, list) or not isinstance(right, list):
        if not (close and equal_but_for_numbers(left, right, close)):
            yield Difference(path, change_of(left, right), is_sentence(left) and is_sentence(right))
    elif len(left) == len(right):
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from differences(one, other, f"{path}[{number}]", close)
    else:
        yield from list_differences(left, right, path)


def list_differences(left: list[Any], right: list[Any], path: str) -> Iterator[Difference]:
    """Yield the entries, or lines, that only one of two lists of unequal length has; numbers to nine digits."""
    one, other = (Counter(rounded(json.dumps(each).encode()) for each in value) for value in (left, right))
    for word, lines in (("gone", one - other), ("added", other - one)):
        for line in lines.elements():
            yield Difference(path, f"{word}: {brief(json.loads(line))}", is_sentence(json.loads(line)))


def equal_but_for_numbers(left: Any, right: Any, close: float) -> bool:
    """Say whether two numbers, or two texts with numbers in them, are equal but for rounding."""
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=close, abs_tol=close * close)
    if not isinstance(left, str) or not isinstance(right, str):
        return False
    numbers = [[float(each) for each in NUMBER.findall(text.encode())] for text in (left, right)]
    return NUMBER.split(left.encode()) == NUMBER.split(right.encode()) and all(
        math.isclose(one, other, rel_tol=close, abs_tol=close * close) for one, other in zip(*numbers, strict=True)
    )


def rounded(content: bytes) -> bytes:
    """Return a text with nine digits of every number: the last ones depend on the order of additions."""
    return NUMBER.sub(lambda found: b"%.9g" % float(found[0]), content)


def without_pictures(value: Any) -> Any:
    """Return a value without the hashes of pictures."""
    if isinstance(value, dict):
        return {name: without_pictures(each) for name, each in value.items() if name != "picture"}
    return [without_pictures(each) for each in value] if isinstance(value, list) else value


def change_of(left: Any, right: Any) -> str:
    """Return old and new in short; of two long texts only from the word before the first difference on."""
    if isinstance(left, str) and isinstance(right, str) and max(len(left), len(right)) > MOST_LETTERS:
        apart = (at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other)
        start = next(apart, min(len(left), len(right)))
        start = max(0, *(left.rfind(sign, 0, max(0, start - 1)) for sign in " ,"))
        left, right = left[start:], right[start:]
    return f"{brief(left)} -> {brief(right)}"


def is_sentence(value: Any) -> bool:
    return isinstance(value, str) and re.search(r"[a-z]{2}[,:;]? [A-Za-z]", value) is not None


def brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 2 * MOST_LETTERS else f"{text[: 2 * MOST_LETTERS - 3]}..."
