"""Paper: contents with verdicts, the open section, what is missing and its button."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from analysis.other_methods import publications
from analysis.reproduction.claims import EXHIBITS
from app.views import paper
from glt import formats
from glt.formats import as_typed
from glt.jobs.launcher import Started
from glt.presets import resolve
from glt.reproduction import Plan, in_order
from glt.results_version import version_note
from glt.store import Run, Store
from glt.store.locks import named_process
from glt.store.paths import EXAMPLES
from tests.app.conftest import OpenPage, texts


@pytest.fixture
def official(store: Store, draw_seed: Callable[..., None]) -> Run:
    """UGS with the paper's settings, two seeds of twenty rounds that begin at 80 %."""
    run = store.create(resolve({"method": "ugs"}, "official"))
    for seed in (0, 1):
        draw_seed(run.seed(seed), 20)
    return run


def test_an_empty_store_lists_what_is_missing(store: Store, open_page: OpenPage) -> None:
    app = open_page("paper")
    assert [error.value for error in app.error] == []
    assert len(app.radio(key="experiment").options) == len(in_order()) + 2
    assert "Not run yet: needs 3 runs, seeds 0, 1, 2: time unknown" in texts(app)
    assert app.code[0].value == as_typed(
        *"reproduce node-classification --dataset cora --model gcn --seeds 0,1,2".split()
    )
    assert app.button(key="reproduce").label == "Start 3 runs"


@pytest.mark.parametrize("name", [experiment.name for experiment in in_order()])
def test_every_section_opens_on_a_filled_store(name: str, official: Run, open_page: OpenPage) -> None:
    app = open_page("paper", experiment=name)
    assert [error.value for error in app.error] == []
    assert app.query_params["experiment"] in (name, [name])


def test_other_methods_are_beside_their_published_numbers(
    store: Store, draw_seed: Callable[..., None], open_page: OpenPage
) -> None:
    app = open_page("paper", experiment="other-methods", seeds="0-1")
    assert [error.value for error in app.error] == []
    commands = [code.value for code in app.code]
    assert as_typed(*"run --dataset cora --model gcn --method teddy --preset published --seeds 0,1".split()) in commands
    assert len(commands) == len(publications())
    table = next(table.value for table in app.table if "Test accuracy, dense" in table.value.iloc[:, 0].tolist())
    assert table["Published"].tolist() == ["80.9 %", "81.1 %", "59.36 %", "none found"]
    assert set(table["Ours"]) == {"not run here"}

    run = store.create(resolve({"method": "teddy"}, "published"))
    draw_seed(run.seed(0), 20)
    draw_seed(run.seed(1), 4)
    app = open_page("paper", experiment="other-methods", seeds="0-1")
    assert [error.value for error in app.error] == []
    rounds = next(table.value for table in app.table if "Minus dense" in table.value)
    rounds = rounds.map(lambda text: text.replace("\N{NO-BREAK SPACE}", " "))
    assert rounds["Round"].tolist() == ["k = 0", "k = 1", "k = 2", "k = 4", "k = 9", "k = 13", "k = 16", "k = 20"]
    assert rounds["Minus dense"].tolist()[3] == formats.points(-0.08)
    # Rounds 5 to 20 have one seed and no verdict; the first four lose two points each, the same for both seeds.
    assert "Cost of a seed" in texts(app)
    assert as_typed(*"run --dataset cora --model gcn --method teddy --preset published --seeds 1".split()) in [
        code.value for code in app.code
    ]


def test_own_and_printed_values_are_side_by_side(official: Run, open_page: OpenPage) -> None:
    app = open_page("paper", experiment="teaser", seeds="0-1")
    table = app.table[0].value
    ugs = table[(table["Method"] == "UGS") & (table["Round"] == "k = 4")]
    assert ugs["Paper"].item() == "80.8 %"
    assert ugs["Ours"].item().startswith("76.1 ")
    assert "So far: MACs" not in texts(app)
    assert "shown to agree within 1.5 points" in texts(app)
    assert app.button(key="reproduce").label == "Start 2 runs"


