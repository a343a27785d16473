"""The ogb package, made safe to call: it asks no one, fetches nothing unasked, prints nothing on standard output."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import io
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

_ONE_AT_A_TIME = threading.RLock()


class Asked(Exception):
    """Ogb wanted an answer from the keyboard."""


def ogb_module(name: str) -> ModuleType:
    """Return a module of ogb, imported so that it does not ask the package index for a newer version of itself."""
    with _ONE_AT_A_TIME:
        known = sys.modules.get("outdated")
        # Without this module ogb starts no thread; None makes importing it fail.
        sys.modules["outdated"] = None  # type: ignore[assignment]
        try:
            return importlib.import_module(name)
        finally:
            del sys.modules["outdated"]
            if known is not None:
                sys.modules["outdated"] = known


@contextlib.contextmanager
def unattended() -> Iterator[None]:
    """Run ogb in the context: questions raise Asked, leaving the program does too, what it prints is not shown.

    Its progress bars, on standard error, are; warnings of PyTorch about how ogb calls it concern nobody here.
    """

    def refuse(prompt: object = "") -> str:
        raise Asked(str(prompt).strip())

    with _ONE_AT_A_TIME, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answering = builtins.input
        builtins.input = refuse
        try:
            yield
        except SystemExit as error:
            raise Asked("ogb wanted to leave the program") from error
        finally:
            builtins.input = answering


def master_entry(kind: str, name: str) -> dict[str, Any]:
    """Return what ogb knows of its data set `name`, address and so on; `kind` is nodeproppred or linkproppred."""
    import pandas as pd

    module = ogb_module(f"ogb.{kind}")
    assert module.__file__ is not None
    table = pd.read_csv(Path(module.__file__).with_name("master.csv"), index_col=0, keep_default_na=False)
    entry: dict[str, Any] = table[name].to_dict()
    return entry
