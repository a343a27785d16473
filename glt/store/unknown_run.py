"""The one sentence for a run that is not in the store: where it lies instead, or which names are near."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from pathlib import Path

from glt.commands import command
from glt.store.paths import EXAMPLES_PREFIX


def unknown_run(
    root: Path, name: str, names: Sequence[str], trashed: Collection[str], examples: Sequence[str] = ()
) -> str:
    """Say that the store at `root` has no run `name`, and where it lies instead: in the trash or among the `examples`.

    Otherwise the sentence says which of `names`, or of the examples where one was asked for, are near it.
    """
    if name in trashed:
        restore = command("delete", "--restore", name, "--store", root)
        return f"No run {name!r} in the store {root}: it lies in the trash, and `{restore}` brings it back."
    if name in examples:
        return f"No run {name!r} in the store {root}: the bundled example of that name is {EXAMPLES_PREFIX}{name}."
    if name.startswith(EXAMPLES_PREFIX):
        bundled = [f"{EXAMPLES_PREFIX}{each}" for each in examples]
        close = difflib.get_close_matches(name, bundled, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else f"{len(bundled)} examples came with it."
        return f"No bundled example {name!r}, and no run folder of that path: {hint}"
    return f"No run {name!r} in the store {root}, and no run folder of that path: {_hint(name, names)}"


def _hint(name: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(close)}?"
    some = f"{', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"
    return f"the store holds {some}." if names else "the store holds no runs yet."