def test_the_setting_is_in_the_url_and_may_have_no_panel(store: Store, open_page: OpenPage) -> None:
    app = open_page("paper", experiment="random-tickets", dataset="pubmed", model="gat")
    assert "The paper has no such panel: Cora with GCN is shown." in texts(app)
    app = open_page("paper", experiment="node-classification", dataset="pubmed", model="gat")
    assert "which gives exp(0)" in texts(app)


def test_bad_seeds_are_one_sentence(store: Store, open_page: OpenPage) -> None:
    app = open_page("paper", seeds="x")
    assert ["'x' is not a seed" in error.value for error in app.error] == [True]


def test_the_button_starts_missing_runs(official: Run, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[Plan, Store]] = []

    def start(plan: Plan, store: Store) -> list[Started[Run]]:
        started.append((plan, store))
        return [Started(official, elsewhere=(1,))]

    monkeypatch.setattr("app.views.paper.start", start)
    app = open_page("paper", experiment="teaser", seeds="0-1")
    app.button(key="reproduce").click().run()
    assert not app.exception
    ((plan, _),) = started
    assert [need.arm.words for need in plan.startable] == ["Random pruning", "ADMM"]
    assert app.title[0].value == "Runs"
    assert [each.value for each in app.toast] == ["Not started: seed 1 is already running."]


def test_the_examples_fill_an_experiment(store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.data.runs.EXAMPLES", EXAMPLES)
    app = open_page("paper", experiment="subgraph-gallery")
    assert "Complete for seeds 0, 1, 2." in texts(app)


def test_an_example_with_older_settings_substitutes_with_a_note(
    store: Store, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.data.runs.EXAMPLES", EXAMPLES)
    app = open_page("paper", experiment="node-classification")
    assert "admm_start_competes = true instead of false" in texts(app)
    assert version_note([Run.open(EXAMPLES / "cora-node-gcn-admm-0913104b")]) in texts(app)


def test_the_ablation_is_drawn_in_panels(official: Run, store: Store, draw_seed: Callable[..., None]) -> None:
    other = store.create(resolve({"method": "ugs", "p_graph": 0.1}, "official"))
    draw_seed(other.seed(0), 3)
    runs = [official, other]
    picture = EXHIBITS.get("ablation").pictures[0]
    figure = paper._curve_figure(runs, picture, False)
    assert any("p_graph" in str(note.text) or "5 %" in str(note.text) for note in figure.layout.annotations)


def test_one_press_starts_dependent_runs_too(store: Store, open_page: OpenPage) -> None:
    app = open_page("paper", experiment="random-tickets", seeds="0-1")
    assert app.button(key="reproduce").label == "Start 5 runs"
    waits = "Random ticket, draw 0; Random ticket, draw 1; Random ticket, draw 2: start automatically after UGS"
    assert waits in texts(app)
    app = open_page("paper", experiment="graphcl", seeds="0")
    assert app.button(key="reproduce").label == "Start 2 runs and 1 pre-training"
    assert "UGS, pre-trained start: starts automatically after the pre-training" in texts(app)


def test_an_arm_names_what_it_waits_for(store: Store, open_page: OpenPage, draw_seed: Callable[..., None]) -> None:
    tickets = next(experiment for experiment in in_order() if experiment.name == "random-tickets")
    source = store.create(resolve({"method": "ugs", "rounds": 16}, "official"))
    ticket = store.create(resolve({"method": "reinit", "rounds": 16, "masks_of": source.name}, "official"))
    for run, rounds in ((source, 2), (ticket, -1)):
        draw_seed(run.seed(0), rounds, "running")
        at_work(run)
    app = open_page("paper", experiment=tickets.name, seeds="0")
    assert "waits for UGS" in "\n".join(each.value for each in app.markdown)
    assert app.button(key="reproduce").label == "Start 3 runs"


def at_work(run: Run) -> None:
    """Make this process the worker of a seed."""
    update = {"state": "running", **named_process(), "heartbeat": time.time()}
    run.seed(0).write_status(run.seed(0).status().model_copy(update=update))
