"""The four ways GraphCL changes a graph into a view of it (You et al. 2020, table 1); one file each."""

from glt.pretraining.augmentations.base import Augmentation, View
from glt.registry import Registry

AUGMENTATIONS: Registry[Augmentation] = Registry("augmentation", "glt.pretraining.augmentations")

__all__ = ["AUGMENTATIONS", "Augmentation", "View"]
