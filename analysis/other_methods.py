"""Methods of other publications: what each printed, and what our runs with its settings give.

`publications` lists them, `printed` their numbers for a data set and network, `config_of` the run that has a
publication's settings, `results_of` what such a run found, and `comparisons` both side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from analysis.statistics import deviation_of
from glt import formats
from glt.config import RunConfig
from glt.cost.search import SearchCost, search_cost
from glt.methods import METHODS
from glt.methods.base import SEARCH_EPOCHS
from glt.methods.fast_glt import TARGETS
from glt.presets import resolve
from glt.store import RoundRecord, Run
from glt.verdicts import DELTA, Verdict, half_width, judge, margin_words, paired_differences, sparsest_ticket

DATASETS = ("cora", "citeseer", "pubmed")
# Rounds shown in full, where a run has them; its last one is shown too.
SHOWN = (0, 1, 2, 4, 9, 13, 16)
# A round has a printed sparsity if it is this close to it: half of what the first round removes at a rate of 5 %.
ALIKE = 0.025
Kind = Literal["dense", "score", "weights", "edges", "kept weights", "kept edges"]
WORDS: dict[Kind, str] = {
    "dense": "Test accuracy, dense",
    "score": "Test accuracy, ticket",
    "weights": "Highest weight sparsity without loss",
    "edges": "Highest graph sparsity without loss",
    "kept weights": "Weights kept by the published target",
    "kept edges": "Edges kept by the published target",
}
ACE_TABLE = "the table of ACE-GLT (ECAI 2023)"


@dataclass(frozen=True)
class Publication:
    """A method, the preset with its settings, where it was published, and what it sets and claims in words."""

    method: str
    preset: str
    label: str
    reference: str
    settings: str
    claim: str = ""

    @property
    def key(self) -> str:
        """Name in tables of printed numbers."""
        return self.preset if self.preset != "published" else self.method


_ALL = (
    Publication(
        "teddy",
        "published",
        "TEDDY",
        "Seo et al., ICLR 2024, arXiv 2402.01261",
        "20 rounds of 5 % of the edges and 10 % of the weights, 512 hidden units, step size 0.01. The factor of "
        "distillation is 0.1, for Citeseer with a GIN 10. Here the teacher is the dense network at the first of its "
        "best epochs; the public code takes the last one.",
    ),
    Publication(
        "ugs",
        "early_bird",
        "Early bird (GEBT)",
        "You et al., AAAI 2022",
        "One search that ends when the binary masks have settled: after 9 to 22 of 100 epochs. Weights are inherited. "
        "Its criterion and epochs are set here; rates, rounds and penalties are those of UGS. The criterion does not "
        "tell settled masks from masks that have not moved yet.",
        "A ticket has the accuracy of the dense network or more in 8 of 9 pairs of network and data set.",
    ),
    Publication(
        "wd_glt",
        "published",
        "WD-GLT",
        "Hui et al., ICLR 2023",
        "UGS with the Wasserstein distance between classes in the loss of the search, weight 0.1; 5 % of the edges and "
        "10 or 20 % of the weights a round.",
    ),
    Publication(
        "ace_glt",
        "published",
        "ACE-GLT",
        "ECAI 2023, arXiv 2308.02916",
        "UGS with six exchanges between the ticket and its complement in each round; 5 % of the edges and 20 % of the "
        "weights a round.",
    ),
    Publication(
        "fast_glt",
        "published",
        "FastGLT",
        "AAAI 2025, arXiv 2412.07605",
        "One cut to the target after 30 epochs, then 400 epochs with exchanges of a falling share.",
        "The search is 1.7 to 44 times faster, and graph sparsity is 7.49 to 22.71 % higher.",
    ),
)


@dataclass(frozen=True)
class Printed:
    """A printed number, a fraction; None where the table has a dash, because no such ticket was found."""

    kind: Kind
    value: float | None
    source: str

    @property
    def label(self) -> str:
        """What the number is."""
        return WORDS[self.kind]

    @property
    def words(self) -> str:
        """The number as text."""
        if self.value is None:
            return "none found"
        return formats.percent(self.value, 2 if self.kind in ("weights", "edges") else 1)


# Two rows of numbers for the data sets; None: the table has a dash.
_Rows = Sequence[Sequence[float | None]]
_GEBT = "the table of GEBT (AAAI 2022)"
_FAST = "the read-me of FastGLT"
# By network: dense and early-bird accuracy on Cora, Citeseer, PubMed.
_EARLY_BIRD: Mapping[str, _Rows] = {
    "gcn": ((0.809, 0.694, 0.790), (0.811, 0.705, 0.785)),
    "gat": ((0.821, 0.721, 0.790), (0.822, 0.741, 0.798)),
    "gin": ((0.816, 0.709, 0.791), (0.824, 0.714, 0.797)),
}
# By network and method: highest sparsity without loss of weights, then of edges, on Cora, Citeseer, PubMed.
_HIGHEST: Mapping[tuple[str, str], _Rows] = {
    ("gcn", "early_bird"): ((0.5936, 0.4879, 0.8933), (None, 0.1426, 0.1373)),
    ("gcn", "ace_glt"): ((0.8964, 0.8391, 0.9721), (0.0984, 0.4042, 0.2266)),
    ("gin", "ace_glt"): ((0.9438, 0.9856, 0.9513), (0.3714, 0.3697, 0.3020)),
    ("gat", "early_bird"): ((0.8417, 0.8662, 0.9454), (0.4040, 0.1426, 0.4631)),
    ("gat", "ace_glt"): ((0.9337, 0.9315, 0.9776), (0.4631, 0.4972, 0.5858)),
}


def publications() -> list[Publication]:
    """Return the publications whose methods this version has.

    >>> [each.label for each in publications()][:2]
    ['TEDDY', 'Early bird (GEBT)']
    """
    return [each for each in _ALL if each.method in METHODS.names()]


def printed(publication: Publication, dataset: str, model: str) -> list[Printed]:
    """Return the printed numbers of a method on a data set with a network; [] where none are known here.

    >>> [(each.kind, each.words) for each in printed(publications()[1], "cora", "gcn")]
    [('dense', '80.9 %'), ('score', '81.1 %'), ('weights', '59.36 %'), ('edges', 'none found')]
    """
    if dataset not in DATASETS:
        return []
    place, found = DATASETS.index(dataset), list[Printed]()
    pairs: tuple[tuple[tuple[Kind, Kind], _Rows, str], ...] = (
        (("dense", "score"), _EARLY_BIRD.get(model, ()) if publication.key == "early_bird" else (), _GEBT),
        (("weights", "edges"), _HIGHEST.get((model, publication.key), ()), ACE_TABLE),
    )
    for kinds, rows, source in pairs:
        found += [Printed(kind, row[place], source) for kind, row in zip(kinds, rows, strict=bool(rows))]
    if publication.method == "fast_glt":
        kept_edges, kept_weights = TARGETS.get((model, dataset), (None, None))
        kept: tuple[tuple[Kind, float | None], ...] = (("kept weights", kept_weights), ("kept edges", kept_edges))
        found += [Printed(kind, share, _FAST) for kind, share in kept if share is not None]
    return found


def config_of(publication: Publication, dataset: str, model: str) -> RunConfig:
    """Return the config with a publication's settings."""
    return resolve({"dataset": dataset, "model": model, "method": publication.method}, publication.preset)


