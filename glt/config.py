"""RunConfig: everything that determines a result, except the seed and the number of threads; and its JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from glt.errors import ConfigError, brief, quoted, unknown_name

EdgeMaskKind = Literal["directed", "undirected"]
DegreeKind = Literal["source", "target", "both", "fixed"]
Activation = Literal["relu", "none"]
OptionValue = bool | int | float | str
# A method's note in a round's record.
Note = bool | int | float | str | list[float]
Options = TypeVar("Options", bound=BaseModel)

Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
PruneRate = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
# Larger values are probably typing errors; a worker would fail only after hours of allocation.
Width = Annotated[int, Field(ge=1, le=65_536)]
Rounds = Annotated[int, Field(ge=1, le=1_000)]
Epochs = Annotated[int, Field(ge=1, le=1_000_000)]


@dataclass(frozen=True)
class AbsentMeans:
    """Marks a newer option: absence means this value, and this value is not stored.

    Older runs keep their names and open with the value that made them, which may differ from the default.
    """

    value: bool | int | float | str


class RunConfig(BaseModel):
    """The settings of a run; field names are those of the command line's `--set`.

    `options` are the settings of the chosen method, model and task, filled and checked by `glt.presets.resolve`. Rates
    are shares of what remains (paper, Algorithm 1); gammas multiply sums over a mask's values (paper, equation 3).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str = Field("cora", description="Data set")
    task: str = Field("node", description="Prediction task")
    model: str = Field("gcn", description="Network architecture")
    method: str = Field("ugs", description="Pruning method")
    edge_mask: EdgeMaskKind = Field(
        "directed", description="directed: one mask value per direction; undirected: one per edge"
    )
    degree: DegreeKind = Field(
        "source", description="Degree that normalises messages: entries at the source, the target, both, or fixed"
    )
    hidden: Width = Field(512, description="Width of hidden layers")
    layers: Annotated[int, Field(ge=2, le=1_000)] = Field(2, description="Number of layers")
    rounds: Rounds = Field(20, description="Pruning rounds after the dense round 0")
    epochs: Epochs = Field(200, description="Epochs of a search stage")
    retrain_epochs: Epochs = Field(200, description="Epochs of a retraining stage")
    learning_rate: Positive = Field(0.01, description="Adam step size")
    weight_decay: NonNegative = Field(5e-4, description="L2 penalty inside Adam")
    gamma_graph: NonNegative = Field(1e-2, description="L1 penalty on the edge mask")
    gamma_weight: NonNegative = Field(1e-2, description="L1 penalty on the weight mask")
    p_graph: PruneRate = Field(0.05, description="Share of the remaining edge entries removed per round; 0 keeps all")
    p_weight: PruneRate = Field(0.2, description="Share of the remaining weights removed per round; 0 keeps all")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(0.5, description="Dropout on hidden layers")
    options: dict[str, OptionValue] = Field(default_factory=dict, description="Settings of the method, model or task")

    def canonical_json(self) -> str:
        """Return the config as JSON; equal configs give equal bytes."""
        return canonical_json(self.model_dump(mode="json"))


def options_of(values: Mapping[str, OptionValue], kind: type[Options]) -> Options:
    """Return the part of a config's `options` that belongs to one options model.

    Absent options get the value of their `AbsentMeans` mark, or their default.
    """
    marked = {name: mark.value for name, field in kind.model_fields.items() if (mark := absent_means(field))}
    return kind.model_validate(
        {**marked, **{name: value for name, value in values.items() if name in kind.model_fields}}
    )


def absent_means(field: FieldInfo) -> AbsentMeans | None:
    """Return an option's `AbsentMeans` mark, if any."""
    return next((mark for mark in field.metadata if isinstance(mark, AbsentMeans)), None)


class StartOptions(BaseModel):
    """The start of a run: a pre-training, or random (absent from the config)."""

    pretraining: str | None = Field(
        None, min_length=1, description="Pre-training run in this store for the first layer; empty = random start"
    )


def pretraining_of(config: RunConfig) -> str | None:
    """Return the name of the pre-training a run starts from; None for a random start."""
    return options_of(config.options, StartOptions).pretraining


CORE_FIELDS = tuple(name for name in RunConfig.model_fields if name != "options")


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and no spaces; NaN and infinities are refused.

    >>> canonical_json({"b": 1, "a": [0.5]})
    '{"a":[0.5],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def parse_json(text: bytes | str) -> Any:
    """Return the document in a JSON text; raises ValueError for anything else.

    Refused are NaN, infinities, numbers too large for a double or of thousands of digits, deep nesting, and names that
    occur twice in one object.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is not finite")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return document


def make_config(values: Mapping[str, Any]) -> RunConfig:
    """Build a RunConfig from plain values; raise ConfigError that names every bad field."""
    return checked(RunConfig, values, CORE_FIELDS)


def checked(kind: type[Options], values: Mapping[str, Any], known: Sequence[str]) -> Options:
    """Build a settings model from plain values; raise ConfigError that names every bad field."""
    unknown = [name for name in values if name not in kind.model_fields]
    faults = [unknown_name("setting", name, known) for name in unknown]
    try:
        made = kind(**{name: value for name, value in values.items() if name not in unknown})
    except ValidationError as error:
        raise ConfigError(*faults, *all_faults(error)) from None
    if faults:
        raise ConfigError(*faults)
    return made


# Replacements of pydantic's parsing messages.
WANTED = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "a whole number is needed"),
    **dict.fromkeys(("float_parsing", "float_type"), "a number is needed"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false is needed"),
}

# How pydantic names a bound that a number misses: our words, and where it keeps the bound.
BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("greater than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def all_faults(error: ValidationError) -> list[str]:
    """Return pydantic's errors as sentences, the first of each field."""
    fields = {fault["loc"][:1]: fault for fault in reversed(error.errors())}
    return [_fault(fault) for fault in reversed(fields.values())]


def _fault(fault: ErrorDetails) -> str:
    where = brief(".".join(str(part) for part in fault["loc"])) or "the configuration"
    if bound := BOUNDS.get(fault["type"]):
        words, name = bound
        limit = fault["ctx"][name]
        limit = int(limit) if int(limit) == limit else limit
        return f"{where} must be {words} {limit}, not {brief(str(fault['input']))}."
    what = WANTED.get(fault["type"]) or fault["msg"][0].lower() + fault["msg"][1:]
    return f"{where} cannot be {quoted(fault['input'])}: {brief(what)}."
