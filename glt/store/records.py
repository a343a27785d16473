"""What the run folder's JSON lines and status hold, as typed records."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AllowInfNan, BaseModel, ConfigDict, Field, ValidationError

from glt.masks import Masks

State = Literal["queued", "running", "stopped", "done", "failed", "lost"]
MacConvention = Literal["dense_features", "sparse_features", "published"]
MAC_CONVENTIONS: tuple[MacConvention, ...] = ("dense_features", "sparse_features", "published")
MOST = 2**63 - 1
# What systems number their processes with.
Pid = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Record(BaseModel):
    """A frozen row of the run folder; unknown keys are refused, so a damaged line is noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RoundRecord(Record):
    """One finished round; sparsities, kept edges and accuracies are fractions, MACs plain counts."""

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

    @property
    def is_bounded(self) -> bool:
        """Whether every number is one that 64 bits hold: no run counts or lasts further."""
        numbers = [value for value in vars(self).values() if isinstance(value, int | float)]
        return all(abs(number) <= MOST for number in (*numbers, *self.macs.values()))

    @classmethod
    def of(cls, round_: int, masks: Masks, **measured: Any) -> RoundRecord:
        """Make the record of a round: what masks say is counted here, what was `measured` is given by field name."""
        edges = masks.edges
        num_edges = max(edges.num_edges, 1)
        return cls(
            round=round_,
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
    """Return the round of a line of events.jsonl, None for a line that is damaged."""
    try:
        return Event.model_validate_json(line).round
    except ValidationError:
        return None


class Epoch(Record):
    """One epoch of a pre-training."""

    epoch: int
    loss: float


class Progress(Record):
    """Where a worker is: the stage it computes and the share of the whole seed that is done.

    What has no rounds, a pre-training, is at round 0 of 0.
    """

    round: int
    rounds: int
    stage: str
    epoch: int
    epochs: int
    fraction: float
    seconds_left: float | None = None


class Status(Record):
    """State of one seed's worker; "lost" is never written, it is concluded from a dead process."""

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