def command(publication: Publication, dataset: str, model: str, seeds: Sequence[int]) -> str:
    """Return the command that computes the run of a publication's settings."""
    names = ("--dataset", dataset, "--model", model, "--method", publication.method, "--preset", publication.preset)
    return formats.as_typed("run", *names, "--seeds", ",".join(map(str, seeds)))


@dataclass(frozen=True)
class RoundResult:
    """A round over seeds: mean test score with the half-width of its interval, sparsities, and the verdict.

    The verdict compares it with the dense network of the same seeds; None for round 0.
    """

    round: int
    seeds: tuple[int, ...]
    graph_sparsity: float
    weight_sparsity: float
    score: float
    half: float
    verdict: Verdict | None

    @property
    def score_words(self) -> str:
        """The mean with its interval."""
        return formats.percent_interval(self.score, self.half)

    @property
    def difference_words(self) -> str:
        """The paired difference from round 0 with its 95% interval."""
        if self.verdict is None:
            return formats.MISSING
        half = half_width(self.verdict.deviation, self.verdict.seeds)
        return formats.points_interval(self.verdict.mean, float(half))


@dataclass(frozen=True)
class Results:
    """What a run found: its rounds, the cost of every seed to its last round, and where searches ended early."""

    rounds: tuple[RoundResult, ...]
    costs: tuple[SearchCost, ...]
    dense_epochs: int
    searches: tuple[int, ...] = ()

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of round 0."""
        return self.rounds[0].seeds if self.rounds else ()

    @property
    def shown(self) -> list[RoundResult]:
        """The rounds that tables show."""
        return [each for each in self.rounds if each.round in SHOWN or each is self.rounds[-1]]

    def sentence(self) -> str:
        """Return what the rounds show about loss of accuracy, as a statistical statement."""
        pruned = [(each, each.verdict) for each in self.rounds if each.verdict is not None]
        if not pruned:
            return "Only the dense round is finished."
        sparsities = [(each.graph_sparsity, each.weight_sparsity) for each, _ in pruned]
        best = sparsest_ticket([verdict for _, verdict in pruned], sparsities)
        if best is not None:
            found, verdict = pruned[best]
            return f"The sparsest ticket is round {found.round}. {verdict.sentence()}"
        lost = [each.round for each, verdict in pruned if verdict.word == "no ticket"]
        several = len(lost) > 1
        rest = f"; round{'s' * several} {formats.spans(lost)} {'are' if several else 'is'} shown to lose more"
        seeds = formats.number_of(len(self.seeds), "seed")
        less = f"No round is shown to lose less than {margin_words(DELTA)} against the dense network with {seeds}"
        return f"{less}{rest if lost else ''}."

    def cost_words(self) -> str:
        """Return the mean epochs and time of a seed, dense training included."""
        epochs = sum(cost.epochs for cost in self.costs) / len(self.costs)
        cpu = [cost.most_cpu_seconds for cost in self.costs if cost.most_cpu_seconds is not None]
        on_cpu = len(cpu) == len(self.costs)
        seconds = sum(cpu if on_cpu else [cost.seconds for cost in self.costs]) / len(self.costs)
        searched = ""
        if self.searches:
            low, high = min(self.searches), max(self.searches)
            span = f"{low}" if low == high else f"{low} to {high}"
            searched = f" Searches ended after {span} epochs."
        spent = f"at most {formats.duration(seconds)} of CPU time" if on_cpu else formats.duration(seconds)
        dense = f"{formats.count(self.dense_epochs)} epochs of dense training included"
        return f"Cost of a seed: {formats.count(round(epochs))} epochs and {spent}, {dense}.{searched}"


def results_of(run: Run) -> Results:
    """Return what a run's finished rounds show; all its pruned rounds are one family of tests."""
    by_seed = {seed: {record.round: record for record in run.seed(seed).rounds()} for seed in run.seeds()}
    by_seed = {seed: records for seed, records in by_seed.items() if records}
    if not by_seed:
        return Results((), (), run.config.retrain_epochs)
    numbers = sorted(set().union(*by_seed.values()))
    at = {number: {seed: rounds[number] for seed, rounds in by_seed.items() if number in rounds} for number in numbers}
    scores = {number: {seed: record.test for seed, record in records.items()} for number, records in at.items()}
    paired = [paired_differences(scores[number], scores[0]) for number in numbers[1:]]
    judged = judge([each.differences for each in paired], left_out=[len(each.left_out) for each in paired])
    rounds = [_result(number, at[number], verdict) for number, verdict in zip(numbers, [None, *judged], strict=True)]
    ends = (record.notes.get(SEARCH_EPOCHS) for records in by_seed.values() for record in records.values())
    costs = tuple(search_cost(run.seed(seed), max(records)) for seed, records in by_seed.items())
    return Results(tuple(rounds), costs, run.config.retrain_epochs, tuple(end for end in ends if isinstance(end, int)))


