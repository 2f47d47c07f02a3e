"""Training on a Dask cluster (`pip install 'plurule[dask]'`): the same model, whatever the workers and partitions."""

from plurule.distributed.dask_classifier import RuleListClassifier

__all__ = ["RuleListClassifier"]
