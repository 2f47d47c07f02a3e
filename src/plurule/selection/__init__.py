"""Training on folds, and choosing by what comes out: one engine for lengths, parameters and the paper's lifts."""

from plurule.selection.journal import Journal, JournalError
from plurule.selection.splitters import MulanKFold

__all__ = ["Journal", "JournalError", "MulanKFold"]
