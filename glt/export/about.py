"""What a ticket file says of itself in JSON: which network, which round of which run, its scores, where it is from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from glt.config import EdgeMaskKind, RunConfig
from glt.store import RoundRecord

FORMAT = "GLT Studio ticket"
VERSION = 1
# Longer than any name a person gives; every node id takes as much room as the longest.
LONGEST_NAME = 256
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
# No table has more rows than 64 bits count.
Rows = Annotated[int, Field(ge=0, le=2**63 - 1)]
# Where a data set is from may be a path or an address.
Place = Annotated[str, Field(max_length=4096)]


class Source(BaseModel):
    """The data set a ticket belongs to, and what was dropped when it was read; `hash` is of the whole data set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    source: Place
    raw_rows: Rows
    duplicates_dropped: Rows
    self_loops_dropped: Rows
    hash: str | None


class About(BaseModel):
    """Everything in a ticket file that is not a tensor; a key that is not known here is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["GLT Studio ticket"] = "GLT Studio ticket"
    version: Literal[1] = 1
    run: Name
    seed: int
    config: RunConfig
    edge_mask: EdgeMaskKind
    record: RoundRecord
    metric: Name
    search_seconds: float
    data: Source
    class_names: tuple[Name, ...]
    node_ids: tuple[Name, ...] | None
    environment: dict[str, Any]
    written_by: dict[str, str]
