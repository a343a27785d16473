"""Subgraphs as interactive HTML: colours and shapes of classes, panels for vis-network, one document.

`panels_html` makes the document; `network_data` gives one panel's nodes and edges, `replay_frame` one round of an
animation.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from numpy.typing import NDArray

from analysis.palette import cause_style, steps
from analysis.subgraphs.panel import BACKWARD, BOTH, FORWARD, REMOVED, GraphPanel, Subgraph
from glt.methods.base import Cause
from glt.removal_causes import CAUSES

# Paul Tol's colour-blind safe "bright" scheme (SRON/EPS/TN/09-002), readable on white and black; grey is for unknown
# classes.
COLORS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#E5894A")
UNKNOWN = "#9AA3AD"

Shape = Literal["dot", "square", "diamond", "triangle", "triangleDown", "star", "hexagon"]
MARKERS: dict[Shape, str] = {
    "dot": "o",
    "square": "s",
    "diamond": "D",
    "triangle": "^",
    "triangleDown": "v",
    "star": "*",
    "hexagon": "h",
}
SHAPES = tuple(MARKERS)


def class_color(label: int) -> str:
    """Return the hex colour of a class; colours repeat after seven classes with another shape.

    >>> class_color(0) == class_color(7), class_color(-1)
    (True, '#9AA3AD')
    """
    return COLORS[label % len(COLORS)] if label >= 0 else UNKNOWN


def class_shape(label: int) -> Shape:
    """Return vis-network's name of a class's shape; MARKERS has matplotlib's.

    >>> class_shape(6), class_shape(7)
    ('dot', 'square')
    """
    return SHAPES[label // len(COLORS) % len(SHAPES)] if label >= 0 else "dot"


# Nodes and edges of a panel

PIXELS_PER_UNIT = 44
SMALLEST, LARGEST = 5.0, 22.0
MANY_EDGES = 1500
# The look of an edge is its state, or this where the round shown removed it. With known causes, removed edges have
# looks of their own: JUST_REMOVED plus the code of the cause, and as many more where the round shown removed them.
JUST_REMOVED = 4
# Numbers of seeds that the legend lists one by one.
MOST_LEVELS = 6
# Strokes and gaps in pixels, by cause.
STROKES: dict[Cause, list[int]] = {
    "gradient": [8, 4], "no gradient": [2, 5], "score": [9, 4, 2, 4], "random": [5, 5], "solver": [12, 4, 2, 4],
}  # fmt: skip

Items = list[dict[str, Any]]


@dataclass(frozen=True)
class Look:
    """The colours of a theme: ground, text, quiet text, lines, kept edges and removed edges."""

    ground: str
    card: str
    text: str
    muted: str
    line: str
    kept: str
    removed: str


LIGHT = Look("#FFFFFF", "#FFFFFF", "#1F2328", "#5A636E", "#D9DEE3", "#57606A", "#C2410C")
DARK = Look("#0E1117", "#1A1F29", "#E8EAED", "#A3ADB8", "#323A46", "#AEB7C2", "#FF8A5B")


def look(dark: bool) -> Look:
    """Return the colours of the dark or the light theme."""
    return DARK if dark else LIGHT


def network_data(panel: GraphPanel, dark: bool) -> dict[str, Any]:
    """Return nodes, edges and options of vis-network as plain JSON values, made with pyvis."""
    from pyvis.network import Network

    network = Network()
    # Set directly, because `add_edge` searches all edges for each one.
    network.nodes = _nodes(panel, look(dark))
    network.edges = _edges(panel, look(dark))
    network.options = _options(panel)
    return {"nodes": network.nodes, "edges": network.edges, "options": network.options}


def replay_frame(panel: GraphPanel) -> dict[str, Any]:
    """Return one round of an animation: title, captions, edge looks (hexadecimal digits), sizes, isolated nodes."""
    return {
        "title": panel.title,
        "caption": panel.caption,
        "looks": "".join(f"{look:x}" for look in edge_looks(panel).tolist()),
        "sizes": _sizes(panel),
        "lonely": np.flatnonzero(panel.degrees == 0).tolist(),
    }


def edge_looks(panel: GraphPanel) -> NDArray[np.uint8]:
    """Return [m] the look of each edge: its state, JUST_REMOVED, or that of the cause of its removal."""
    looks = np.where(panel.fresh, np.uint8(JUST_REMOVED), panel.states)
    if panel.removals is None:
        return looks
    cause = panel.removals.decisive
    by_cause = JUST_REMOVED + cause + np.where(panel.fresh, len(CAUSES) - 1, 0)
    return np.where(cause > 0, by_cause, looks).astype(np.uint8)


def _is_removed(look: int) -> bool:
    return look not in (FORWARD, BACKWARD, BOTH)


def cause_color(cause: Cause, dark: bool) -> str:
    """Return the colour of edges that were removed by a cause."""
    style = cause_style(cause)
    return style.dark if dark else style.words


def edge_styles(tone: Look) -> dict[int, dict[str, Any]]:
    """Return vis-network's options of each look of an edge; every style sets the same options."""
    one_way = {"arrows": "middle", "dashes": False, "width": 1.1, "color": {"color": tone.kept, "opacity": 0.6}}
    gone = {"arrows": "", "dashes": [2, 6], "width": 1.2, "color": {"color": tone.removed, "opacity": 0.45}}
    styles = {
        REMOVED: gone,
        FORWARD: one_way,
        BACKWARD: one_way,
        BOTH: {"arrows": "", "dashes": False, "width": 1.5, "color": {"color": tone.kept, "opacity": 0.8}},
        JUST_REMOVED: {**gone, "dashes": [9, 5], "width": 2.6, "color": {"color": tone.removed, "opacity": 1}},
    }
    for code, cause in enumerate(CAUSES):
        if cause is not None:
            color = cause_color(cause, tone is DARK)
            earlier = {"arrows": "", "dashes": STROKES[cause], "width": 1.3, "color": {"color": color, "opacity": 0.75}}
            now = {**earlier, "width": 2.8, "color": {"color": color, "opacity": 1}}
            styles |= {JUST_REMOVED + code: earlier, JUST_REMOVED + code + len(CAUSES) - 1: now}
    return styles


