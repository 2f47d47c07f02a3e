"""Data that are in memory already: frames, arrays and sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from plurule.data.place import Place
from plurule.data.readers.raw import RawTable
from plurule.data.table import Table, encode


def from_memory(source: Any) -> RawTable:
    """All columns of a frame, array, sparse matrix or `Table`."""
    return RawTable(encode(source), Place(_kind(source)))


def _kind(source: Any) -> str:
    if isinstance(source, Table):
        return "table"
    if sp.issparse(source):
        return "sparse matrix"
    return "array" if isinstance(source, np.ndarray | list | tuple) else "frame"
