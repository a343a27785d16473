"""A store whose texts all hold code, markup and links that a browser must not run, fetch or follow."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from glt.presets import resolve
from glt.store import Event, Run, Status, Store, paths
from glt.ticket_file.io import ticket_bytes
from glt.ticket_file.ticket import make_ticket
from tests.conftest import write_true_rounds

MARKER = "marker.invalid"
# Short enough for a title, which has sixty letters.
IMAGE = f"<img src=//{MARKER}/i onerror=hacked=1>"
PICTURE = f"![a](http://{MARKER}/p.png)"
LINK = "[a](javascript:hacked=1)"
# What a name of a folder or file may hold.
PLAIN_IMAGE = "<img src=x onerror=hacked=1>"
SCRIPT = "</script><script>hacked=1</script>"
FRAME = f"<iframe src=//{MARKER}/f srcdoc='<script>parent.hacked=1</script>'></iframe>"
VECTOR = f"<svg onload=hacked=1><image href=//{MARKER}/v /></svg>"
BARE = f"http://{MARKER}/b https://{MARKER} (www.{MARKER}) some.body@{MARKER} mailto:a@{MARKER}"
EVERYTHING = f"{BARE} {SCRIPT}{IMAGE}{PICTURE}{LINK}{FRAME}{VECTOR} `{IMAGE}` \u202e {{{{7*7}}}} ${{7*7}}"
SETTINGS = {"rounds": 2, "epochs": 2, "retrain_epochs": 2}
STRANGER = resolve({**SETTINGS, "method": "admm"})


def make(folder: Path, draw_seed: Callable[..., None]) -> Store:
    """Write runs, annotations, states, environments, logs and folders with hostile texts."""
    store = Store(folder)
    runs = [store.create(resolve({**SETTINGS, "method": method})) for method in ("ugs", "random")]
    strange = STRANGER.model_copy(
        update={"options": {**STRANGER.options, EVERYTHING: EVERYTHING, "pretraining": PICTURE}}
    )
    runs.append(store.create(strange))
    for run in runs:
        draw_seed(run.seed(0), 2)
        draw_seed(run.seed(1), 1, "stopped")
        _say(store, run)
    for number, name in enumerate((PLAIN_IMAGE, LINK, f"`{LINK}", f"`{PLAIN_IMAGE}")):
        (folder / name).mkdir()
        document: dict[str, object] = {"schema": 1, "kind": EVERYTHING, "config": {}} if number % 2 else {"schema": 1}
        (folder / name / paths.CONFIG).write_text(json.dumps(document))
    return store


def _say(store: Store, run: Run) -> None:
    titles = {"ugs": IMAGE, "random": PICTURE, "admm": SCRIPT}
    store.annotate(run.name, {"title": titles[run.config.method], "note": EVERYTHING, "color": "pink"})
    for seed in run.seeds():
        folder = run.seed(seed)
        folder.write_environment({"versions": {EVERYTHING: EVERYTHING}, "device": EVERYTHING, "threads": EVERYTHING,
                                  "revision": EVERYTHING, "data_hash": EVERYTHING})  # fmt: skip
        folder.log_path.write_text(EVERYTHING * 3)
    hostile_seed = run.seed(1)
    hostile_seed.append_event(Event(round=2, stage=EVERYTHING, epoch=0, loss=1.0, val=0.5, test=0.5))
    hostile_seed.write_status(Status(state="failed", seed=1, error=EVERYTHING, host=EVERYTHING))


def ticket(store: Store) -> bytes:
    """Return a ticket file with hostile names of classes, nodes, data set, run and metric."""
    small = {"hidden": 4, "rounds": 1, "p_graph": 0.5, "p_weight": 0.5}
    seed = Store(store.root.parent / "tickets").create(resolve(small)).seed(0)
    with seed.lock():
        write_true_rounds(seed)
    made = make_ticket(seed, 1)
    about, graph = made.about, made.graph
    names = tuple(f"{EVERYTHING[:200]}{number}" for number in range(graph.num_classes))
    ids = tuple(f"{IMAGE}{number}" for number in range(graph.num_nodes))
    hostile_seed = about.model_copy(
        update={
            "run": EVERYTHING[:250],
            "metric": PICTURE,
            "class_names": names,
            "node_ids": ids,
            "data": about.data.model_copy(update={"name": PICTURE, "source": EVERYTHING}),
            "config": about.config.model_copy(update={"dataset": PICTURE}),
            "environment": {EVERYTHING: EVERYTHING},
        }
    )
    return ticket_bytes(replace(made, about=hostile_seed, graph=replace(graph, class_names=names, node_ids=ids)))
