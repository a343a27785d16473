"""Typed records of the run folder's JSON lines and status."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AllowInfNan,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from glt.config import Note
from glt.masks import Masks

State = Literal["queued", "running", "stopped", "done", "failed", "lost"]
MacConvention = Literal["dense_features", "sparse_features", "published"]
MAC_CONVENTIONS: tuple[MacConvention, ...] = get_args(MacConvention)
LARGEST_NUMBER = 2**63 - 1
# What systems number their processes with.
Pid = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Record(BaseModel):
    """A frozen row; unknown keys are refused, so that damaged lines are noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RoundRecord(Record):
    """One finished round; sparsities, kept edges and scores are fractions, MACs are counts."""

    round: int = Field(ge=0)
    graph_sparsity: float
    weight_sparsity: float
    edges_kept_either_way: float
    edges_kept_both_ways: float
    val: float
    test: float
    test_last: float
    best_epoch: int
    seconds: float
    macs: dict[MacConvention, int]
    notes: dict[str, Note] = Field(default_factory=dict)

    @model_serializer(mode="wrap")
    def _without_empty_notes(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = dump(self)
        return fields if fields.get("notes") else {name: value for name, value in fields.items() if name != "notes"}

    @property
    def is_bounded(self) -> bool:
        """Whether every number fits into 64 bits."""
        noted = [part for note in self.notes.values() for part in (note if isinstance(note, list) else [note])]
        values = (*vars(self).values(), *self.macs.values(), *noted)
        return all(abs(value) <= LARGEST_NUMBER for value in values if isinstance(value, int | float))

    @classmethod
    def of(cls, round: int, masks: Masks, **measured: Any) -> RoundRecord:
        """Make the record of a round from its masks and what was `measured`, by field name."""
        edges = masks.edges
        num_edges = max(edges.num_edges, 1)
        return cls(
            round=round,
            graph_sparsity=edges.sparsity,
            weight_sparsity=masks.weights.sparsity,
            edges_kept_either_way=int(edges.either_way().sum()) / num_edges,
            edges_kept_both_ways=int(edges.both_ways().sum()) / num_edges,
            **measured,
        )


class Event(Record):
    """One epoch of one stage of one round."""

    round: int
    stage: str
    epoch: int
    loss: Annotated[float, AllowInfNan()] | None
    val: float
    test: float


def round_of_event(line: bytes) -> int | None:
    """Return the round of a line of events.jsonl, None for a damaged line."""
    try:
        return Event.model_validate_json(line).round
    except ValidationError:
        return None


class Epoch(Record):
    """One epoch of a pre-training."""

    epoch: int
    loss: float


class Progress(Record):
    """Where a worker is, and the fraction of the whole seed that is done."""

    round: int
    rounds: int
    stage: str
    epoch: int
    epochs: int
    fraction: float
    seconds_left: float | None = None


class Status(Record):
    """State of one seed's worker; "lost" is never written but concluded from a dead process."""

    state: State
    seed: int
    pid: Pid | None = None
    process_started: float | None = None
    process_mark: str | None = None
    host: str = ""
    heartbeat: float = 0.0
    queued_at: float = 0.0
    running_since: float = 0.0
    threads: int = 1
    progress: Progress | None = None
    error: str | None = None
