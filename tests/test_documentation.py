"""The documentation is correct: recipes run when pasted, commands parse, paths and links exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.command import ABOUT, SECTIONS, main
from app.main import PAGES
from glt.cli.main import Verbs
from glt.store.paths import EXAMPLES

ROOT = Path(__file__).parents[1]
NAMES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
DOCUMENTS = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"(?:python -m (?:glt|analysis)|glt) (?=[a-z]|--)")
RUNS = sorted(path.name for path in EXAMPLES.iterdir() if path.name.startswith("cora-node-gcn"))
# Fast commands that need no weights are run; the others are parsed.
READING = {"list", "show", "doctor", "compare", "leaders", "table"}


def recipes() -> dict[str, str]:
    """Return the whole files that CONTRIBUTING.md shows, by their paths."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = re.findall(r"^### [^`\n]+: `([^`]+\.py)`\n.*?```python\n(.*?)```", text, flags=re.DOTALL | re.MULTILINE)
    assert len(found) == text.count("```python")
    return dict(found)


RECIPES = recipes()

# The head of every check: the recipe's package also searches the folder of the pasted file.
FOUND = """
import importlib, sys
package, folder, store = sys.argv[1:]
importlib.import_module(package).__path__.append(folder)
import numpy as np

class Nobody:
    def on_progress(self, progress): pass
    def should_stop(self): return False

def computed(**values):
    from glt.lottery.lottery import compute_rounds
    from glt.presets import resolve
    from glt.store import Store
    config = resolve({"hidden": 4, "epochs": 2, "retrain_epochs": 2, "rounds": 1, "p_graph": 0.3, **values})
    seed = Store(store).create(config).seed(0)
    with seed.lock():
        compute_rounds(seed, Nobody())
    return seed
"""

