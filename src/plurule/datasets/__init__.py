"""Data sets that come with the package."""

from plurule.datasets.world_flags import load_world_flags

__all__ = ["load_world_flags"]
