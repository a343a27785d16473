"""A page of the app in AppTest, opened by its address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streamlit import config
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

MAIN = Path(__file__).parents[1] / "app" / "main.py"
# A machine may have other things to do.
SECONDS = 1800


def open_at(name: str, view: Mapping[str, str | list[str]], seconds: float = SECONDS) -> AppTest:
    """Open a page with query parameters; it has so many seconds."""
    load_settings()
    app = AppTest.from_file(MAIN, default_timeout=seconds)
    app._page_hash = calc_hash(name)
    for key, value in view.items():
        app.query_params[key] = value
    return app.run()


def load_settings() -> None:
    """Have Streamlit read the app's settings, as `streamlit run` does and AppTest does not."""
    if config._main_script_path != str(MAIN):
        config._main_script_path = str(MAIN)
        config.get_config_options(force_reparse=True)