CHECKS = {
    "glt/methods/degree.py": """
from glt.masks import remaining_after
from glt.methods import METHODS
assert METHODS.get("degree").label == "Degree"
for edge_mask, entries in [("directed", 10556), ("undirected", 5278)]:
    seed = computed(method="degree", edge_mask=edge_mask)
    assert seed.masks(1).edges.kept == remaining_after(0.3, entries, 1)
""",
    "glt/scores/degree_difference.py": """
from glt.datasets import load_graph
from glt.scores import SCORES
assert SCORES.get("degree_difference").label == "Degree difference"
graph = load_graph("cora")
degrees = np.bincount(graph.edges.ravel(), minlength=graph.num_nodes)
ratios = np.sort(degrees[graph.edges], axis=0)
ratios = ratios[1] / ratios[0]
kept = computed(method="score", score="degree_difference").masks(1).edges
assert kept.kept == 10556 - 3166
assert ratios[kept.either_way()].max() <= ratios[~kept.either_way()].min() * (1 + 1e-6)
""",
    "glt/models/mean.py": """
import torch
from glt.cost.macs import macs
from glt.datasets import load_graph
from glt.lottery.audit import audit
from glt.masks import EdgeMask
from glt.models import MODELS
from glt.presets import resolve
from glt.sparse import Dropout, GraphOperator, features_of
graph, model, draw = load_graph("cora"), MODELS.get("mean"), np.random.default_rng(0)
keep = draw.random(2 * graph.num_edges) < 0.6
weights = {f"layers.{k}.weight": torch.from_numpy(draw.normal(size=size)) for k, size in enumerate([(1433, 5), (5, 7)])}
config = resolve({"model": "mean", "hidden": 5, "dropout": 0.0})
operator = GraphOperator(graph, EdgeMask("directed", keep), dtype=torch.float64)
features = features_of(graph, dtype=torch.float64)
found = model.head(model.stem(operator, None, features, weights, config), weights, Dropout(0, None), config)
rows = graph.features.toarray().astype(np.float64)
rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1e-12)
source, target = graph.entries()[:, keep]
for k, weight in enumerate(weights.values()):
    rows = (np.maximum(rows, 0) if k else rows) @ weight.numpy()
    sums = np.zeros_like(rows)
    np.add.at(sums, target, rows[source])
    rows = rows + sums / np.maximum(np.bincount(target, minlength=graph.num_nodes), 1)[:, None]
assert np.allclose(found.numpy(), rows, atol=1e-5)
seed = computed(model="mean")
assert 0 < seed.masks(1).edges.kept < seed.masks(0).edges.kept
assert audit(seed, 1).passed
assert seed.rounds()[1].macs == macs(seed.config, graph, seed.masks(1)).totals
""",
    "glt/datasets/karate.py": """
from glt.datasets import DATASETS, load_graph
import networkx as nx
graph, spec, club = load_graph("karate"), DATASETS.get("karate"), nx.karate_club_graph()
assert graph.sizes == type(graph.sizes)(spec.nodes, spec.edges, spec.features, spec.classes)
assert {frozenset(edge) for edge in graph.edges.T.tolist()} == {frozenset(edge) for edge in club.edges}
parts = np.concatenate([graph.split.train, graph.split.val, graph.split.test])
assert np.array_equal(np.sort(parts), np.arange(34)) and spec.trained == graph.split.train.size
assert (graph.provenance.duplicates_dropped, graph.provenance.self_loops_dropped) == (0, 0)
assert computed(dataset="karate").masks(1).edges.kept == 156 - 46
""",
    "analysis/measures/leaves.py": """
from analysis.measures.descriptions import explanation
from analysis.measures.graph import MeasuredGraph
from analysis.measures import MEASURES
from glt.datasets import load_graph
path = MeasuredGraph(4, np.array([[0, 1], [1, 2]]), np.zeros(4, dtype=np.int64))
measure = MEASURES.get("leaf_share")
assert measure.compute(path) == 0.5
graph = load_graph("cora")
degrees = np.bincount(graph.edges.ravel(), minlength=graph.num_nodes)
assert measure.compute(MeasuredGraph.of(graph)) == np.mean(degrees == 1)
assert explanation("leaf_share").definition.startswith("Share of nodes that have exactly one neighbour")
""",
    "analysis/figures/both_ways.py": """
from analysis.drawing import screen
from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw
from analysis.figures.base import FIGURES, FigureChoices
from glt.store import bundled_examples
runs = [run for run in bundled_examples() if run.name.startswith("cora-node-gcn")][:2]
described = FIGURES.get("both_ways").describe(runs, FigureChoices())
assert len(described.panels[0].layers) == len(screen.draw(described).data) - len(described.keys) == 2
for run, line in zip(runs, described.panels[0].layers):
    seeds = [[record.edges_kept_both_ways for record in run.seed(seed).rounds()] for seed in run.seeds()]
    assert np.allclose(line.y, 100 * np.mean(seeds, axis=0))
assert b"Edges kept both ways" in figure_bytes(draw("both_ways", runs, FigureChoices()), "svg")
""",
}


# The tests that CONTRIBUTING.md shows, and the recipe that each needs.
RECIPE_TESTS = {"tests/methods/test_degree.py": "glt/methods/degree.py"}
# Such a test gets the pasted recipe in its package, and the fixture `compute`.
CONFTEST = """
import importlib
importlib.import_module({package!r}).__path__.append({folder!r})
from tests.conftest import compute
"""


def test_every_recipe_is_checked() -> None:
    assert RECIPES.keys() == CHECKS.keys() | RECIPE_TESTS.keys()


@pytest.mark.parametrize(("path", "recipe"), RECIPE_TESTS.items())
def test_the_test_of_a_recipe_passes(path: str, recipe: str, tmp_path: Path) -> None:
    pasted, tests = tmp_path / "pasted", tmp_path / "tests"
    for folder, name in ((pasted, recipe), (tests, path)):
        folder.mkdir()
        (folder / Path(name).name).write_text(RECIPES[name], encoding="utf-8")
    package = Path(recipe).parent.as_posix().replace("/", ".")
    conftest = CONFTEST.format(package=package, folder=str(pasted))
    (tests / "conftest.py").write_text(conftest, encoding="utf-8")
    line = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml"), str(tests)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


