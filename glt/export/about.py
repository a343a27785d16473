"""What a ticket file says of itself in JSON: which network, which round of which run, its scores, where it is from."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from glt.config import EdgeMaskKind, RunConfig
from glt.store import RoundRecord

FORMAT = "GLT Studio ticket"
VERSION = 1


class Source(BaseModel):
    """The data set a ticket belongs to, and what was dropped when it was read; `hash` is of the whole data set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    source: str
    raw_rows: int
    duplicates_dropped: int
    self_loops_dropped: int
    hash: str | None


class About(BaseModel):
    """Everything in a ticket file that is not a tensor; a key that is not known here is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["GLT Studio ticket"] = "GLT Studio ticket"
    version: Literal[1] = 1
    run: str
    seed: int
    config: RunConfig
    edge_mask: EdgeMaskKind
    record: RoundRecord
    metric: str
    search_seconds: float
    data: Source
    class_names: tuple[str, ...]
    node_ids: tuple[str, ...] | None
    environment: dict[str, Any]
    written_by: dict[str, str]
