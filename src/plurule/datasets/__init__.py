"""Data sets that come with the package."""

from plurule.datasets.embedded import load_canteen_dishes, load_world_flags

__all__ = ["load_canteen_dishes", "load_world_flags"]
