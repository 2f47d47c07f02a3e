"""Data sets that come with the package."""

from plurule.datasets.canteen_dishes import load_canteen_dishes
from plurule.datasets.world_flags import load_world_flags

__all__ = ["load_canteen_dishes", "load_world_flags"]
