"""How many files of the product a run and the Curves page enter.

A file is entered when a function of its own is called; imports and `__init__.py` do not count.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Limits against growth. The goal is 35 for each process of a run and 40 for the page.
MOST_OF_A_COMMAND, MOST_OF_A_WORKER, MOST_OF_A_PAGE = 35, 49, 60

# Runs at the start of every Python process: notes each file of the product in which a function begins. Only functions
# have the flag 1 (CO_OPTIMIZED), which bodies of modules and classes lack.
TRACE = """
import os, sys, threading

ROOT, NOTES = {root!r}, {notes!r}
PACKAGES = tuple(os.path.join(ROOT, name) + os.sep for name in ("glt", "analysis", "app"))
seen, known = set(), {{}}

def enter(frame, event, argument):
    code = frame.f_code
    name = code.co_filename
    ours = known.get(name)
    if ours is None:
        ours = known[name] = name.startswith(PACKAGES) and not name.endswith("__init__.py")
    if ours and name not in seen and code.co_flags & 1 and (code.co_name[0] != "<" or code.co_name == "<lambda>"):
        seen.add(name)
        with open(os.path.join(NOTES, str(os.getpid())), "a") as notes:
            notes.write(os.path.relpath(name, ROOT) + "\\n")

threading.settrace(enter)
sys.settrace(enter)
"""
RUN = "-m glt run --dataset cora --set rounds=1 epochs=3 retrain_epochs=3 hidden=8 --store store".split()
PAGE = """
import os, sys
sys.path.insert(0, {root!r})
os.chdir({root!r})
from tests.opening import open_at
page = open_at("curves", {{}})
assert not page.exception, page.exception
assert page.get("plotly_chart"), "no figure"
"""


def entered(tmp_path: Path, arguments: list[str]) -> list[list[str]]:
    """Run a Python process; return, for it and each of its children, the files in which it called a function."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "sitecustomize.py").write_text(TRACE.format(root=str(ROOT), notes=str(notes)))
    own = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "GLT_STORE": str(tmp_path / "store")}
    own |= {"XDG_STATE_HOME": str(tmp_path / "state"), "GLT_CACHE": str(tmp_path / "cache")}
    subprocess.run([sys.executable, *arguments], check=True, cwd=tmp_path, env={**os.environ, **own})
    return [sorted(path.read_text().split()) for path in notes.iterdir()]


def test_number_of_files_entered_by_a_run(tmp_path: Path) -> None:
    """The command and its worker, each; both together are printed."""
    processes = sorted(entered(tmp_path, RUN), key=lambda files: "glt/jobs/worker.py" in files)
    together = sorted(set().union(*processes))
    print(f"glt run: {[len(files) for files in processes]} files, together {len(together)}", *together, sep="\n")
    command, worker = processes
    assert 0 < len(command) <= MOST_OF_A_COMMAND
    assert 0 < len(worker) <= MOST_OF_A_WORKER


def test_number_of_files_entered_by_the_curves_page(tmp_path: Path) -> None:
    """Its first opening over the bundled examples."""
    found = max(entered(tmp_path, ["-c", PAGE.format(root=str(ROOT))]), key=len)
    print(f"page of curves: {len(found)} files", *found, sep="\n")
    assert "app/main.py" in found
    assert len(found) <= MOST_OF_A_PAGE
