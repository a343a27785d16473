"""What became of a message along an edge, in one plain sentence."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from analysis import names, palette
from glt import formats
from glt.data import Graph
from glt.methods.base import Cause

CAUSE_WORDS: dict[Cause, str] = {
    "gradient": "The training loss of the search depended on its mask.",
    "no gradient": "The training loss of the search did not depend on its mask, so its rank is the noise of the start.",
    "score": "Its score was among the lowest.",
    "random": "It was drawn.",
    "solver": "The solver set it to zero.",
}


@dataclass(frozen=True)
class Way:
    """One direction of an edge: who sends to whom, the round in which it went (0: it survives), and what decided it."""

    sender: str
    receiver: str
    gone: int
    cause: Cause | None = None


def fate_sentence(way: Way, shown: int, last: int, scores: pd.DataFrame, cut: int, about: bool = False) -> str:
    """Say what became of a direction up to round `last`, seen from the round `shown`, and how it scored.

    `scores` are the rows of `score_table` about this direction, `cut` is how many entries the deciding round cut;
    `about` says that ranks are rough.
    """
    what = f"The message from {way.sender} to {way.receiver} "
    if way.gone == 0:
        told = f"survives all {last} rounds"
    elif way.gone > shown:
        told = f"is still there in round {shown} and goes in round {way.gone}"
    else:
        told = f"went in round {way.gone}"
    decided = scores[scores["round"] == (way.gone or last)]
    sentence = what + told + (_by_score(decided.iloc[0], cut, about) if len(decided) else "") + "."
    return f"{sentence} {cause_sentence(way.cause)}".rstrip() if way.gone else sentence


def cause_sentence(cause: Cause | None) -> str:
    """Say what decided that an entry was removed; "" where that is not known.

    >>> cause_sentence("random")
    'Cause: random. It was drawn.'
    """
    return f"Cause: {cause}. {CAUSE_WORDS[cause]}" if cause else ""


def _by_score(row: pd.Series, cut: int, about: bool) -> str:
    roughly = "about " if about else ""
    below, equal, entries = (formats.count(row[name]) for name in ("below", "equal", "entries"))
    where = "" if row["cut"] else f" in round {row['round']}"
    # A stored rank stands for 1 in 256 entries; equals that are hardly more tell nothing.
    several = row["equal"] > (row["entries"] / 100 if about else 1)
    same = f", {roughly}{equal} the same as far as the stored scores tell," if several else ""
    return (
        f": {roughly}{below} of the {entries} entries up for decision{where} scored lower{same} and the lowest "
        f"{formats.count(cut)} were cut"
    )


def no_classes(graph: Graph) -> str:
    """Say that a graph without classes has no losses by class."""
    return f"{names.dataset(graph.name)} has no classes: what is told by class is left out."


def no_scores(method: str) -> str:
    """Say why a method has no score to show."""
    label = palette.label(method)
    if method == "random":
        return f"{label} draws what it removes: no score decided, and which edge went says nothing about the edge."
    return f"{label} keeps no scores of edges: only the rounds in which they went are known."
