"""Whether work grows with its size as it should, told apart from a machine that is busy with something else.

Four times the size takes four times as long where time is linear, sixteen times where it is quadratic. A neighbour on
the processor can double a figure, but not in every attempt.
"""

from collections.abc import Callable

_ATTEMPTS = 5
_BETWEEN = 9.0


def grows_linearly(seconds: Callable[[int], float], size: int, *, least: float) -> bool:
    """Whether some attempt at `4 * size` stays well below sixteen times one at `size`.

    `seconds` does the work of a size and says how long it took; a `size` that takes less than `least` counts as that.
    """
    return any(seconds(4 * size) < _BETWEEN * max(seconds(size), least) for _ in range(_ATTEMPTS))
