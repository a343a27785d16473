"""Workers at the same time, two sessions on one store, and a server that is killed: no run is shared or lost."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, expect
from streamlit.testing.v1 import AppTest

from glt.jobs import start, stop
from glt.presets import resolve
from glt.store import Run, Store
from glt.store.locks import ACTIVE
from tests.app.conftest import make_run as make_run  # noqa: PLC0414 - the app's fixtures
from tests.app.conftest import open_page as open_page  # noqa: PLC0414
from tests.app.conftest import store as bare  # noqa: F401
from tests.browser.conftest import MILLISECONDS, serving
from tests.browser.conftest import browser as browser  # noqa: PLC0414 - the browser tests' fixtures
from tests.robustness.faults.conftest import THOROUGH
from tests.robustness.faults.lives import assert_equal, comparable

Say = Callable[[str], None]

ROOT = Path(__file__).parents[3]
RACES = 20 if THOROUGH else 3
# Seconds; generous, since the machine may be busy.
PATIENCE = 1800
# Everything is imported before the common start time.
RACER = """
import json, sys, time
from glt.errors import StudioError
from glt.jobs import start
from glt.jobs.sweep import start_all
from glt.presets import resolve
from glt.store import Store
import glt.jobs.estimate, glt.datasets
store, seeds, widths = Store(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
configs = [resolve({"rounds": 3, "epochs": 1, "retrain_epochs": 3, "hidden": width}) for width in widths]
glt.datasets.load_graph("cora")
print("ready", flush=True)
moment = float(sys.stdin.readline())
while time.monotonic() < moment:
    pass
try:
    started = start_all(store, configs, seeds) if len(widths) > 1 else [start(store, configs[0], seeds)]
except StudioError as error:
    print(json.dumps(str(error)))
else:
    print(json.dumps([[each.run.name, each.seeds, each.finished, each.elsewhere] for each in started]))
"""


@pytest.fixture
def gate(fake_engine: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file that does not exist yet: workers wait for it before their first epoch."""
    fake_engine.setenv("FAKE_GATE", str(tmp_path / "gate"))
    fake_engine.setenv("PYTHONPATH", f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}")
    return tmp_path / "gate"


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[Store]]:
    """A store for each race; remaining workers are stopped."""
    stores = [Store(tmp_path / str(number)) for number in range(RACES)]
    yield stores
    for run in (run for store in stores for run in store.runs()):
        stop(run, grace=0)


def race(store: Store, *seeds: list[int], widths: list[int]) -> list[str | list[list[object]]]:
    """Start the same runs in one process per list of seeds; return what each prints."""
    pipe = subprocess.PIPE
    commands = [[sys.executable, "-c", RACER, str(store.root), json.dumps(each), json.dumps(widths)] for each in seeds]
    racers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) for command in commands]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    moment = f"{time.monotonic() + 0.1}\n"
    return [json.loads(racer.communicate(moment, timeout=PATIENCE)[0]) for racer in racers]


def test_exactly_one_of_two_starts_gets_the_seed(gate: Path, stores: list[Store], say: Say) -> None:
    for store in stores:
        outcomes = race(store, [0], [0], widths=[16])
        (started,) = [each for each in outcomes if isinstance(each, list)]
        (refused,) = [each for each in outcomes if isinstance(each, str)]
        (run,) = store.runs()
        assert started == [[run.name, [0], [], []]]
        assert f"seed-0 is in use by process {run.seed(0).status().pid} on " in refused
        assert "\n" not in refused
    gate.touch()
    runs = [store.runs()[0] for store in stores]
    for run in runs:
        finished(run)
        assert_equal(run.path, runs[0].path)
    say(f"\n{RACES} races of two for one seed: one worker each, all runs equal")


def test_two_concurrent_starts_share_the_seeds(gate: Path, stores: list[Store], say: Say) -> None:
    for store in stores:
        outcomes = race(store, [0, 1], [1, 0], widths=[8, 9])
        assert all(isinstance(each, list) for each in outcomes), outcomes
        for answers in zip(*outcomes, strict=True):
            (name, one, _, left_by_one), (other_name, other, _, left_by_other) = map(tuple, answers)
            assert name == other_name
            assert sorted([*one, *other]) == [0, 1], outcomes
            assert (left_by_one, left_by_other) == (sorted(other), sorted(one))
            assert [store.find(name).seed(seed).status().state in ACTIVE for seed in (0, 1)] == [True, True]
    gate.touch()
    for run, seed in itertools.product([run for store in stores for run in store.runs()], (0, 1)):
        finished(run, seed)
    say(f"\n{RACES} races of two for two runs of two seeds: every seed computed once, none stopped")


def finished(run: Run, seed: int = 0) -> None:
    deadline = time.monotonic() + PATIENCE
    while run.seed(seed).status().state in ACTIVE:
        assert time.monotonic() < deadline, run.seed(seed).status()
        time.sleep(0.05)
    assert run.seed(seed).status().state == "done"


