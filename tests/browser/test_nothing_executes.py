"""A browser runs no text of a store or ticket file and makes no request for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from analysis.subgraphs.html import panels_html
from analysis.subgraphs.panel import make_panel
from analysis.subgraphs.samplers import Sample
from app.main import PAGES
from glt.datasets import load_graph
from glt.store import Store
from tests.browser import hostile_store
from tests.browser.conftest import serving
from tests.browser.test_accessible import SETTLED

VIEWS = (
    *(title.lower() for title in PAGES if title != "Paper"),
    "runs?run={strange}",
    "curves?show=training",
    "subgraphs?run={strange}&beside={other}&section=losers&round=2",
    "subgraphs?run={strange}&section=whole&round=2",
    "compare?view=pair",
)
LED = "(name) => [...document.querySelectorAll('a[href]')].map(a => a.href).filter(href => href.includes(name))"
HOVER = """() => [...document.querySelectorAll(".js-plotly-plot .scatterlayer path.point, canvas")].slice(0, 6)
  .map((e) => { const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, draw_seed: Callable[..., None]) -> Store:
    return hostile_store.make(tmp_path_factory.mktemp("hostile") / "store", draw_seed)


@pytest.fixture(scope="module")
def hostile_address(hostile: Store) -> Iterator[str]:
    with serving(hostile.root) as address:
        yield address


@pytest.fixture
def watched(context: BrowserContext) -> Iterator[Page]:
    """A tab that records dialogs, new windows and the marker in any frame; the context checks requests."""
    page = context.new_page()
    seen: list[str] = []
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    context.on("page", lambda other: seen.append(other.url))
    yield page
    assert seen == []


def look(page: Page, address: str) -> None:
    """Open a page, hover over its figures, and check that no code ran in any frame."""
    page.goto(address)
    page.wait_for_function(SETTLED)
    for x, y in page.evaluate(HOVER):
        page.mouse.move(x, y)
    for frame in page.frames:
        assert frame.evaluate("typeof window.hacked") == "undefined", address
        assert frame.evaluate("document.querySelectorAll('[onerror], [onload], a[href^=\"javascript:\"]').length") == 0
        assert frame.evaluate(LED, hostile_store.MARKER) == [], address


def test_no_page_runs_or_fetches_store_text(watched: Page, hostile: Store, hostile_address: str) -> None:
    names = [run.name for run in hostile.runs()]
    strange = next(name for name in names if "admm" in name)
    for view in VIEWS:
        look(watched, f"{hostile_address}/{view.format(strange=strange, other=names[-1])}")


def test_settings_and_log_are_shown_verbatim(watched: Page, hostile: Store, hostile_address: str) -> None:
    strange = next(run for run in hostile.runs() if run.config.method == "admm")
    look(watched, f"{hostile_address}/runs?run={strange.name}")
    for words in ("Settings", "Log"):
        watched.locator("summary", has_text=words).click()
    expect(watched.locator("[data-testid=stCode]").first).to_contain_text("<script>hacked=1</script>")
    expect(watched.get_by_test_id("stTable").first).to_contain_text("hacked=1")
    assert watched.evaluate("typeof window.hacked") == "undefined"


@pytest.mark.long
def test_no_view_runs_ticket_file_text(watched: Page, hostile: Store, hostile_address: str, tmp_path: Path) -> None:
    name = hostile_store.PLAIN_IMAGE + ".zip"
    (tmp_path / name).write_bytes(hostile_store.ticket(hostile))
    for view in ("beside", "subgraph", "measures"):
        watched.goto(f"{hostile_address}/tickets?view=file&of_file={view}")
        watched.locator("input[type=file]").set_input_files(tmp_path / name)
        expect(watched.locator(".st-key-imported")).to_be_visible()
        watched.wait_for_function(SETTLED)
        expect(watched.locator(".st-key-imported")).to_contain_text("onerror=hacked=1")
        for frame in watched.frames:
            assert frame.evaluate("typeof window.hacked") == "undefined"


def test_no_graph_picture_runs_labels(watched: Page, tmp_path: Path) -> None:
    """The document of the panels, alone: names of nodes and classes, titles, and JSON inside a script."""
    from dataclasses import replace

    from app.components import graph_select
    from glt.masks import EdgeMask

    graph = load_graph("cora")
    names = tuple(f"{hostile_store.EVERYTHING}{number}" for number in range(graph.num_classes))
    ids = tuple(f"{hostile_store.EVERYTHING}{number}" for number in range(graph.num_nodes))
    graph = replace(graph, class_names=names, node_ids=ids)
    part = graph_select.subgraph(graph, graph_select.RoundSample(Sample("walk", 40)))
    mask = EdgeMask.full("directed", graph.num_edges)
    panel = make_panel(graph, part, mask, hostile_store.EVERYTHING)
    path = tmp_path / "panels.html"
    path.write_text(panels_html([panel, panel]), encoding="utf-8")
    watched.goto(path.as_uri())
    expect(watched.locator("canvas")).to_have_count(2)
    box = watched.locator("canvas").first.bounding_box()
    assert box is not None
    for across in range(12):
        for down in range(12):
            watched.mouse.move(
                box["x"] + box["width"] * (across + 0.5) / 12, box["y"] + box["height"] * (down + 0.5) / 12
            )
    assert watched.evaluate("typeof window.hacked") == "undefined"
