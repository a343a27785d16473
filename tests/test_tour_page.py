"""docs/tour.md: every page in two sentences and one picture that is there, and pictures that stay small."""

from __future__ import annotations

import re
from pathlib import Path

from app.main import PAGES

DOCS = Path(__file__).parents[1] / "docs"
MOST_BYTES = 4_000_000


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", (DOCS / "tour.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_page_has_two_sentences_and_its_pictures() -> None:
    assert tuple(sections()) == PAGES
    for title, text in sections().items():
        told = text.split("<picture>")[0].strip()
        assert len(re.findall(r"[.!](?= |$)", told)) == 2, told
        named = re.findall(r"(?:src|srcset)=\"([^\"]+)\"", text)
        assert named == [f"screenshots/{title.lower()}-{theme}.png" for theme in ("dark", "light")]
        assert all((DOCS / name).is_file() for name in named)
        assert re.search(r"alt=\"[^\"]{20,}\"", text)


def test_the_pictures_stay_small() -> None:
    assert sum(path.stat().st_size for path in (DOCS / "screenshots").glob("*.png")) <= MOST_BYTES
