"""Small graphs and a Chromium without network for the panels of subgraphs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from scipy.sparse import csr_array

from glt.datasets import Graph, Provenance, Split, load_graph, simple_edges

CHROMIUM = shutil.which("chromium")
# Generous, since the machine may be busy.
MILLISECONDS = 600_000
expect.set_options(timeout=MILLISECONDS)
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def small_graph(pairs: list[tuple[int, int]], labels: list[int], class_names: tuple[str, ...] = ()) -> Graph:
    """Return a graph without features."""
    edges = simple_edges(np.array(pairs, dtype=np.int64).reshape(-1, 2).T, len(labels))[0]
    nobody = np.empty(0, dtype=np.int64)
    return Graph(
        name="small",
        edges=edges,
        features=csr_array((len(labels), 1), dtype=np.float32),
        labels=np.array(labels, dtype=np.int64),
        split=Split(nobody, nobody, nobody),
        provenance=Provenance("by hand", len(pairs), 0, 0),
        class_names=class_names,
    )


@pytest.fixture(scope="session")
def cora() -> Graph:
    return load_graph("cora")


@pytest.fixture
def two_triangles() -> Graph:
    """Return 0-1-2 and 3-4-5 with the bridge 2-3, and node 6 alone."""
    pairs = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    return small_graph(pairs, [0, 0, 0, 1, 1, 1, -1], ("</script><img src=x onerror=alert(1)>", "B & <i>b</i>"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Start one Chromium a file: starting it takes longer than a test."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """Open a page that reaches no network."""
    context = chromium.new_context(offline=True, viewport={"width": 1200, "height": 660})
    context.set_default_timeout(MILLISECONDS)
    yield context.new_page()
    context.close()
