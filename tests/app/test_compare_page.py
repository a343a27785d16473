"""Compare: the leader table, its groups, and two runs paired by seed."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from app.components import run_select
from glt.store import Run, Store
from tests.app.conftest import MakeRun, OpenPage, texts

THREE = ("done", "done", "done")


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Run, Run]:
    return make_run("ugs", states=THREE), make_run("random", states=THREE, hidden=64)


def test_the_leader_table_names_its_reference(pair: tuple[Run, Run], open_page: OpenPage) -> None:
    app = open_page("compare")
    table = app.dataframe[0].value
    assert table["Run"].tolist() == ["UGS · Cora GCN", "Random pruning · Cora GCN"]
    assert table["Against the reference"].tolist()[0] == "reference"
    assert (
        table["Against the reference"].tolist()[1]
        == "no test: \N{MINUS SIGN}3.0 points (3 shared seeds, all differences equal)"
    )
    assert table["Best pruned accuracy"].tolist() == pytest.approx([77.2, 74.2])
    assert table["Seeds"].tolist() == [3, 3]


def test_metric_capitals_are_kept(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", states=THREE, task="link")
    app = open_page("compare")
    assert "Test ROC-AUC" in texts(app)
    assert "roc" not in texts(app)


def test_the_compared_pair_is_in_the_url_and_the_figure(pair: tuple[Run, Run], open_page: OpenPage) -> None:
    app = open_page("compare", one=pair[1].name, other=pair[0].name)
    assert (app.query_params["one"], app.query_params["other"]) == (pair[1].name, pair[0].name)
    assert app.query_params["at"] == "round"
    assert "against UGS (hidden = 512): no test in any pruned round" in texts(app)
    (figure,) = app.get("plotly_chart")
    spec = json.loads(figure.proto.spec)
    assert spec["layout"]["yaxis"]["title"]["text"] == "Difference (points)"
    numbers = app.dataframe[1].value
    assert numbers["Difference"].tolist() == pytest.approx([0, -1, -2, -3])
    differing = app.table[0].value
    assert differing.to_numpy().tolist() == [["method", "random", "ugs (default)"], ["hidden", "64", "512 (default)"]]
    assert "Used by UGS (hidden = 512) only: epochs = 5" in texts(app)


def test_two_seeds_have_no_interval(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    make_run("random")
    app = open_page("compare")
    assert "share only seeds 0, 1" in texts(app)
    assert app.dataframe[0].value["Against the reference"].tolist() == [
        "reference",
        "no test: \N{MINUS SIGN}3.0 points (2 shared seeds, all differences equal)",
    ]
    assert "95% interval" not in app.dataframe[1].value


def test_runs_are_grouped_by_a_setting(make_run: MakeRun, open_page: OpenPage) -> None:
    for width in (8, 16):
        make_run("ugs", hidden=width)
    make_run("random", hidden=16)
    app = open_page("compare", by="hidden")
    table = app.dataframe[0].value
    assert table["hidden"].tolist() == ["hidden = 8", "hidden = 16"]
    assert table["Runs"].tolist() == [1, 2]
    assert app.query_params["by"] == "hidden"
    assert "means and 95% t intervals over the different seeds of a group" in texts(app)


def test_search_words_filter_the_table(
    pair: tuple[Run, Run], open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_select, "SHOWN_FROM", 1)
    app = open_page("compare", filter="hidden=64")
    assert app.dataframe[0].value["Run"].tolist() == ["Random pruning · Cora GCN"]
    app.text_input(key="filter").set_value("nothing of the kind").run()
    assert not app.exception
    assert "No run matches all these words." in texts(app)


def test_of_many_runs_the_default_ones_are_read_first(
    make_run: MakeRun, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.views import compare

    monkeypatch.setattr(compare, "MOST_ROWS", 2)
    runs = [make_run("ugs", hidden=width) for width in (8, 16)] + [make_run("ugs"), make_run("random")]
    app = open_page("compare")
    assert app.dataframe[0].value["Run"].tolist() == ["UGS · Cora GCN", "Random pruning · Cora GCN"]
    assert "2 of 4 runs" in texts(app)
    app.toggle(key="all").set_value(True).run()
    assert len(app.dataframe[0].value) == len(runs)
    assert app.query_params["all"] == "1"
    assert len(open_page("compare", by="hidden").dataframe[0].value) == 3


def test_tables_hold_runs_of_one_metric_only(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    make_run("ugs", task="link")
    app = open_page("compare")
    assert len(app.selectbox(key="on").options) == 2
    assert len(app.dataframe[0].value) == 1
    assert "there is no other to compare with" in texts(app)


def test_two_selected_rows_become_the_compared_pair(pair: tuple[Run, Run]) -> None:
    import pandas as pd

    table = pd.DataFrame({"run": [run.name for run in pair]})
    app = AppTest.from_function(_choose, kwargs={"table": table.to_dict("list")}).run()
    assert (app.session_state["one"], app.session_state["other"]) == (pair[0].name, pair[1].name)


def _choose(table: dict[str, list[str]]) -> None:
    import pandas as pd

    from app.views import compare

    compare._choose_pair(pd.DataFrame(table), [1, 0])


def test_a_hidden_run_in_the_url_is_compared(pair: tuple[Run, Run], store: Store, open_page: OpenPage) -> None:
    store.annotate(pair[1].name, {"hidden": True})
    assert len(open_page("compare").dataframe[0].value) == 1
    assert len(open_page("compare", other=pair[1].name).dataframe[0].value) == 2


def test_methods_are_compared_at_an_equal_budget(pair: tuple[Run, Run], open_page: OpenPage) -> None:
    app = open_page("compare", what="budget", equal="entries", rounds="1, 3", reference=pair[0].name)
    assert "At equal directed entries, against UGS (hidden = 512): 2 no test." in texts(app)
    table = app.dataframe[0].value
    assert table["Run"].tolist() == ["UGS (hidden = 512)", "Random pruning (hidden = 64)"] * 2
    assert table["Round"].tolist() == [1, 1, 3, 3]
    assert table["Against the reference"].tolist()[::2] == ["reference"] * 2
    (figure,) = app.get("plotly_chart")
    assert json.loads(figure.proto.spec)["layout"]["xaxis2"]["title"]["text"] == "Test accuracy (%)"
    assert {name: app.query_params[name] for name in ("what", "equal", "rounds")} == {
        "what": "budget",
        "equal": "entries",
        "rounds": "1, 3",
    }
    nowhere = open_page("compare", what="budget", equal="edges", shares="20", within="1")
    assert "No run has a round near one of these targets" in texts(nowhere)


def test_targets_that_are_no_numbers_are_reported(pair: tuple[Run, Run], open_page: OpenPage) -> None:
    app = open_page("compare", what="budget", rounds="four")
    assert "“Rounds” is not a list of numbers: write them as 4, 9, 13." in texts(app)


def test_the_pareto_view_says_that_it_is_by_means(pair: tuple[Run, Run], open_page: OpenPage) -> None:
    app = open_page("compare", what="budget", shown="front", equal="edges")
    (figure,) = app.get("plotly_chart")
    spec = json.loads(figure.proto.spec)
    assert spec["layout"]["xaxis"]["title"]["text"] == "Undirected edges removed, in both directions (%)"
    assert "the Pareto front of means, which nothing tests" in texts(app)


def test_masks_of_seeds_and_runs_are_compared(pair: tuple[Run, Run], open_page: OpenPage) -> None:
    app = open_page("compare", what="stability", round="2", runs=pair[0].name)
    assert "seeds against each other, round 2: undirected edges overlap by " in texts(app)
    (figure,) = app.get("plotly_chart")
    kinds = [trace["type"] for trace in json.loads(figure.proto.spec)["data"]]
    assert kinds == ["heatmap"]
    table = app.dataframe[0].value
    assert table["Pairs"].tolist() == [3] * len(table)
    assert table["Part"].tolist()[:2] == ["directed entries", "undirected edges"]


def test_transfers_are_shown_with_their_sources(make_run: MakeRun, open_page: OpenPage) -> None:
    source, random = make_run("ugs", states=THREE), make_run("random", states=THREE)
    options = {"edges_from": f"run:{source.name}", "weights_from": f"run:{source.name}"}
    for seed in range(3):
        make_run("combine", states=THREE, **options, source_seed=seed)
    app = open_page("compare", what="transfer", round="2")
    assert not app.error
    assert "Other masks minus own masks" in texts(app)
    (figure,) = app.get("plotly_chart")
    trace = json.loads(figure.proto.spec)["data"][0]
    assert (trace["x"], trace["y"]) == ([f"seed {seed}" for seed in range(3)],) * 2
    assert random.name in app.query_params["runs"]


def test_a_store_without_transfers_says_how_to_make_them(pair: tuple[Run, Run], open_page: OpenPage) -> None:
    app = open_page("compare", what="transfer")
    assert "Choose a run of the method combine" in texts(app)
    assert not app.error