def _result(number: int, records: Mapping[int, RoundRecord], verdict: Verdict | None) -> RoundResult:
    scores = [record.test for record in records.values()]
    # Counts are exact, so sparsities are those of every seed.
    first = next(iter(records.values()))
    return RoundResult(
        number,
        tuple(sorted(records)),
        first.graph_sparsity,
        first.weight_sparsity,
        sum(scores) / len(scores),
        float(half_width(deviation_of(scores), len(scores))),
        verdict,
    )


@dataclass(frozen=True)
class Compared:
    """A printed number beside ours, and what a test says about it."""

    printed: Printed
    ours: str
    result: str
    fails: bool = False


def compared(number: Printed, results: Results | None) -> Compared:
    """Return a printed number beside our results.

    A claim of no loss at a sparsity is judged at our round of that sparsity, within ALIKE.
    """
    if results is None or not results.rounds:
        return Compared(number, "not run here", formats.MISSING)
    if number.kind == "dense":
        return Compared(number, results.rounds[0].score_words, formats.MISSING)
    if number.kind == "score" or number.value is None:
        return Compared(number, "rounds below", "no sparsity to match")
    wanted = 1 - number.value if number.kind.startswith("kept") else number.value
    name = "graph_sparsity" if number.kind.endswith("edges") else "weight_sparsity"
    sparsities = {each.round: getattr(each, name) for each in results.rounds}
    nearest = min(results.rounds, key=lambda each: abs(sparsities[each.round] - wanted))
    sparsity = sparsities[nearest.round]
    ours = f"round {nearest.round} ({formats.percent(sparsity)}): {nearest.difference_words}"
    if abs(sparsity - wanted) > ALIKE or nearest.verdict is None:
        return Compared(number, ours, "no round at this sparsity")
    return Compared(number, ours, nearest.verdict.headline(), nearest.verdict.word == "no ticket")
