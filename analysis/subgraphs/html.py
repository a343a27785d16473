"""Panels side by side as one HTML document that needs nothing from outside and moves as one."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analysis.subgraphs.class_colors import class_color, class_shape
from analysis.subgraphs.drawing import edge_styles, look, network_data, replay_frame
from analysis.subgraphs.panel import Panel
from analysis.subgraphs.subgraph import BACKWARD, FORWARD, REMOVED, Subgraph

TEMPLATES = Path(__file__).with_name("templates")
DEFAULT_HEIGHT = 620


def panels_html(
    panels: Sequence[Panel],
    dark: bool = False,
    height: int = DEFAULT_HEIGHT,
    selected: int | None = None,
    replay: Sequence[Sequence[Panel]] = (),
    marked: Sequence[int] = (),
) -> str:
    """Return one document with the panels side by side, `height` pixels high; zoom, pan and selection are shared.

    All panels show the same subgraph (ValueError otherwise). `selected` is the index in the graph of a node to point
    out, `marked` are those of nodes to outline, such as a sample's. `replay` holds for each panel its rounds from the
    first to the one shown, and adds a button that plays them. Every label is escaped, the scripts are inline, and the
    document's own policy forbids it to load or run anything else.
    """
    _check_comparable([*panels, *chain.from_iterable(replay)])
    vis, script = _vis_network(), _text("panels.js")
    states = np.concatenate([panel.states for panel in panels])
    return (
        _environment()
        .get_template("panels.html")
        .render(
            vis=vis,
            script=script,
            hashes=[_content_hash(vis), _content_hash(script)],
            style=_text("panels.css"),
            look=look(dark),
            dark=dark,
            height=height,
            panels=panels,
            classes=_legend(panels[0].subgraph),
            any_removed=(states == REMOVED).any(),
            any_fresh=any(panel.fresh.any() for panel in panels),
            rounds=max(map(len, replay), default=0),
            any_one_way=((states == FORWARD) | (states == BACKWARD)).any(),
            any_marked=bool(len(marked)),
            data=_data(panels, dark, selected, marked) | _replay_data(panels[0].subgraph, dark, replay),
        )
    )


def _check_comparable(panels: Sequence[Panel]) -> None:
    if not panels:
        raise ValueError("a document needs at least one panel")
    first = panels[0].subgraph
    for part in (panel.subgraph for panel in panels[1:]):
        if not (np.array_equal(part.nodes, first.nodes) and np.array_equal(part.positions, first.positions)):
            raise ValueError("panels that are compared must show the same nodes at the same places")


def _data(panels: Sequence[Panel], dark: bool, selected: int | None, marked: Sequence[int]) -> dict[str, Any]:
    part = panels[0].subgraph
    place = None if selected is None else next(iter((part.nodes == selected).nonzero()[0].tolist()), None)
    return {
        "key": hashlib.sha256(part.nodes.tobytes() + part.positions.tobytes()).hexdigest()[:16],
        "ink": look(dark).text,
        "names": part.names,
        "indices": part.nodes.tolist(),
        "selected": place,
        "marked": np.flatnonzero(np.isin(part.nodes, np.asarray(marked, dtype=np.int64))).tolist(),
        "captions": [panel.title for panel in panels],
        "panels": [network_data(panel, dark) for panel in panels],
    }


def _replay_data(part: Subgraph, dark: bool, replay: Sequence[Sequence[Panel]]) -> dict[str, Any]:
    """Return the frames of an animation and what they have in common; nothing without one."""
    if max(map(len, replay), default=0) < 2:
        return {"replay": []}
    return {
        "replay": [[replay_frame(panel) for panel in panels] for panels in replay],
        "ends": part.edges.tolist(),
        "styles": [style for _, style in sorted(edge_styles(look(dark)).items())],
        "ground": look(dark).ground,
        "inks": [class_color(int(label)) for label in part.labels],
    }


def _legend(part: Subgraph) -> list[dict[str, str]]:
    return [
        {"name": part.label_name(label), "color": class_color(label), "shape": class_shape(label)}
        for label in part.legend_labels()
    ]


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip


@cache
def _text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _vis_network() -> str:
    """Return the vis-network that pyvis brings along, without the line that makes a browser look for its source map."""
    import pyvis

    folder = Path(pyvis.__file__).parent / "lib"
    newest = max(folder.glob("vis-*"), key=lambda path: [int(part) for part in path.name[4:].split(".")])
    text = (newest / "vis-network.min.js").read_text(encoding="utf-8")
    return "\n".join(line for line in text.split("\n") if not line.startswith("//# sourceMappingURL"))


@cache
def _content_hash(script: str) -> str:
    """Return a script's hash as a content security policy wants it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
