"""Draw the pictures of docs/screenshots, which docs/tour.md shows: every page over the examples, in light and dark.

`python docs/screenshots.py [WIDTH] [FOLDER]` needs Chromium; the width is 1440 unless another one is given.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "screenshots"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
WIDTH = 1440
SAVED_WIDTH = 1440
MOST_BYTES = 4_000_000
SECONDS = 240

# Page, the view that is drawn, and how high the window is.
VIEWS = (
    ("launch", "", 900),
    ("runs", "", 1000),
    ("curves", "paper=1", 1100),
    ("subgraphs", "round=13&section=losers", 1560),
    ("measurements", "round=13", 1240),
    ("tickets", "", 1240),
    ("compare", "", 1480),
    ("paper", "experiment=node-classification", 1500),
    ("export", "x=all&columns=2&paper=1", 820),
)
SETTLED = """() => document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning"
  && !document.querySelector("[data-testid=stSkeleton]")"""


def main(width: int, folder: Path) -> None:
    """Start the app over an empty store and draw every page in both themes."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, serving(home) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        for theme in ("light", "dark"):
            draw(browser, address, theme, width, folder)
        browser.close()
    check_size(folder)


def draw(browser: Browser, address: str, theme: str, width: int, folder: Path) -> None:
    """Draw every page in one theme."""
    context = browser.new_context(color_scheme="dark" if theme == "dark" else "light")
    context.set_default_timeout(1000 * SECONDS)
    page = context.new_page()
    for name, view, height in VIEWS:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{address}/{name}?{view}")
        page.wait_for_function("document.querySelector('h1')")
        page.wait_for_function(SETTLED)
        # Canvases and charts fade in after the last element has come.
        page.wait_for_timeout(2000)
        page.wait_for_function(SETTLED)
        suffix = "" if width == WIDTH else f"-{width}"
        save(page.screenshot(), folder / f"{name}-{theme}{suffix}.png")
    context.close()


def save(picture: bytes, path: Path) -> None:
    """Write a picture no wider than SAVED_WIDTH; its colours stay as they are, because they tell methods apart."""
    with Image.open(BytesIO(picture)) as drawn:
        if drawn.width > SAVED_WIDTH:
            size = (SAVED_WIDTH, round(drawn.height * SAVED_WIDTH / drawn.width))
            drawn.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(path, optimize=True)
            return
    # Chromium packs its own pictures tighter than a second writing would.
    path.write_bytes(picture)


def check_size(folder: Path) -> None:
    """Stop with a sentence when the pictures together weigh more than a repository should carry."""
    weight = sum(path.stat().st_size for path in folder.glob("*.png"))
    if weight > MOST_BYTES:
        sys.exit(f"The pictures in {folder} take {weight / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f} MB.")


@contextmanager
def serving(home: str, log: IO[bytes] | None = None, port: int | None = None) -> Iterator[str]:
    """Serve the app over the store in a home folder of its own for as long as the context lasts.

    What the server says goes to `log`, without one only what is wrong and to the terminal.
    """
    port = port or free_port()
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            "app/main.py",
            "--server.headless",
            "true",
            "--server.port",
            str(port),
        ],
        cwd=ROOT,
        env={**os.environ, "HOME": home, "GLT_STORE": f"{home}/runs"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if log is None else log,
        stderr=log,
    )
    try:
        wait_for(f"http://localhost:{port}/_stcore/health")
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        found: int = probe.getsockname()[1]
    return found


def wait_for(address: str) -> None:
    """Wait until the server answers."""
    for _ in range(10 * SECONDS):
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    sys.exit("The app did not start.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else WIDTH, Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER)
