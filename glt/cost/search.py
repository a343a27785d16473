"""The cost of a search against what one inference of its round saves: after how many inferences it pays.

Dense training and all rounds up to the chosen one count. MACs follow from the records: an epoch counts as three forward
passes (one forward, and a backward pass of twice its operations) of the network that it trains. That of a retraining is
the round's own, that of a search the last round's, or the dense one where each round starts from it. In the exchanges
of ACE-GLT a ticket has the MACs of its round, a complement those that its ticket saves. Evaluations are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from glt.formats import count, duration, macs, percent
from glt.methods import METHODS
from glt.methods.ace_glt import COMPLEMENT, TICKET
from glt.methods.base import RETRAIN
from glt.store import MAC_CONVENTIONS, MacConvention, RoundRecord, SeedRun, sources_of

if TYPE_CHECKING:
    from glt.cost.latency import ExecutionName, LatencyReport

PASSES_OF_AN_EPOCH = 3
# What pruning alone makes faster: sparse features need no pruning.
BY_PRUNING: tuple[tuple[ExecutionName, ExecutionName], ...] = (
    ("edges_removed", "masked"),
    ("sparse", "sparse_features"),
)


@dataclass(frozen=True)
class SearchCost:
    """What it took to find a round, and the MACs of one inference, dense and pruned.

    `seconds` are those of the worker, on `threads` threads of `device`. `training_macs` estimate those of all epochs.
    `uncounted` names the runs that this one read.
    """

    round: int
    epochs: int
    seconds: float
    threads: int
    device: str
    training_macs: Mapping[MacConvention, int]
    dense_macs: Mapping[MacConvention, int]
    pruned_macs: Mapping[MacConvention, int]
    uncounted: tuple[str, ...] = ()

    @property
    def most_cpu_seconds(self) -> float | None:
        """Seconds times threads, which CPU time cannot exceed; None for a run on another device."""
        return self.seconds * self.threads if self.device.startswith("cpu") else None

    def pays_after(self, convention: MacConvention = "dense_features") -> int | None:
        """Return the inferences whose saved MACs equal those of the search; None if an inference saves none."""
        saved = self.dense_macs[convention] - self.pruned_macs[convention]
        return inferences(self.training_macs[convention], saved)

    def as_json(self) -> dict[str, Any]:
        """Return the entry `search` of `glt cost --json`."""
        pays = {convention: self.pays_after(convention) for convention in self.training_macs}
        return {**asdict(self), "most_cpu_seconds": self.most_cpu_seconds, "pays_after": pays}

    def words(self, convention: MacConvention = "dense_features") -> str:
        """Return cost and payback by MACs in two sentences."""
        most = self.most_cpu_seconds
        spent = duration(self.seconds) if most is None else f"at most {duration(most)} of CPU time"
        training, dense, pruned = (each[convention] for each in (self.training_macs, self.dense_macs, self.pruned_macs))
        found = f"Dense training and {'rounds 1 to ' if self.round > 1 else 'round '}{self.round}"
        took = f"{found} took {count(self.epochs)} epochs, {spent} and about {macs(training)} MACs."
        pays = self.pays_after(convention)
        if pays is None:
            saves = "One inference saves no MACs, so by MACs the search never pays."
        else:
            share = percent(1 - pruned / dense)
            saved = f"One inference saves {macs(dense - pruned)} MACs ({share})"
            saves = f"{saved}: it pays after {count(pays)} inferences."
        more = f" Not counted: {' and '.join(self.uncounted)}, which this run reads." if self.uncounted else ""
        return f"{took} {saves}{more}"


def search_cost(seed_run: SeedRun, round: int) -> SearchCost:
    """Return the cost of finding a round, dense training and all rounds before included; raises StoreError."""
    seed_run.record(round)
    records, known = seed_run.rounds()[: round + 1], seed_run.known_environment()
    # Older records lack a convention.
    counted = [name for name in MAC_CONVENTIONS if all(name in record.macs for record in records)]
    epochs, training = 0, dict.fromkeys(counted, 0)
    starts_whole = METHODS.get(seed_run.config.method).starts_whole(seed_run.config)
    for record in records:
        found = seed_run.event_file.epochs(record.round)
        searched = records[0 if starts_whole else max(record.round - 1, 0)]
        for number, stage in enumerate(found.stages):
            # Of examples only the tenth epochs are kept, and the last.
            of_stage = int(found.epoch[found.stage == number].max()) + 1
            epochs += of_stage
            for convention in counted:
                macs_of_pass = _macs_of_pass(stage, record, searched, records[0], convention)
                training[convention] += PASSES_OF_AN_EPOCH * of_stage * macs_of_pass
    threads = known.get("threads")
    return SearchCost(
        round=round,
        epochs=epochs,
        seconds=sum(record.seconds for record in records),
        threads=threads if isinstance(threads, int) else 1,
        device=str(known.get("device", "cpu")),
        training_macs=training,
        dense_macs=dict(records[0].macs),
        pruned_macs=dict(records[-1].macs),
        uncounted=tuple(sources_of(seed_run.config)),
    )


def _macs_of_pass(
    stage: str, record: RoundRecord, searched: RoundRecord, dense: RoundRecord, convention: MacConvention
) -> int:
    """Return the MACs of the network that a stage of a round trains."""
    if stage.startswith(COMPLEMENT):
        return dense.macs[convention] - record.macs[convention]
    trained = record if stage == RETRAIN or stage.startswith(TICKET) else searched
    return trained.macs[convention]


def inferences(cost: float, saved: float) -> int | None:
    """Return after how many inferences that each save `saved` a `cost` is reached; None if they save nothing.

    >>> inferences(10, 4), inferences(10, 0), inferences(10, -1)
    (3, None, None)
    """
    return math.ceil(cost / saved) if saved > 0 else None


@dataclass(frozen=True)
class MeasuredPayback:
    """By measured time: the seconds that an inference saves, and after how many the seconds of the search are reached.

    Both are None where no interval shows a speed-up by pruning.
    """

    saved_seconds: float | None
    pays_after: int | None

    @classmethod
    def of(cls, seconds: float, report: LatencyReport) -> MeasuredPayback:
        """Compare the seconds of a search with the largest measured saving whose intervals do not overlap."""
        medians = {row.name: row.median for row in report.executions}
        saved = [
            medians[each.against] - medians[each.name]
            for each in report.compared
            if each.verdict == "faster" and (each.name, each.against) in BY_PRUNING
        ]
        if not saved:
            return cls(None, None)
        return cls(max(saved), inferences(seconds, max(saved)))

    def words(self) -> str:
        """Return the payback as a sentence."""
        if self.saved_seconds is None or self.pays_after is None:
            return "Pruning gives no measured speed-up here, so by measured time the search never pays."
        saved, after = duration(self.saved_seconds), f"{count(self.pays_after)} inferences"
        return f"An inference is {saved} faster by pruning: by measured time the search pays after {after}."
