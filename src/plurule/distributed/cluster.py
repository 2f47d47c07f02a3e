"""Running tasks on a Dask cluster; `dask.distributed` is an extra.

The data sets travel with the first task that needs them on a machine. If a worker is lost, Dask runs its tasks
elsewhere.
"""

from __future__ import annotations

import importlib
import pickle
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from plurule.errors import PluruleError
from plurule.paper.protocol import Task
from plurule.selection.executing import Outcome, attempt
from plurule.selection.trials import Material, Result, Workbench

_AHEAD = 3
"""Tasks per thread of the cluster that are handed out at a time."""
_CONNECT_SECONDS = 10
_RETRIES = 2

_workbenches: dict[str, Workbench] = {}
"""In a process of the cluster: what has been prepared, by the contents and the folds of the data."""


class DaskRunner:
    """Runs tasks on the workers of a Dask scheduler.

    Parameters
    ----------
    materials
        The data sets by name.
    address
        Where the scheduler is, such as `tcp://10.0.0.1:8786`.
    """

    def __init__(self, materials: Mapping[str, Material], address: str) -> None:
        self._client = _connect(address)
        try:
            _check_versions(self._client, address)
            self._run = uuid.uuid4().hex
            # As a task of its own, and not scattered: Dask makes it anew if the worker that has it is lost.
            self._materials = {
                name: self._client.submit(_unpack, _pack(material), key=f"{name}-{self._run}", retries=_RETRIES)
                for name, material in materials.items()
            }
            self._prints = {
                name: f"{material.fingerprint()} {material.folds_fingerprint()}" for name, material in materials.items()
            }
        except BaseException:
            self._client.close()
            raise

    def run(self, tasks: Iterable[Task], wanted: Callable[[Task], bool]) -> Iterator[Outcome]:
        """Run the tasks; outcomes come in the order in which they are finished."""
        waiting = iter(tasks)
        under_way: dict[str, Task] = {}
        finished = _distributed().as_completed(loop=self._client.loop)
        self._submit(waiting, wanted, under_way, finished)
        while under_way:
            future = next(finished)
            task = under_way.pop(future.key)
            outcome = _outcome(task, future)
            # What is finished is forgotten, or a long experiment would fill the memory of the scheduler.
            future.release()
            self._submit(waiting, wanted, under_way, finished)
            yield outcome

    def close(self) -> None:
        """Leave the cluster; what it still runs for us is cancelled."""
        self._client.close()

    def _submit(
        self, waiting: Iterator[Task], wanted: Callable[[Task], bool], under_way: dict[str, Task], finished: Any
    ) -> None:
        most = _AHEAD * max(sum(self._client.nthreads().values()), 1)
        while len(under_way) < most:
            task = next(waiting, None)
            if task is None:
                return
            if not wanted(task):
                continue
            key = f"{task.key}-{self._run}"
            under_way[key] = task
            material = self._materials[task.dataset]
            finished.add(
                self._client.submit(_run, task, material, self._prints[task.dataset], key=key, retries=_RETRIES)
            )


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ImportError("a Dask cluster needs dask.distributed: pip install 'plurule[dask]'") from error


def _connect(address: str) -> Any:
    try:
        return _distributed().Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise PluruleError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler` and give its address"
        ) from None


def _check_versions(client: Any, address: str) -> None:
    """Raise an error unless every worker runs the same code as this program; other code may give other numbers."""
    try:
        found = client.run(_version)
    except ImportError as error:
        raise PluruleError(f"the workers at {address} lack a package ({error}); install plurule everywhere") from None
    if not found:
        raise PluruleError(f"the Dask scheduler at {address} has no workers; start some with `dask worker {address}`")
    ours = _version()
    other = next(((worker, version) for worker, version in found.items() if version != ours), None)
    if other is not None:
        raise PluruleError(f"worker {other[0]} has {other[1]}, this is {ours}; install the same build everywhere")


def _outcome(task: Task, future: Any) -> Outcome:
    distributed = _distributed()
    try:
        result, error = future.result()
    except distributed.KilledWorker:
        return Outcome(task, None, "every worker that ran it was lost; is their memory full?")
    except distributed.CancelledError:
        raise PluruleError("the Dask scheduler was lost; what was finished is kept") from None
    except Exception as failure:
        return Outcome(task, None, f"{type(failure).__name__}: {failure}")
    return Outcome(task, result, error)


# In the processes of the cluster ------------------------------------------------------------------------------


def _version() -> str:
    from plurule import __version__
    from plurule.selection.code import code_fingerprint

    return f"plurule {__version__} (code {code_fingerprint()})"


def _pack(material: Material) -> bytes:
    return zlib.compress(pickle.dumps(material), level=1)


def _unpack(packed: bytes) -> Material:
    material: Material = pickle.loads(zlib.decompress(packed))
    return material


def _run(task: Task, material: Material, fingerprint: str) -> tuple[Result | None, str]:
    workbench = _workbenches.setdefault(fingerprint, Workbench({}))
    workbench.add(task.dataset, material)
    return attempt(workbench, task)
