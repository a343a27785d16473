"""Which runs of its store a run needs: the one whose masks it takes, the pre-training it starts from."""

from __future__ import annotations

from glt.config import RunConfig
from glt.methods import METHODS
from glt.pretraining.config import pretraining_of


def sources_of(config: RunConfig) -> list[str]:
    """Return the names of the runs that a run of this config needs, each once; none for most.

    >>> sources_of(RunConfig(options={"pretraining": "cora-node-gcn-graphcl-00000000"}))
    ['cora-node-gcn-graphcl-00000000']
    """
    named = (METHODS.get(config.method).reads(config), pretraining_of(config))
    return list(dict.fromkeys(name for name in named if name is not None))
