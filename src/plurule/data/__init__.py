"""Reading and writing data sets: ARFF (Mulan, MEKA), CSV, Parquet, frames and arrays."""

from plurule.io.dataset import Dataset, DataWarning, concatenate
from plurule.io.memory import to_frame
from plurule.io.reading import read, read_pair, read_table
from plurule.io.writing import convert, write

__all__ = ["DataWarning", "Dataset", "concatenate", "convert", "read", "read_pair", "read_table", "to_frame", "write"]
