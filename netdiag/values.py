"""Frozen values with named fields: Python's dataclasses, whose methods are compiled when they are first called.

`dataclasses.dataclass` writes and compiles six methods of a class while it is imported: 0.45 ms. A check of one file
imports some 150 such classes and uses few methods of each, so that this took a quarter of its time. Here Python's own
decorator collects the fields (for `replace`, `fields` and `asdict`), and what it would compile then is compiled later.
To type checkers it is Python's own altogether.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from types import FunctionType

    def dataclass(*, frozen, slots, kw_only):
        """For classes that are all three: there is one kind of value."""
        assert (frozen, slots, kw_only) == (True, True, True)
        return _decorated

    def _decorated(cls):
        own = cls.__dict__
        lazy = [name for name in _WRITERS if name not in own or own[name] is None]
        cls = _collect_fields(cls)
        for name in lazy:
            setattr(cls, name, _first_call(cls, name))
        cls.__setattr__ = _refuse_to_set
        cls.__delattr__ = _refuse_to_delete
        cls.__getstate__ = _state
        cls.__setstate__ = _set_state
        return cls

    _collect_fields = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)

    def _first_call(cls, name):
        def method(self, *positional, **named):
            compiled = _compiled(cls, name)
            setattr(cls, name, compiled)
            return compiled(self, *positional, **named)

        method.__name__ = name
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        return method

    def _compiled(cls, name):
        parameters, body, names = _WRITERS[name](cls, dataclasses.fields(cls))
        code = compile(f"def {name}({parameters}):\n {body}", f"<{name} of {cls.__qualname__}>", "exec")
        exec(code, names)
        function: FunctionType = names[name]
        function.__qualname__ = f"{cls.__qualname__}.{name}"
        return function

    def _write_init(cls, fields):
        names, parameters, lines = {"_made": _MADE}, [], []
        for field in fields:
            name = field.name
            names[f"_set_{name}"] = getattr(cls, name).__set__
            value = name
            if field.default is not dataclasses.MISSING:
                names[f"_default_{name}"] = field.default
                parameters.append(f"{name}=_default_{name}")
            elif field.default_factory is not dataclasses.MISSING:
                names[f"_make_{name}"] = field.default_factory
                parameters.append(f"{name}=_made")
                value = f"_make_{name}() if {name} is _made else {name}"
            else:
                parameters.append(name)
            lines.append(f"_set_{name}(self, {value})")
        return ", ".join(["self", *(["*"] if parameters else []), *parameters]), "; ".join(lines) or "pass", names

    def _write_repr(cls, fields):
        shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in fields if field.repr)
        return "self", f"return f'{{self.__class__.__qualname__}}({shown})'", {}

    def _write_eq(cls, fields):
        mine, other = (_tuple(item, fields) for item in ("self", "other"))
        same = f"return {mine} == {other} if other.__class__ is self.__class__ else NotImplemented"
        return "self, other", same, {}

    def _write_hash(cls, fields):
        return "self", f"return hash({_tuple('self', fields)})", {}

    def _tuple(item, fields):
        return "(" + "".join(f"{item}.{field.name}, " for field in fields if field.compare) + ")"

    def _refuse_to_set(self, name, value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self):
        return [getattr(self, field.name) for field in dataclasses.fields(self)]

    def _set_state(self, state):
        for field, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, field.name, value)

    # Stands for a default that is made anew for each value.
    _MADE = object()
    _WRITERS = {"__init__": _write_init, "__repr__": _write_repr, "__eq__": _write_eq, "__hash__": _write_hash}
