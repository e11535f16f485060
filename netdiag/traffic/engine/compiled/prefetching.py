"""Asking for memory before it is needed.

Packets of a hundred thousand connections find nothing of theirs in the caches: who asks for it a few packets before
waits for several at a time.
"""

from typing import Any

from numba import types
from numba.core import cgutils as untyped
from numba.core import config as settings
from numba.extending import intrinsic

LINE = 64
_Cgutils: Any = untyped
_Settings: Any = settings
_LOCALITY = 3


def _nothing(_array: Any, _index: Any, _offset: Any) -> None:
    """Without a compiler there is nothing to ask for."""


@intrinsic
def _asked(typing_context: Any, array: Any, index: Any, offset: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir  # type: ignore[import-untyped]

        shape = signature.args[0]
        made = context.make_array(shape)(context, builder, arguments[0])
        place = _Cgutils.get_item_pointer(context, builder, shape, made, [arguments[1]], wraparound=False)
        byte = builder.bitcast(place, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte.type, number, number, number])
        function = _Cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        line = builder.gep(byte, [arguments[2]])
        builder.call(function, [line, number(0), number(_LOCALITY), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


prefetch: Any = _nothing if _Settings.DISABLE_JIT else _asked
"""`prefetch(array, index, offset)`: ask for the line of memory so many bytes behind the start of an element.

The index need not be one of the array: nothing is read."""
