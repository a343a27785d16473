"""Every page, over a filled and over an empty store."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.components import frame
from app.data.runs import opened
from app.main import PAGES
from glt.store import Run, Store

MAIN = Path(__file__).parents[2] / "app" / "main.py"
NAMES = [title.lower() for title in PAGES]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_a_filled_store(
    name: str, make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    make_run("ugs")
    make_run("random")
    app = open_page(name)
    assert not app.exception
    assert not app.error
    assert app.title[0].value.lower() == name


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("launch", "paper")])
def test_a_page_of_an_empty_store_leads_to_launch(name: str, store: Store, open_page: Callable[..., AppTest]) -> None:
    app = open_page(name)
    assert not app.exception
    assert [link.label for link in app.get("page_link")] == ["Launch a run"]


def test_examples_fill_an_empty_store_and_are_marked(example: Run, open_page: Callable[..., AppTest]) -> None:
    app = open_page("curves")
    assert app.query_params["runs"] == f"examples/{example.name}"
    assert "example" in app.multiselect(key="runs").options[0]


def test_an_example_cannot_be_changed(example: Run, open_page: Callable[..., AppTest]) -> None:
    app = open_page("runs")
    assert not app.exception
    assert not [button for button in app.button if button.label in ("Delete", "Stop", "Resume")]


def test_a_run_of_the_users_own_stands_beside_the_example_of_its_name(
    example: Run, make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    make_run("ugs")
    found = opened()
    assert [run.is_example for run in found.runs] == [False, True]


# What pages may import: igraph lays out graphs (and imports matplotlib where it is there), Export draws for paper.
HEAVY = {"torch", "torch_geometric", "ogb", "matplotlib", "igraph"}
# igraph, which brings matplotlib, also measures bridges, cores and triangles.
WANTED = {page: {"igraph", "matplotlib"} for page in ("measurements", "subgraphs", "export")}
OPENED_ONE_BY_ONE = """
import json, sys
from streamlit import config
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

config._main_script_path = sys.argv[1]
config.get_config_options(force_reparse=True)
found = {}
for name in sys.argv[2:]:
    app = AppTest.from_file(sys.argv[1], default_timeout=1800)
    app._page_hash = calc_hash(name)
    app.run()
    assert not app.exception, (name, app.exception)
    assert app.title[0].value.lower() == name
    found[name] = sorted({module.split(".")[0] for module in sys.modules})
print(json.dumps(found))
"""


def test_no_page_brings_torch_into_the_process_of_the_app(make_run: Callable[..., Run], tmp_path: Path) -> None:
    for method in ("ugs", "random"):
        make_run(method)
    # In a process of its own: this one holds torch from other tests. What may import more comes last.
    names = sorted(NAMES, key=lambda name: (name in WANTED, name == "export"))
    command = [sys.executable, "-W", "ignore", "-c", OPENED_ONE_BY_ONE, str(MAIN), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=MAIN.parents[1])
    assert done.returncode == 0, done.stderr
    allowed: set[str] = set()
    for name, modules in json.loads(done.stdout.splitlines()[-1]).items():
        allowed |= WANTED.get(name, set())
        assert HEAVY & set(modules) <= allowed, name
    assert "pandas" in modules


def test_examples_stay_out_of_the_picture_of_the_users_runs(
    example: Run, make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    own = make_run("random")
    app = open_page("curves")
    assert app.query_params["runs"] == own.name
    assert len(app.multiselect(key="runs").options) == 2


@pytest.mark.parametrize("name", ["launch", "curves", "runs"])
def test_a_store_that_is_no_folder_is_one_sentence(name: str, store: Store, open_page: Callable[..., AppTest]) -> None:
    store.root.write_text("not a folder")
    app = open_page(name)
    assert not app.exception
    assert [str(store.root) in error.value for error in app.error] == [True]


def test_an_error_is_not_read_as_markup() -> None:
    shown = frame.plain("see ![x](http://y) <b> $z$ a_b")
    assert shown.replace(frame.JOINER, "") == r"see !\[x\](http://y) \<b> \$z\$ a_b"
    assert "http://" not in shown
    assert frame.plain("a :red[hi] ::b at 12:30: c") == r"a \:red\[hi\] \:\:b at 12:30: c"
