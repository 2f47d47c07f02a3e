"""All that experiments use of plurule besides its public interface: here alone, so that it is changed in one place."""

from __future__ import annotations

from plurule.data.inputs import encode
from plurule.data.targets import TargetForm, collected, dense, read_target

__all__ = ["TargetForm", "collected", "dense", "encode", "read_target"]
