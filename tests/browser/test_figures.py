"""Figures in a real browser without network: curves, links to rounds, subgraph panels, a PDF."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Frame, Page, expect

DRAWN = """canvas => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colors = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3]) colors.add(data.slice(i, i + 3).join());
  return colors.size;
}"""


def panels(page: Page) -> Frame:
    handle = page.locator("iframe").element_handle()
    frame = handle.content_frame() if handle else None
    assert frame is not None
    return frame


def test_the_bare_address_shows_the_curves(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator(".js-plotly-plot .scatterlayer path.point").first).to_be_visible()
    page.wait_for_url(re.compile(r"/curves\?"))


def test_clicking_a_point_opens_its_round(page: Page, address: str) -> None:
    page.goto(f"{address}/curves")
    points = page.locator(".js-plotly-plot .scatterlayer path.point")
    expect(points.first).to_be_visible()
    # The last markers of the figure that carry a round: UGS, rounds 1 to 3.
    points.nth(2).click(force=True)
    page.wait_for_url(re.compile(r"/subgraphs\?(?=.*\bround=)(?=.*\brun=cora-node-gcn-)"))
    expect(page.locator("iframe")).to_be_visible()
    page.locator("[data-testid='stTopNavLink']", has_text="Curves").click()
    expect(points.first).to_be_visible()
    assert "/curves" in page.url, "a point clicked before does not lead away again"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_subgraph_panels_draw_offline(page: Page, address: str, theme: str) -> None:
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"{address}/subgraphs?round=3&size=50")
    expect(page.locator("iframe")).to_be_visible()
    canvases = panels(page).locator("canvas")
    expect(canvases).to_have_count(2)
    page.wait_for_function("document.querySelector('iframe').contentDocument.querySelectorAll('canvas').length === 2")
    for place in (0, 1):
        assert canvases.nth(place).evaluate(DRAWN) > 10


def test_a_pdf_downloads_with_its_fonts_embedded(page: Page, address: str, tmp_path: Path) -> None:
    pdffonts = shutil.which("pdffonts")
    if pdffonts is None:
        pytest.skip("no pdffonts (poppler-utils)")
    page.goto(f"{address}/export")
    with page.expect_download() as download:
        page.get_by_role("button", name="PDF").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    listed = subprocess.run([pdffonts, path], capture_output=True, text=True, check=True).stdout
    fonts = [line.split() for line in listed.splitlines()[2:]]
    assert fonts
    assert "Type 3" not in listed
    # Columns from the end: object (2), uni, sub, emb.
    assert {font[-5] for font in fonts} == {"yes"}