@pytest.mark.parametrize("path", CHECKS)
def test_a_recipe_runs_as_it_is_pasted(path: str, tmp_path: Path) -> None:
    package, folder = path.rpartition("/")[0].replace("/", "."), tmp_path / "pasted"
    folder.mkdir()
    (folder / Path(path).name).write_text(RECIPES[path], encoding="utf-8")
    line = [sys.executable, "-c", FOUND + CHECKS[path], package, str(folder), str(tmp_path / "store")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", RECIPES)
def test_a_recipe_passes_ruff(path: str) -> None:
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    for what in (["check", "--stdin-filename", path, "-"], ["format", "--check", "-"]):
        done = subprocess.run(
            [*ruff, *what], input=RECIPES[path], capture_output=True, text=True, check=False, cwd=ROOT
        )
        assert done.returncode == 0, done.stdout + done.stderr


PACKAGES = ("app", "analysis", "glt", "tests", "benchmarks")
PATH = re.compile(rf"`((?:{'|'.join(PACKAGES)})/[\w./-]*)`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paths_in_documents_exist(document: Path) -> None:
    named = {path for path in PATH.findall(document.read_text(encoding="utf-8")) if path not in RECIPES}
    assert not [path for path in sorted(named) if not (ROOT / path).exists()]
    assert len(named) > 40 or document.name != "architecture.md"


def test_the_architecture_diagram_matches_the_code() -> None:
    picture = (ROOT / "docs" / "figures" / "architecture.svg").read_text(encoding="utf-8")
    boxes = re.findall(r'<title>(\S+)</title>.*?class="file"[^>]*>([^<]+)</text>', picture, flags=re.DOTALL)
    assert len(boxes) == picture.count('class="file"') > 20
    for path, words in boxes:
        assert (ROOT / path).exists(), path
        assert path.endswith(f"/{words}")
    steps = re.findall(r'class="number"[^>]*>(\d+)<', picture)
    assert sorted(map(int, steps)) == list(range(1, 11))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_in_documents_resolve(document: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)(?:#([\w-]+))?\)", prose):
        path = document.parent / target if target else document
        assert path.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}, anchor


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


def test_the_command_finder_finds_commands() -> None:
    assert len(SHOWN) > 25
    assert ("README.md", "measure RUN --round 13 --json") in SHOWN
    assert ("README.md", "figure accuracy RUN... --x graph --venue icml --out accuracy.pdf") in SHOWN


@pytest.mark.parametrize(("document", "command"), SHOWN)
def test_commands_in_documents_parse(
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
    if name in READING and not {"--mend", "--repair"} & set(words):
        assert main([name, *words, "--store", str(EXAMPLES)]) == 0
        assert capsys.readouterr().out


def filled(words: list[str]) -> list[str]:
    """Replace the placeholders of a document; each RUN is a different run."""
    runs, found = iter(RUNS), []
    for word in words:
        if word.rstrip(".") == "RUN":
            found += [next(runs) for _ in range(2 if word.endswith("...") else 1)]
        elif word != "...":
            found.append({"K": "1", "EXPERIMENT": "teaser"}.get(word, word))
    return found


DOCS = Path(__file__).parents[1] / "docs"
MOST_BYTES = 4_000_000


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", (DOCS / "tour.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_tour_describes_every_page_with_pictures() -> None:
    assert tuple(sections()) == PAGES
    for title, text in sections().items():
        summary = text.split("<picture>")[0].strip()
        assert len(re.findall(r"[.!](?= |$)", summary)) == 2, summary
        named = re.findall(r"(?:src|srcset)=\"([^\"]+)\"", text)
        assert named == [f"screenshots/{title.lower()}-{theme}.png" for theme in ("dark", "light")]
        assert all((DOCS / name).is_file() for name in named)
        assert re.search(r"alt=\"[^\"]{20,}\"", text)


def test_tour_pictures_stay_small() -> None:
    assert sum(path.stat().st_size for path in (DOCS / "screenshots").glob("*.png")) <= MOST_BYTES
