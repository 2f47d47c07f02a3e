"""A Dask cluster as an executor; `dask.distributed` is an extra. If a worker is lost, Dask runs its tasks elsewhere."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from plurule.errors import PluruleError
from plurule.selection import code

_CONNECT_SECONDS = 10
_RETRIES = 2


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """The workers of a Dask scheduler (`tcp://10.0.0.1:8786`), all of which must run the code of this program."""
    client = connect(address)
    try:
        check_versions(client, address)
        yield client.get_executor(pure=False, retries=_RETRIES)
    finally:
        # What the cluster still runs for us is cancelled.
        client.close()


def dask_library(name: str) -> Any:
    """A part of Dask, which is an extra."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"a Dask cluster needs {name}: pip install 'plurule[dask]'") from error


def connect(address: str) -> Any:
    """A client of a scheduler."""
    distributed = dask_library("distributed")
    try:
        return distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise PluruleError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler` and give its address"
        ) from None


def check_versions(client: Any, address: str) -> None:
    """Raise an error unless every worker runs the same code as this program; other code may give other numbers."""
    # In a task, not in the loop that workers answer by: on a busy machine the imports may take long.
    workers = list(client.scheduler_info(n_workers=-1)["workers"])
    imports = [client.submit(importlib.import_module, __name__, workers=[one], pure=False) for one in workers]
    if errors := [str(error) for one in imports if (error := one.exception()) is not None]:
        raise PluruleError(f"the workers at {address} lack a package ({errors[0]}); install plurule everywhere")
    found = client.run(_version)
    if not found:
        raise PluruleError(f"the Dask scheduler at {address} has no workers; start some with `dask worker {address}`")
    ours = _version()
    other = next(((worker, version) for worker, version in found.items() if version != ours), None)
    if other is not None:
        raise PluruleError(f"worker {other[0]} has {other[1]}, this is {ours}; install the same build everywhere")


def _version() -> str:
    return f"plurule {code.version()} (code {code.code_fingerprint()})"
