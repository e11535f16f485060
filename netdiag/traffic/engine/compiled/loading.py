"""Compiled code out of files, without what only compiling needs.

Before numba looks for code that is compiled already it makes ready for compiling, and it reads the code between Python
and the machine's, which callers are compiled with: together 0.25 s and 50 MB at each start. Here both happen when
something is compiled. That is done in the insides of numba as they were in the versions of `KNOWN`; with any other
version numba does as it does.
"""

from typing import Any

import numba
from numba.core import caching, codegen, compiler

KNOWN = ((0, 68),)
_Cache: Any = caching.FunctionCache
_Rebuilding: Any = caching.CompileResultCacheImpl
_Compiled: Any = compiler.CompileResult
_Codegen: Any = codegen
IS_KNOWN = numba.version_info.short in KNOWN


class Kept(_Cache):  # type: ignore[misc]
    """What numba's dispatcher keeps of a function in files."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for arguments of these types, None where there is none."""
        if not IS_KNOWN:
            return super().load_overload(sig, target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class _Rebuilt(_Rebuilding):  # type: ignore[misc]
    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, kind, data), function, *rest = payload
        if not IS_KNOWN or kind != "object":
            return super().rebuild(target_context, payload)
        machine_code, between = data
        maker = target_context.codegen()
        library = _Library(maker, name)
        library.between = between
        library.enable_object_caching()
        library._set_compiled_object(machine_code)
        library._finalize_final_module()
        maker._engine._defined_symbols.update((function.llvm_func_name, function.llvm_cpython_wrapper_name))
        rebuilt = _Compiled._rebuild(_Given(target_context, library), None, function, *rest)
        return rebuilt._replace(target_context=target_context)


Kept._impl_class = _Rebuilt


class _Library(_Codegen.JITCodeLibrary):  # type: ignore[misc]
    """Machine code; the code `between` is read when a caller is compiled."""

    between = b""
    _read: Any = None

    @property
    def _shared_module(self) -> Any:
        if self._read is None and self.between:
            self._read = _Codegen.ll.parse_bitcode(self.between)
        return self._read

    @_shared_module.setter
    def _shared_module(self, module: Any) -> None:
        self._read = module


class _Given:
    """A context for code that is there."""

    def __init__(self, context: Any, library: Any) -> None:
        self._context = context
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> Any:
        return self

    def unserialize_library(self, _: object) -> Any:
        return self._library
