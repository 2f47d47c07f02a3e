"""The learner on a Dask cluster, as users of other libraries on Dask expect it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from plurule import classifier
from plurule.data.labels import Labels
from plurule.distributed.cluster import check_versions, dask_library
from plurule.distributed.dask_data import dask_data
from plurule.errors import DataError
from plurule.learning.constraints import Constraints
from plurule.model import Rule, RuleList


class RuleListClassifier(classifier.RuleListClassifier):
    """Learns a rule list from partitions on a Dask cluster: the one that all rows together would give, bit by bit.

    Parameters are those of `plurule.RuleListClassifier`.

    Attributes
    ----------
    client
        The `distributed.Client` to use; None, unless set, for the current one.
    checkpoint
        A file in which every rule is kept as soon as it is learned, if set: a fit that was ended, by whatever, goes on
        from there with the same model.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> X = da.from_array(np.arange(400.0).reshape(-1, 1), chunks=(100, 1))
    >>> with Client(processes=False, dashboard_address=None):
    ...     model = RuleListClassifier(heuristic="f_measure", n_rules=1).fit(X, (X >= 250).astype(int))
    >>> print(model.rule_list_)
    y0 ← x0 >= 250   (TP 150, FP 0, stop)
    """

    client: Any = None
    checkpoint: Any = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        labels: Labels | None = None,
        label_names: Sequence[str] | None = None,
        initial_rules: RuleList | str | Iterable[Rule | str] = (),
        constraints: Constraints | None = None,
    ) -> Self:
        """Learn a rule list.

        Parameters
        ----------
        X
            A Dask array or frame, or a list of delayed partitions: of (X, Y), or of frames.
        y
            The labels, as a Dask array or frame that is partitioned as `X` is: 0 and 1, or columns of classes; left out
            if the partitions have their labels.
        sample_weight
            Weight of each row, as a Dask array or series partitioned as `X` is.
        labels
            Which columns of frames are labels, as for `plurule.read`, if there is no `y`.
        label_names, initial_rules, constraints
            As for `plurule.RuleListClassifier.fit`; names of labels are those of the columns.
        """
        if label_names is not None:
            raise DataError("label_names cannot be given for partitions; name the columns of y")
        client = self.client or dask_library("distributed").get_client()
        check_versions(client, client.scheduler.address)
        data = dask_data(client, X, y, sample_weight, labels)
        data.checkpoint = self.checkpoint
        return super().fit(data, initial_rules=initial_rules, constraints=constraints)

    def predict(self, X: Any, return_ids: bool = False) -> Any:
        """The labels of each row; lazy for a Dask array (as array) or frame (as frame)."""
        return self._lazily("predict", X, np.int64, return_ids)

    def predict_proba(self, X: Any, return_ids: bool = False) -> Any:
        """Per row and label, the probability that the label is present; lazy as `predict` is."""
        return self._lazily("predict_proba", X, np.float64, return_ids)

    def to_local(self) -> classifier.RuleListClassifier:
        """The same classifier without Dask."""
        local = classifier.RuleListClassifier(**self.get_params(deep=False))
        for name, value in vars(self).items():
            if name not in ("client", "checkpoint"):
                setattr(local, name, value)
        return local

    def _lazily(self, method: str, X: Any, kind: Any, return_ids: bool) -> Any:
        local = self.to_local()
        if not hasattr(X, "to_delayed"):
            return getattr(local, method)(X, return_ids)
        if return_ids:
            raise DataError("return_ids is for data in memory; what is predicted for a Dask frame has its index")
        if self._form.outputs:
            raise DataError("what several columns of classes are is predicted in memory; use to_local() on partitions")
        # Of a column of classes, the class of each row; probabilities have a column for each class.
        classes, names = self._form.classes, list(self.label_names_)
        if classes is not None:
            kind, names = (classes.dtype, []) if method == "predict" else (kind, classes.tolist())
        nothing = np.zeros((0, len(names)) if names else 0, kind)
        if hasattr(X, "map_blocks"):
            whole, given = X.rechunk({1: -1}), (local, method, nothing)
            shape: Any = {"chunks": (X.chunks[0], (len(names),))} if names else {"drop_axis": 1}
            return whole.map_blocks(predicted, *given, dtype=kind, meta=nothing, **shape)
        meta = predicted_frame(nothing, local, method, nothing, names)
        return X.map_partitions(predicted_frame, local, method, nothing, names, meta=meta)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("client", "checkpoint")}


def predicted(X: Any, local: classifier.RuleListClassifier, method: str, nothing: Any) -> Any:
    """What a classifier says of a partition."""
    return getattr(local, method)(X) if len(X) else nothing


def predicted_frame(
    X: Any, local: classifier.RuleListClassifier, method: str, nothing: Any, names: Sequence[Any]
) -> Any:
    """What a classifier says of a partition, as a frame like it; as a series of classes, if columns have no names."""
    pandas, found = dask_library("pandas"), predicted(X, local, method, nothing)
    index = getattr(X, "index", None)
    return pandas.DataFrame(found, index, names) if names else pandas.Series(found, index)
