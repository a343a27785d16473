"""The run folder: the only place that knows names on disk; stores, runs, seeds, and how they are written safely."""

from glt.store.annotations import COLORS as COLORS
from glt.store.annotations import Annotation as Annotation
from glt.store.annotations import Annotations as Annotations
from glt.store.checkpoint import Checkpoint as Checkpoint
from glt.store.examples import bundled_examples as bundled_examples
from glt.store.naming import run_name as run_name
from glt.store.opening import KnownRun as KnownRun
from glt.store.pretraining import FirstLayer as FirstLayer
from glt.store.pretraining import Pretraining as Pretraining
from glt.store.pretraining import PretrainingSeed as PretrainingSeed
from glt.store.records import MAC_CONVENTIONS as MAC_CONVENTIONS
from glt.store.records import Epoch as Epoch
from glt.store.records import Event as Event
from glt.store.records import MacConvention as MacConvention
from glt.store.records import Progress as Progress
from glt.store.records import RoundRecord as RoundRecord
from glt.store.records import State as State
from glt.store.records import Status as Status
from glt.store.run import Run as Run
from glt.store.run import finished_rounds as finished_rounds
from glt.store.run_folder import AnyRun as AnyRun
from glt.store.run_folder import annotations_of as annotations_of
from glt.store.run_folder import folder_size as folder_size
from glt.store.seed import SeedRun as SeedRun
from glt.store.seed_folder import SeedFolder as SeedFolder
from glt.store.store import Store as Store
