"""How functions over arrays are compiled: without the lock of the interpreter, and once per machine.

Whether indices are checked is left to NUMBA_BOUNDSCHECK, so that tests can. What is compiled is kept in files, by the
text of the function's own module only: who changes a kernel that other modules call must empty that folder.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a function when it is called first."""
    return cast(_Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
