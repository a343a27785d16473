"""Everything that reads a run folder from a command line, run in this process: exit code, output, complaint."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.cli.main import main as analysis_main
from glt.cli.main import main as glt_main


class Said(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


# RUN and STORE stand for the damaged run and its store, OUT for a file to write.
READERS: dict[str, tuple[str, ...]] = {
    "list": ("glt", "list", "--json", "--store", "STORE"),
    "show": ("glt", "show", "RUN", "--json", "--store", "STORE"),
    "audit": ("glt", "audit", "RUN", "--round", "1", "--json", "--store", "STORE"),
    "cost": ("glt", "cost", "RUN", "--round", "2", "--json", "--store", "STORE"),
    "measure": ("analysis", "measure", "RUN", "--round", "1", "--json", "--store", "STORE"),
    "table": ("analysis", "table", "tickets", "RUN", "--format", "csv", "--store", "STORE"),
    "data": ("analysis", "figure", "accuracy", "RUN", "--data", "json", "--store", "STORE"),
    "training": ("analysis", "figure", "training", "RUN", "--data", "json", "--store", "STORE"),
    "compare": ("analysis", "compare", "RUN", "RUN", "--json", "--store", "STORE"),
}


def read(name: str, store: Path, run: str) -> Said:
    """Run one command over a store."""
    program, *rest = READERS[name]
    words = {"STORE": str(store), "RUN": run}
    return said(program, [words.get(word, word) for word in rest])


def said(program: str, arguments: Sequence[str]) -> Said:
    """Run one command and return what it said."""
    main = glt_main if program == "glt" else analysis_main
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(list(arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Said(code, out.getvalue(), err.getvalue())
