"""The paper's experiments: its protocol, and a report with every table and figure beside the published one.

A `Plan` of the `protocol` lists tasks, an `Experiment` runs them with the engine of `plurule.selection`, `analysis`
makes data frames of the results, `checks` judges the statements that were `published`, `figures` draws, and `report`
writes it all down. `plurule reproduce` is the user of all this; nothing else in the package knows it.
"""

from importlib.util import find_spec


def check_libraries() -> None:
    """Raise an error now if the report could not be written after a long experiment."""
    missing = [name for name in ("pandas", "matplotlib", "jinja2") if find_spec(name) is None]
    if missing:
        raise ImportError(f"the report needs {', '.join(missing)}: pip install 'plurule[paper]'")
