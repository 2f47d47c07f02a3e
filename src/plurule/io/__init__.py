"""Reading and writing data sets: ARFF (Mulan, MEKA), CSV, Parquet, frames and arrays."""

from plurule.io.dataset import Dataset, DataWarning, concatenate
from plurule.io.reading import read

__all__ = ["DataWarning", "Dataset", "concatenate", "read"]
