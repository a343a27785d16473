"""What the documentation shows can be pasted: the example of a method is a whole file, and every command is one."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.command import ABOUT, SECTIONS, main
from glt.cli.main import Verbs
from glt.store.paths import EXAMPLES

ROOT = Path(__file__).parents[1]
NAMES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
DOCUMENTS = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"(?:python -m (?:glt|analysis)|glt) (?=[a-z]|--)")
RUNS = sorted(path.name for path in EXAMPLES.iterdir() if path.name.startswith("cora-node-gcn"))
# What takes seconds and needs no weights; the others are parsed.
READING = {"list", "show", "doctor", "compare", "leaders", "table"}


def pasted_method() -> str:
    """The block of Python in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    return block


RUN_IT = """
import sys
import numpy as np
import glt.methods
glt.methods.__path__.append(sys.argv[1])
from glt.datasets import load_graph
from glt.masks import remaining_after
from glt.methods import METHODS
from glt.presets import resolve
from glt.store import Store
from glt.lottery.lottery import find_tickets

class Nobody:
    def on_progress(self, progress): pass
    def should_stop(self): return False

assert METHODS.get("degree").label == "Degree"
config = resolve({"method": "degree", "hidden": 4, "retrain_epochs": 2, "rounds": 2, "p_graph": 0.3})
seed = Store(sys.argv[2]).create(config).seed(0)
with seed.lock():
    find_tickets(seed, Nobody())
graph = load_graph("cora")
degree = np.bincount(graph.edges.ravel(), minlength=graph.num_nodes)
products = degree[graph.entries()].prod(axis=0)
before = seed.masks(0)
for number in (1, 2):
    now = seed.masks(number)
    assert now.edges.kept == remaining_after(0.3, products.size, number)
    gone = before.edges.keep & ~now.edges.keep
    assert products[gone].min() >= products[now.edges.keep].max()
    assert now.weights.kept == now.weights.total
    before = now
"""


def test_the_example_of_a_method_runs_as_it_is_pasted(tmp_path: Path) -> None:
    (tmp_path / "degree.py").write_text(pasted_method(), encoding="utf-8")
    line = [sys.executable, "-c", RUN_IT, str(tmp_path), str(tmp_path / "store")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_example_of_a_method_passes_the_checks_of_the_house() -> None:
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    for what in (["check", "--stdin-filename", "glt/methods/degree.py", "-"], ["format", "--check", "-"]):
        done = subprocess.run(
            [*ruff, *what], input=pasted_method(), capture_output=True, text=True, check=False, cwd=ROOT
        )
        assert done.returncode == 0, done.stdout + done.stderr


def shown() -> Iterator[tuple[str, str]]:
    """Yield every command of this program that a document shows, and the document."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        blocks = re.findall(r"^```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
        lines = [line for block in blocks for line in block.splitlines()]
        prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        for piece in [*lines, *(" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose))]:
            yield from ((path.name, command) for command in commands_in(piece))


def commands_in(piece: str) -> Iterator[str]:
    """Yield the commands on a line: some stand side by side, with remarks in parentheses or after a hash."""
    piece = piece.split("#", maxsplit=1)[0]
    starts = [found.start() for found in COMMAND.finditer(piece)]
    if not starts or (starts[0] and piece[: starts[0]].strip(" $(")):
        return
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        command = re.sub(r"\(.*|[\[\]]", "", COMMAND.sub("", piece[start:end], count=1))
        yield command.split("  ")[0].strip(" ,:")


SHOWN = sorted(set(shown()))


def test_commands_are_found() -> None:
    assert len(SHOWN) > 25
    assert ("README.md", "measure RUN --round 13 --json") in SHOWN
    assert ("README.md", "figure accuracy RUN... --x graph --venue icml --out accuracy.pdf") in SHOWN


@pytest.mark.parametrize(("document", "command"), SHOWN)
def test_a_command_that_a_document_shows_is_one(
    document: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    verbs = Verbs(SECTIONS, ABOUT)
    name, *words = shlex.split(command)
    assert name in {*verbs.verbs, "--help", "--version"}, f"{document} shows an unknown verb"
    if not words or words == ["..."]:
        return
    words = filled(words)
    assert verbs.verb(name).arguments(words)
    if name in READING and "--mend" not in words:
        assert main([name, *words, "--store", str(EXAMPLES)]) == 0
        assert capsys.readouterr().out


def filled(words: list[str]) -> list[str]:
    """Put something in place of what a document leaves open; each RUN is another one."""
    runs, found = iter(RUNS), []
    for word in words:
        if word.rstrip(".") == "RUN":
            found += [next(runs) for _ in range(2 if word.endswith("...") else 1)]
        elif word != "...":
            found.append({"K": "1", "EXPERIMENT": "teaser"}.get(word, word))
    return found
