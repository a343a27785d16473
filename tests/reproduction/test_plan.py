"""What experiments need, and what of it a store has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from glt.config import RunConfig
from glt.errors import ConfigError
from glt.formats import as_typed
from glt.methods import METHODS
from glt.presets import resolve
from glt.reproduction import EXPERIMENTS, Arm, Experiment, Setting, in_order, make_plan
from glt.reproduction.plan import arm_config, command, cost_words, estimate, preparations, ready, start
from glt.store import Pretraining, Run, Store
from glt.store.examples import pack_run

CORA = Setting("cora", "gcn")
ONE = Experiment("one", "One", "Figure 0", "UGS only.", (CORA,), lambda setting: (Arm("UGS", {"method": "ugs"}),), 3)
Draw = Callable[..., Run]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def draw(store: Store, draw_seed: Callable[..., None]) -> Draw:
    """Write a run with the official settings, a given number of rounds for each seed."""

    def draw(*rounds: int, **values: object) -> Run:
        wanted = {"method": "ugs", "rounds": 3, **values}
        run = store.create(resolve(wanted, "official"))
        for seed, number in enumerate(rounds):
            draw_seed(run.seed(seed), number)
        return run

    return draw


def test_experiments_follow_the_paper() -> None:
    names = "teaser node-classification link-prediction graphcl ablation random-tickets subgraph-gallery measurements"
    assert [experiment.name for experiment in in_order()] == names.split()
    assert EXPERIMENTS.get("random-tickets").place == "Table 2"
    assert len(EXPERIMENTS.get("node-classification").settings) == 9


@pytest.mark.parametrize("experiment", list(EXPERIMENTS), ids=lambda experiment: experiment.name)
def test_arms_are_configured_or_state_why_not(experiment: Experiment) -> None:
    for setting in experiment.settings:
        for need in make_plan(experiment, setting, [0], []).needs:
            assert (need.config is None) == bool(need.unavailable)
            assert need.config is None or need.state == "not run"


def test_settings_equal_the_papers() -> None:
    classification = EXPERIMENTS.get("node-classification")
    config = arm_config(classification, Setting("citeseer", "gin"), Arm("UGS", {"method": "ugs"}))
    assert (config.hidden, config.rounds, config.gamma_graph, config.weight_decay) == (512, 20, 1e-5, 5e-4)
    assert config.options["gin_aggregation"] == "mean"
    # ADMM is only for the GCN on nodes, and the ablation changes one rate at a time.
    assert [arm.settings["method"] for arm in classification.arms(CORA)] == ["ugs", "random", "admm"]
    assert [arm.settings["method"] for arm in classification.arms(Setting("cora", "gat"))] == ["ugs", "random"]
    arms = EXPERIMENTS.get("ablation").arms(CORA)
    rates = [(arm.settings["p_graph"], arm.settings["p_weight"]) for arm in arms]
    assert rates == [(0.05, 0.2), (0.1, 0.2), (0.2, 0.2), (0.05, 0.1), (0.05, 0.4)]


def test_a_setting_the_paper_lacks_is_refused_in_one_sentence() -> None:
    with pytest.raises(ConfigError, match="no teaser for pubmed: choose one of cora gcn, citeseer gcn"):
        EXPERIMENTS.get("teaser").setting("pubmed")
    assert EXPERIMENTS.get("graphcl").setting(task="link") == Setting("cora", "gcn", "link")
    assert EXPERIMENTS.get("teaser").nearest("citeseer", "gat") == Setting("citeseer", "gcn")


def test_an_empty_store_lacks_everything(store: Store) -> None:
    plan = make_plan(ONE, CORA, [0, 1], store.runs())
    assert [need.lacking for need in plan.needs] == [(0, 1)]
    assert not plan.runs
    words = cost_words(plan, estimate(plan, store, []))
    assert words.startswith("1 run, seeds 0, 1: time unknown, adds about")


def test_partial_and_complete_arms(store: Store, draw: Draw) -> None:
    run = draw(3, 1)
    plan = make_plan(ONE, CORA, [0, 1, 2], store.runs())
    (need,) = plan.needs
    assert need.run is not None
    assert need.run.name == run.name
    assert need.lacking == (1, 2)
    assert need.state == "1 of 3 seeds complete, seed 1 resumes after round 1"
    assert "about" in cost_words(plan, estimate(plan, store, store.runs()))
    plan = make_plan(ONE, CORA, [0], store.runs())
    assert (plan.needs[0].state, plan.lacking, plan.startable) == ("complete", (), ())
    assert cost_words(plan, estimate(plan, store, [])) == "nothing"


def test_an_example_counts_only_when_it_has_every_seed(draw: Draw, tmp_path: Path) -> None:
    packed = pack_run(draw(3), tmp_path / "examples")
    assert make_plan(ONE, CORA, [0], [packed]).needs[0].state == "complete"
    (need,) = make_plan(ONE, CORA, [0, 1], [packed]).needs
    assert need.lacking == (0, 1)
    assert need.has_rounds


def test_the_closest_run_of_equal_rates_substitutes(store: Store, draw: Draw) -> None:
    draw(2, hidden=16, p_graph=0.1)
    assert make_plan(ONE, CORA, [0], store.runs()).needs[0].stand_in is None
    draw(2, epochs=5, hidden=16)
    near = draw(3, hidden=64)
    draw(2, hidden=32)
    (need,) = make_plan(ONE, CORA, [0], store.runs()).needs
    assert need.stand_in is not None
    assert need.stand_in.name == near.name
    assert need.differs == "hidden = 64 instead of 512"
    assert need.lacking == (0,)


def test_random_tickets_depend_on_their_source_run(store: Store, draw: Draw, tmp_path: Path) -> None:
    tickets = EXPERIMENTS.get("random-tickets")
    plan = make_plan(tickets, CORA, [0], [])
    assert [need.arm.stage for need in plan.lacking] == [0, 1, 1, 1, 0]
    assert [need.arm.words for need in plan.startable] == ["UGS", "Random pruning"]
    draw(16, rounds=16, method="random")
    example = pack_run(draw(16, rounds=16), tmp_path / "examples")
    # An example cannot be read from a store beside it, so UGS is wanted in the store as well.
    assert make_plan(tickets, CORA, [0], [example]).needs[0].lacking == (0,)
    plan = make_plan(tickets, CORA, [0], store.runs())
    assert [need.arm.settings.get("draw") for need in plan.startable] == [0, 1, 2]


def test_pretrained_starts_are_recognised(store: Store, draw: Draw) -> None:
    graphcl = EXPERIMENTS.get("graphcl")
    plan = make_plan(graphcl, CORA, [0], store.runs())
    assert [need.state for need in plan.needs] == ["not run", "not run"]
    assert [config.hidden for config in preparations(plan, store)] == [512]
    assert [need.arm.words for need in ready(plan, store)] == ["UGS"]
    draw(20, rounds=20, pretraining="cora-node-gcn-graphcl-00000000")
    found = make_plan(graphcl, CORA, [0], store.runs())
    assert found.needs[1].state == "complete"
    assert found.needs[0].stand_in is None
    assert preparations(found, store) == []


def test_arms_depend_on_finished_pretrainings(store: Store, make_pretraining: Callable[..., Pretraining]) -> None:
    plan = make_plan(EXPERIMENTS.get("graphcl"), CORA, [0], [])
    (first,) = preparations(plan, store)
    make_pretraining(**first.model_dump())
    assert preparations(plan, store) == []
    assert [need.arm.words for need in ready(plan, store)] == ["UGS", "UGS, pre-trained start"]
    assert [config.hidden for config in preparations(make_plan(plan.experiment, CORA, [0, 9], []), store)] == [512]


def test_a_missing_method_is_stated() -> None:
    assert "reverse" not in METHODS.names()
    arms = (Arm("Reverse", {"method": "reverse"}),)
    (need,) = make_plan(Experiment("x", "X", "Figure 0", "", (CORA,), lambda setting: arms), CORA, [0], []).needs
    assert need.unavailable == "This version has no method 'reverse'."
    assert (need.state, need.lacking) == ("not available", ())


def test_dependencies_start_first(store: Store, draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[Store, list[RunConfig], tuple[int, ...]]] = []
    monkeypatch.setattr("glt.reproduction.plan.start_all", lambda *given, **_: started.append(given) or [])
    draw(3)
    start(make_plan(ONE, CORA, [0, 1], store.runs()), store)
    start(make_plan(EXPERIMENTS.get("random-tickets"), CORA, [0], []), store)
    assert [[config.method for config in configs] for _, configs, _ in started] == [
        ["ugs"],
        ["ugs", "random"],
        ["reinit"] * 3,
    ]
    assert (started[0][0], [seeds for _, _, seeds in started]) == (store, [(0, 1), (0,), (0,)])


def test_the_command_equals_the_button() -> None:
    plan = make_plan(EXPERIMENTS.get("graphcl"), Setting("citeseer", "gcn", "link"), [0, 2], [])
    wanted = as_typed(*"reproduce graphcl --dataset citeseer --model gcn --task link --seeds 0,2".split())
    assert command(plan) == wanted


def test_an_unfinished_run_does_not_hide_a_finished_example(store: Store, draw: Draw, tmp_path: Path) -> None:
    example = pack_run(draw(3), tmp_path / "examples")
    store.move_to_trash(store.root / example.name)
    own = store.create(example.config)
    (need,) = make_plan(ONE, CORA, [0], [own, example]).needs
    assert (need.state, need.run, need.own) == ("complete", example, own)
    (need,) = make_plan(ONE, CORA, [0, 1], [own, example]).needs
    assert (need.lacking, need.run) == ((0, 1), example)