SETTINGS = ("--set", "rounds=2", "epochs=20", "retrain_epochs=20", "hidden=16")


def computed(store: Path, method: str, seeds: str) -> Path:
    """Compute seeds of a run, as many at a time as there are, and return its folder."""
    command = [sys.executable, "-m", "glt", "run", "--store", str(store), "--method", method, "--seeds", seeds]
    subprocess.run([*command, *SETTINGS], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "GLT_SLOTS": "4"})
    return Store(store).runs()[0].path


@pytest.mark.skipif(not THOROUGH, reason="fourteen runs: make faults")
@pytest.mark.parametrize("method", ["ugs", "admm"])
def test_concurrent_runs_give_the_same_bytes(tmp_path: Path, say: Say, method: str) -> None:
    runs = {jobs: computed(tmp_path / str(jobs), method, f"0-{jobs - 1}" if jobs > 1 else "0") for jobs in (1, 2, 4)}
    alone = {jobs: {seed: comparable(run / f"seed-{seed}") for seed in range(jobs)} for jobs, run in runs.items()}
    for jobs, seeds in alone.items():
        for seed, files in seeds.items():
            assert files == alone[4][seed], f"seed {seed} beside {jobs - 1} others"
    assert alone[4][0] != alone[4][1]
    say(f"\n{method}: seed 0 alone, beside one and beside three others: {len(alone[1][0])} files equal")


PAGES = ["runs", "curves", "tickets", "subgraphs", "measurements"] if THOROUGH else ["runs", "curves"]
LONG = {"rounds": 400, "epochs": 1, "retrain_epochs": 3, "hidden": 16}


@pytest.fixture
def store(bare: Store) -> Iterator[Store]:  # noqa: F811
    yield bare
    for run in bare.runs():
        stop(run, grace=0)


@pytest.fixture
def begun(store: Store, fake_engine: pytest.MonkeyPatch) -> Run:
    """A run that is being computed."""
    fake_engine.setenv("FAKE_EPOCH", "0.05")
    return start(store, resolve(LONG), [0]).run


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=key).click().run()


def fine(*apps: AppTest) -> None:
    for app in apps:
        assert not app.exception
        assert not app.error


def test_two_pages_stop_and_resume_one_run(begun: Run, store: Store, open_page: Callable[..., AppTest]) -> None:
    one, other = open_page("runs", run=begun.name), open_page("runs", run=begun.name)
    press(one, f"stop-{begun.name}")
    assert begun.seed(0).status().state == "stopped"
    # The other page still has its button.
    press(other, f"stop-{begun.name}")
    fine(one, other)
    press(one, f"resume-{begun.name}")
    press(other, f"resume-{begun.name}")
    assert not other.exception
    assert begun.seed(0).status().state in ("queued", "running")
    fine(one.run(), other.run())


def test_a_run_deleted_while_pages_show_it(
    make_run: Callable[..., Run], store: Store, open_page: Callable[..., AppTest]
) -> None:
    run = make_run("ugs", states=("done", "stopped"))
    pages = [open_page(name, run=run.name) for name in PAGES]
    store.move_to_trash(run.path)
    press(pages[0], f"resume-{run.name}")
    assert not pages[0].exception
    for page in pages:
        page.run()
        assert not page.exception
        errors = [error.value for error in page.error]
        assert len(errors) == 1, errors
        assert run.name in errors[0]
    assert store.runs() == []
    assert not store.damaged()


ADDRESS = "methods=random&seeds=0&hidden=8&rounds=20&epochs=2000&retrain_epochs=2000"


def kill_server(store: Path) -> None:
    """Kill the server of a store without warning, as a crash would."""
    servers = [child for child in psutil.Process().children() if child.environ().get("GLT_STORE") == str(store)]
    for server in servers:
        os.kill(server.pid, signal.SIGKILL)
    assert len(servers) == 1


@pytest.mark.skipif(not THOROUGH, reason="two servers and a browser: make faults")
def test_a_run_outlives_its_server(tmp_path: Path, browser: Browser) -> None:
    store = tmp_path / "store"
    with serving(store) as address:
        page = browser.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.goto(f"{address}/launch?{ADDRESS}")
        page.get_by_role("button", name="Start 1 run").click()
        page.wait_for_url(re.compile(r"/runs\?"))
        expect(page.locator(".st-key-seed-row-0")).to_contain_text("retrain")
        kill_server(store)
        page.close()
    run: Run = Store(store).runs()[0]
    before = run.seed(0).status()
    assert before.state == "running"
    with serving(store) as address:
        page = browser.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.goto(f"{address}/runs?run={run.name}")
        expect(page.locator(".st-key-seed-row-0")).to_contain_text("retrain")
        assert run.seed(0).status().pid == before.pid
        page.get_by_role("button", name="Stop all").click()
        # While the page is drawn anew, the old row stands beside the new one.
        expect(page.get_by_role("button", name="Resume all").first).to_be_visible()
    assert run.seed(0).status().state == "stopped"
