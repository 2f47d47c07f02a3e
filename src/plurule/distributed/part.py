"""A part of the data as it is given: its rows, and which classes the columns of its labels hold."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plurule.data.dataset import Dataset
from plurule.data.encoding import encode
from plurule.data.inputs import labelled_data
from plurule.data.targets import TargetForm, column_names, in_form


@dataclass(frozen=True)
class Part(Dataset):
    """Some rows, of which the labels were made of those classes that are there."""

    form: TargetForm = field(default_factory=TargetForm)
    label_columns: tuple[str, ...] = ()
    """The names of the columns of classes; "" for one that has none."""


def labelled_part(X: Any, y: Any, weights: Any = None) -> Part:
    """Attributes and labels as a part of the data, which may have no rows."""
    if len(getattr(y, "shape", ())) == 1 and not len(y):
        # No row, no class: what its labels are is for others to say.
        return Part(encode(X), np.zeros((0, 0), np.int8), (), weights)
    data, form = labelled_data(X, y, weights, allow_empty=True)
    return Part(**vars(data), form=form, label_columns=column_names(y) if form.columns else ())


def with_classes_of_all(part: Part, form: TargetForm, labels: tuple[str, ...]) -> Dataset:
    """A part with the labels that the classes of all parts make."""
    Y = in_form(part.Y, part.form, form) if len(part) else np.zeros((0, len(labels)), np.int8)
    return replace(part, Y=Y, label_names=labels, groups=())
