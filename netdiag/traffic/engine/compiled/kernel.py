"""How functions over arrays are compiled: without the lock of the interpreter, and once per machine.

Whether indices are checked is left to NUMBA_BOUNDSCHECK, so that tests can. What is compiled is kept in files, by the
text of the function's own module only: who changes a kernel that other modules call must empty that folder.

A kernel may not make arrays, nor give one back: it fills those that it is given. So nobody has to count who holds
them, which would take four fifths of the time of kernels that call each other.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from netdiag.traffic.engine.compiled.loading import Kept

_Function = TypeVar("_Function", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def kernel(function: _Function) -> _Function:
    """Compile a function when it is called first."""
    return _kept(function)


def inlined(function: _Function) -> _Function:
    """As `kernel`, but put into whoever calls it: a call that hands over many arrays costs 50 ns and more."""
    return _kept(function, forceinline=True)


def merged(function: _Function) -> _Function:
    """As `inlined`, but before types are known: what many functions stand behind is not compiled by itself as well.

    A function is compiled with all those that it calls, and they with theirs: each level costs as much as the whole.
    """
    return _kept(function, inline="always")


def _kept(function: _Function, **options: Any) -> _Function:
    compiled: Any = numba.njit(**_OPTIONS, **options)(function)
    # Without numba's compiler, as tests may want it, the function is what it was.
    if hasattr(compiled, "enable_caching"):
        compiled._cache = Kept(function)
    return cast(_Function, compiled)
