"""A page of the app in AppTest, opened by its address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

MAIN = Path(__file__).parents[1] / "app" / "main.py"
SECONDS = 180


def open_at(name: str, view: Mapping[str, str | list[str]], seconds: float = SECONDS) -> AppTest:
    """Open a page with query parameters; it has so many seconds."""
    app = AppTest.from_file(MAIN, default_timeout=seconds)
    app._page_hash = calc_hash(name)
    for key, value in view.items():
        app.query_params[key] = value
    return app.run()
