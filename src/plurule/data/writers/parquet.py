"""Parquet files, with pyarrow (the extra `parquet`): nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plurule.data.dataset import Dataset
from plurule.data.readers.parquet import KEY, pyarrow_for
from plurule.data.table import Column, SparseColumn
from plurule.data.writers.text import unused_name
from plurule.files import replacing
from plurule.label_matrix import dense
from plurule.model import Attribute

if TYPE_CHECKING:
    import pyarrow as pa

_CELLS_AT_ONCE = 1 << 22


def write_parquet(data: Dataset, path: Path) -> list[str]:
    """Write a data set; everything is kept. Returns notes on what was not."""
    pyarrow = pyarrow_for(path)
    names = [*data.attribute_names, *data.label_names]
    weights = None
    if data.weights is not None:
        weights = unused_name("weight", names)
        names.append(weights)
    about = {
        "relation": data.relation or data.name,
        "labels": list(data.label_names),
        "weights": weights,
        "categories": {a.name: list(a.categories) for a in data.attributes if a.categories is not None},
        "sparse": [a.name for a, c in zip(data.attributes, data.X.columns, strict=True) if isinstance(c, SparseColumn)],
    }
    fields = [pyarrow.field(a.name, _type(a, c)) for a, c in zip(data.attributes, data.X.columns, strict=True)]
    fields += [pyarrow.field(name, pyarrow.int8()) for name in data.label_names]
    if weights is not None:
        fields.append(pyarrow.field(weights, pyarrow.float64()))
    schema = pyarrow.schema(fields, metadata={KEY: json.dumps(about).encode()})
    rows_at_once = max(1, _CELLS_AT_ONCE // max(1, len(names)))
    with replacing(path) as temporary, pyarrow.parquet.ParquetWriter(temporary, schema) as writer:
        for start in range(0, max(1, len(data)), rows_at_once):
            writer.write_table(_slice(data, slice(start, start + rows_at_once), schema))
    return []


def _type(attribute: Attribute, column: Column) -> Any:
    import pyarrow

    if attribute.is_nominal:
        return pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    values = column.values if isinstance(column, SparseColumn) else column
    return pyarrow.float32() if values.dtype == np.float32 else pyarrow.float64()


def _slice(data: Dataset, rows: slice, schema: pa.Schema) -> pa.Table:
    import pyarrow

    part = data[rows]
    arrays: list[Any] = []
    for i, attribute in enumerate(part.attributes):
        values = part.X.column(i)
        if attribute.categories is None:
            arrays.append(pyarrow.array(values, mask=np.isnan(values)))
        else:
            indices = pyarrow.array(values, mask=values < 0)
            dictionary = pyarrow.array(list(attribute.categories), pyarrow.string())
            arrays.append(pyarrow.DictionaryArray.from_arrays(indices, dictionary))
    labels = dense(part.Y)
    arrays += [pyarrow.array(np.ascontiguousarray(labels[:, k])) for k in range(labels.shape[1])]
    if part.weights is not None:
        arrays.append(pyarrow.array(part.weights))
    return pyarrow.Table.from_arrays(arrays, schema=schema)
