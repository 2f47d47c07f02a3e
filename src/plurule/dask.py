"""Data on a Dask cluster (`pip install 'plurule[dask]'`): the same model, whatever the workers and partitions."""

from plurule._rows.dask import scan

__all__ = ["scan"]
