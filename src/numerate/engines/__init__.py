"""The same work on many units: in this process, in several, or on the machines of a Ray cluster.

Whoever has work asks for an `engine` and maps over units; where they are done changes nothing about
the results, nor about their order.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from numerate.engines.local_engine import LocalEngine
from numerate.errors import NumerateError, check_choice

U = TypeVar("U")
R = TypeVar("R")
LOCAL, RAY = "local", "ray"
ENGINES = [LOCAL, RAY]


class Engine(Protocol):
    def map(self, make: Callable[[], Callable[[U], R]], units: Iterable[U]) -> Iterator[R]:
        """What becomes of each unit, in the order of the units.

        Every worker calls `make` once, when it has its first unit: models are loaded there. Units
        are drawn as they are needed, a bounded number is under way, and a `NumerateError` of the
        work is raised here as it is. `make`, units and results can be pickled. Workers are there
        while the results are iterated over, and no longer.
        """


def engine(
    name: str = LOCAL, *, processes: int = 1, address: str | None = None, gpus: float = 0
) -> Engine:
    """The engine of that name, with so many workers; 0: as many as there are cores.

    `gpus` is the share of a GPU, or the number of them, that each worker has, where there are any;
    0 workers are then as many as the GPUs have room for. On this machine they are shared out in
    turn, also among more workers than that. `address` is that of a running Ray cluster; without
    one, and where Ray's own `RAY_ADDRESS` names none, a cluster of this machine alone lives as long
    as the work.

    Examples:
        >>> from functools import partial
        >>> from numerate.engines import engine
        >>> def make():
        ...     return partial(pow, 2)
        >>> list(engine().map(make, range(5)))
        [1, 2, 4, 8, 16]
    """
    check_choice("engine", name, ENGINES)
    if processes < 0:
        raise NumerateError(f"processes: got {processes}, expected 0 or more")
    if gpus < 0:
        raise NumerateError(f"gpus: got {gpus}, expected 0 or more")
    if name == RAY:
        from numerate.engines.ray_engine import RayEngine

        return RayEngine(processes, address, gpus)
    if address is not None:
        raise NumerateError(f"address {address}: only for --engine ray")
    return LocalEngine(processes, gpus)
