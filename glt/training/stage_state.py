"""What a stage of training can be stopped at and go on from: named arrays, and JSON about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Mismatch(Exception):
    """A saved state that does not belong to what it is restored into; the text says what differs."""


@dataclass(frozen=True, eq=False)
class StageState:
    """Everything that a stage's further epochs depend on. Arrays may be views: write or copy them before the next."""

    arrays: Mapping[str, Array]
    about: Mapping[str, Any]

    def copied(self) -> StageState:
        """Return the same with arrays of its own."""
        return StageState({name: values.copy() for name, values in self.arrays.items()}, self.about)


def named(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Put arrays under a prefix.

    >>> list(named("best", {"theta/w": np.zeros(1)}))
    ['best/theta/w']
    """
    return {f"{prefix}/{name}": values for name, values in arrays.items()}


def under(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return what `named` put under a prefix.

    >>> list(under("best", {"best/theta/w": np.zeros(1), "last/theta/w": np.zeros(1)}))
    ['theta/w']
    """
    start = f"{prefix}/"
    return {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}


def part(name: str, shape: tuple[int, ...], arrays: Mapping[str, Array], dtype: type = np.float32) -> Array:
    """Return an array of this shape and type; raises Mismatch when there is none."""
    found = arrays.get(name)
    if found is None or found.shape != shape or found.dtype != dtype:
        held = "none" if found is None else f"{found.dtype} {found.shape}"
        raise Mismatch(f"{name} is {held}, {np.dtype(dtype)} {shape} belongs there")
    return found


def generator_words(generator: np.random.Generator) -> dict[str, Any]:
    """Return the state of an SFC64 generator as values for JSON; its words, which need 64 bits, as strings."""
    state: Mapping[str, Any] = generator.bit_generator.state
    words = [str(int(word)) for word in state["state"]["state"]]
    return {"kind": state["bit_generator"], "words": words, "spare": [state["has_uint32"], state["uinteger"]]}


def restore_generator(generator: np.random.Generator, told: Any) -> None:
    """Take up what `generator_words` told; raises Mismatch for anything else.

    >>> first, second = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
    >>> restore_generator(second, generator_words(first))
    >>> first.random() == second.random()
    True
    """
    try:
        words = np.array([int(word) for word in told["words"]], dtype=np.uint64)
        has_spare, spare = told["spare"]
        known = {"bit_generator": told["kind"], "state": {"state": words}, "has_uint32": has_spare, "uinteger": spare}
        if words.shape != (4,):
            raise ValueError(f"{words.size} words")
        generator.bit_generator.state = known
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Mismatch(f"no state of a generator ({error})") from None
