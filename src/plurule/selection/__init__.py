"""Training on folds, and choosing by what comes out: one engine for lengths, parameters and the paper's lifts."""

from typing import TYPE_CHECKING

from plurule._lazy import attach

if TYPE_CHECKING:
    from plurule.selection.journal import Journal, JournalError
    from plurule.selection.splitters import MulanKFold

__all__ = ["Journal", "JournalError", "MulanKFold"]

# A fit needs no splitter, and scikit-learn's take long to import.
__getattr__ = attach(
    __name__,
    {
        "Journal": "plurule.selection.journal",
        "JournalError": "plurule.selection.journal",
        "MulanKFold": "plurule.selection.splitters",
    },
)