def _nodes(panel: GraphPanel, tone: Look) -> Items:
    part = panel.subgraph
    sizes = _sizes(panel)
    nodes: Items = []
    for node, (x, y) in enumerate((PIXELS_PER_UNIT * part.positions).round(1).tolist()):
        color = class_color(int(part.labels[node]))
        lonely = panel.degrees[node] == 0
        nodes.append(
            {
                "id": node,
                "label": None,
                "title": _describe(panel, node),
                "x": x,
                "y": y,
                "size": sizes[node],
                "shape": class_shape(int(part.labels[node])),
                "borderWidth": 2 if lonely else 1,
                "color": {"background": tone.ground if lonely else color, "border": color if lonely else tone.ground},
            }
        )
    return nodes


def _sizes(panel: GraphPanel) -> list[float]:
    """Return radii in pixels: the area grows with the degree in the whole graph under this panel's mask.

    The scale is that of the unpruned graph, so a node that loses edges shrinks.
    """
    most = max(1, int(panel.full_degrees.max(initial=0)))
    sizes: list[float] = (SMALLEST + (LARGEST - SMALLEST) * np.sqrt(panel.degrees / most)).round(1).tolist()
    return sizes


def _describe(panel: GraphPanel, node: int) -> str:
    name, index = panel.subgraph.names[node], str(panel.subgraph.nodes[node])
    before, after = int(panel.full_degrees[node]), int(panel.degrees[node])
    degree = f"degree {before}" if before == after else f"degree {before}, {after} left"
    return f"Node {name}{'' if name == index else f' (index {index})'}\n{panel.subgraph.class_name(node)}\n{degree}"


def _edges(panel: GraphPanel, tone: Look) -> Items:
    """List removed edges first, so that they are drawn below the others; arrows point along the message."""
    # Without options at their defaults: a large document has thousands of edges.
    styles = {
        look: {name: value for name, value in style.items() if value} for look, style in edge_styles(tone).items()
    }
    order = np.argsort(panel.states != REMOVED, kind="stable")
    states, looks = panel.states[order], edge_looks(panel)[order].tolist()
    ends = panel.subgraph.edges[:, order]
    source, target = np.where(states == BACKWARD, ends[::-1], ends).tolist()
    return [
        {
            "id": i,
            "from": a,
            "to": b,
            "removed": _is_removed(look),
            **styles[look],
            **_why(panel, i),
            **_agreed(panel, i, tone),
        }
        for i, a, b, look in zip(order.tolist(), source, target, looks, strict=True)
    ]


def _why(panel: GraphPanel, edge: int) -> dict[str, str]:
    """Return what hovering over an edge says of its removal, and its cause; nothing where causes are not shown."""
    if panel.removals is None:
        return {}
    low, high = (panel.subgraph.names[node] for node in panel.subgraph.edges[:, edge].tolist())
    words, cause = panel.removals.words(edge, low, high), CAUSES[int(panel.removals.decisive[edge])]
    return ({"title": words} if words else {}) | ({"cause": cause} if cause else {})


def consensus_color(count: int, seeds: int, dark: bool) -> str:
    """Return the colour of an edge that is kept with `count` of `seeds` seeds, from the first to the last of a scale.

    >>> consensus_color(1, 5, dark=False) != consensus_color(5, 5, dark=False)
    True
    """
    return steps(seeds)[count - 1].color(dark)


def _agreed(panel: GraphPanel, edge: int, tone: Look) -> dict[str, Any]:
    """Return colour and words of the number of seeds that keep an edge; nothing where it is not shown."""
    if panel.consensus is None:
        return {}
    count = int(panel.consensus[edge])
    words = f"kept with {count or 'none'} of {panel.seeds} seeds"
    color = {"color": consensus_color(count, panel.seeds, tone is DARK), "opacity": 0.9} if count else None
    return {"title": words.capitalize(), "agreed": words} | ({"color": color} if color else {})


