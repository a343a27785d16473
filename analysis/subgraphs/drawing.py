"""A panel as pyvis nodes and edges: fixed positions, colour by class, size by degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.subgraphs.class_colors import class_color, class_shape
from analysis.subgraphs.panel import Panel
from analysis.subgraphs.subgraph import BACKWARD, BOTH, FORWARD, REMOVED

PIXELS_PER_UNIT = 44
SMALLEST, LARGEST = 5.0, 22.0
MANY_EDGES = 1500
# How an edge is drawn: its state, or this for one that went in the very round shown.
JUST_REMOVED = 4

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


def network_data(panel: Panel, dark: bool) -> dict[str, Any]:
    """Return nodes, edges and options of vis-network as plain JSON values, by way of pyvis.

    The lists are set directly, because `add_edge` looks through all edges for each one.
    """
    from pyvis.network import Network

    network = Network()
    network.nodes = _nodes(panel, look(dark))
    network.edges = _edges(panel, look(dark))
    network.options = _options(panel)
    return {"nodes": network.nodes, "edges": network.edges, "options": network.options}


def replay_frame(panel: Panel) -> dict[str, Any]:
    """Return what an animation changes from round to round: title, captions, edge looks (a digit an edge), nodes."""
    return {
        "title": panel.title,
        "caption": panel.caption,
        "looks": "".join(map(str, edge_looks(panel).tolist())),
        "sizes": _sizes(panel),
        "lonely": np.flatnonzero(panel.degrees == 0).tolist(),
    }


def edge_looks(panel: Panel) -> NDArray[np.uint8]:
    """Return [m] how each edge is drawn: its state, or JUST_REMOVED."""
    return np.where(panel.fresh, np.uint8(JUST_REMOVED), panel.states)


def edge_styles(tone: Look) -> dict[int, dict[str, Any]]:
    """Return what vis-network needs to draw each look of an edge; every style sets the same options."""
    one_way = {"arrows": "middle", "dashes": False, "width": 1.1, "color": {"color": tone.kept, "opacity": 0.6}}
    gone = {"arrows": "", "dashes": [2, 6], "width": 1.2, "color": {"color": tone.removed, "opacity": 0.45}}
    return {
        REMOVED: gone,
        FORWARD: one_way,
        BACKWARD: one_way,
        BOTH: {"arrows": "", "dashes": False, "width": 1.5, "color": {"color": tone.kept, "opacity": 0.8}},
        JUST_REMOVED: {**gone, "dashes": [9, 5], "width": 2.6, "color": {"color": tone.removed, "opacity": 1}},
    }


def _nodes(panel: Panel, tone: Look) -> Items:
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


def _sizes(panel: Panel) -> list[float]:
    """Return radii in pixels: the area grows with the degree in the whole graph under this panel's mask.

    The largest node of the unpruned graph sets the scale, so that a node that loses edges shrinks.
    """
    most = max(1, int(panel.full_degrees.max(initial=0)))
    sizes: list[float] = (SMALLEST + (LARGEST - SMALLEST) * np.sqrt(panel.degrees / most)).round(1).tolist()
    return sizes


def _describe(panel: Panel, node: int) -> str:
    name, index = panel.subgraph.names[node], str(panel.subgraph.nodes[node])
    before, after = int(panel.full_degrees[node]), int(panel.degrees[node])
    degree = f"degree {before}" if before == after else f"degree {before}, {after} left"
    return f"Node {name}{'' if name == index else f' (index {index})'}\n{panel.subgraph.class_name(node)}\n{degree}"


def _edges(panel: Panel, tone: Look) -> Items:
    """List removed edges first, so that they are drawn below the others; an arrow points where the message goes."""
    styles = {look: _set_only(style) for look, style in edge_styles(tone).items()}
    order = np.argsort(panel.states != REMOVED, kind="stable")
    states, looks = panel.states[order], edge_looks(panel)[order].tolist()
    ends = panel.subgraph.edges[:, order]
    source, target = np.where(states == BACKWARD, ends[::-1], ends).tolist()
    return [
        {"id": i, "from": a, "to": b, "removed": look in (REMOVED, JUST_REMOVED), **styles[look]}
        for i, a, b, look in zip(order.tolist(), source, target, looks, strict=True)
    ]


def _set_only(style: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is off anyway: a document has thousands of edges."""
    return {option: value for option, value in style.items() if value}


def _options(panel: Panel) -> dict[str, Any]:
    return {
        "physics": {"enabled": False},
        "layout": {"improvedLayout": False},
        "nodes": {"shadow": False, "chosen": False},
        "edges": {
            "smooth": False,
            "chosen": False,
            "arrows": {"middle": {"scaleFactor": 0.35}},
        },
        "interaction": {
            "hover": True,
            "dragNodes": False,
            "selectConnectedEdges": False,
            "hoverConnectedEdges": False,
            "tooltipDelay": 120,
            "hideEdgesOnDrag": panel.states.size > MANY_EDGES,
        },
    }
