"""What a column of the data is called and which values it can take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: numeric, or nominal with its categories in their order.

    >>> Attribute("area").is_nominal
    False
    >>> Attribute("continent", ("Africa", "Asia")).is_nominal
    True
    """

    name: str
    categories: tuple[str, ...] | None = None

    @property
    def is_nominal(self) -> bool:
        """Whether the attribute takes categories instead of numbers."""
        return self.categories is not None