def _shown_levels(panels: Sequence[GraphPanel], dark: bool) -> list[dict[str, str]]:
    """Return name and colour of the numbers of seeds that keep edges, for the legend; of many, three."""
    seeds = max((panel.seeds for panel in panels), default=0)
    counts = range(1, seeds + 1) if seeds <= MOST_LEVELS else (1, (seeds + 1) // 2, seeds)
    return [
        {"name": f"kept with {count} of {seeds} seeds", "color": consensus_color(count, seeds, dark)}
        for count in counts
    ]


def _shown_causes(panels: Sequence[GraphPanel], dark: bool) -> list[dict[str, str]]:
    """Return name, colour and strokes of every cause that removed an edge shown, for the legend."""
    codes = {int(code) for panel in panels if panel.removals for code in np.unique(panel.removals.decisive)}
    return [
        {"name": cause, "color": cause_color(cause, dark), "dashes": " ".join(map(str, STROKES[cause]))}
        for code, cause in enumerate(CAUSES)
        if cause is not None and code in codes
    ]


def _options(panel: GraphPanel) -> dict[str, Any]:
    return {
        "physics": {"enabled": False},
        "layout": {"improvedLayout": False},
        "nodes": {"shadow": False, "chosen": False},
        "edges": {"smooth": False, "chosen": False, "arrows": {"middle": {"scaleFactor": 0.35}}},
        "interaction": {
            "hover": True,
            "dragNodes": False,
            "selectConnectedEdges": False,
            "hoverConnectedEdges": False,
            "tooltipDelay": 120,
            "hideEdgesOnDrag": panel.states.size > MANY_EDGES,
        },
    }


# The document

TEMPLATES = Path(__file__).with_name("templates")
DEFAULT_HEIGHT = 620


def panels_html(
    panels: Sequence[GraphPanel],
    dark: bool = False,
    height: int = DEFAULT_HEIGHT,
    selected: int | None = None,
    replay: Sequence[Sequence[GraphPanel]] = (),
    marked: Sequence[int] = (),
) -> str:
    """Return a self-contained document with the panels side by side; zoom, pan and selection are shared.

    `height` is in pixels. All panels show the same subgraph (ValueError otherwise). `selected` is the graph index of a
    node to highlight, `marked` are indices of nodes to outline. `replay` holds the rounds of each panel up to the one
    shown, and adds a button that plays them. Every label is escaped, the scripts are inline, and the document's content
    security policy forbids any other script or request.
    """
    if not panels:
        raise ValueError("a document needs at least one panel")
    first = panels[0].subgraph
    for part in (panel.subgraph for panel in chain(panels, *replay)):
        if not (np.array_equal(part.nodes, first.nodes) and np.array_equal(part.positions, first.positions)):
            raise ValueError("panels that are compared must show the same nodes at the same places")
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
            classes=[
                {"name": first.label_name(label), "color": class_color(label), "shape": class_shape(label)}
                for label in first.legend_labels()
            ],
            any_removed=(states == REMOVED).any(),
            any_fresh=any(panel.fresh.any() for panel in panels),
            rounds=max(map(len, replay), default=0),
            any_one_way=((states == FORWARD) | (states == BACKWARD)).any(),
            any_marked=bool(len(marked)),
            causes=_shown_causes(panels, dark),
            levels=_shown_levels(panels, dark),
            data=_data(panels, dark, selected, marked) | _replay_data(panels[0].subgraph, dark, replay),
        )
    )


def _data(panels: Sequence[GraphPanel], dark: bool, selected: int | None, marked: Sequence[int]) -> dict[str, Any]:
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


def _replay_data(part: Subgraph, dark: bool, replay: Sequence[Sequence[GraphPanel]]) -> dict[str, Any]:
    """Return the frames of an animation and their shared data; no frames below two rounds."""
    if max(map(len, replay), default=0) < 2:
        return {"replay": []}
    return {
        "replay": [[replay_frame(panel) for panel in panels] for panels in replay],
        "ends": part.edges.tolist(),
        "styles": [style for _, style in sorted(edge_styles(look(dark)).items())],
        "ground": look(dark).ground,
        "inks": [class_color(int(label)) for label in part.labels],
    }


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
    """Return pyvis's copy of vis-network without the source map, which a browser would request."""
    import pyvis

    folder = Path(pyvis.__file__).parent / "lib"
    newest = max(folder.glob("vis-*"), key=lambda path: [int(part) for part in path.name[4:].split(".")])
    text = (newest / "vis-network.min.js").read_text(encoding="utf-8")
    return "\n".join(line for line in text.split("\n") if not line.startswith("//# sourceMappingURL"))


@cache
def _content_hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
