"""One test over a table of cheap cases: pytest takes longer to collect and report a case than many take to run.

`@each` stands where `@pytest.mark.parametrize` would, with the same arguments. All cases run, and a failure names its
case.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]
Ids = Sequence[str] | Callable[[Any], str] | None


def each(names: str | Sequence[str], cases: Iterable[Any], *, ids: Ids = None) -> Callable[[Test], Test]:
    """Call the test once for each case; the arguments that are not of the case are fixtures, the same for all."""
    words = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
    table = [_case(words, case, number, ids) for number, case in enumerate(cases)]
    assert table, "a table without cases tests nothing"

    def decorated(test: Test) -> Test:
        def every(**fixtures: Any) -> None:
            failed: dict[str, BaseException] = {}
            for name, values in table:
                try:
                    test(**values, **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (raised below)
                    failed[name] = error
            if failed:
                name, first = next(iter(failed.items()))
                first.add_note(f"case: {name}")
                if len(failed) > 1:
                    first.add_note(f"{len(failed)} of {len(table)} cases fail: {', '.join(failed)}"[:4000])
                raise first

        signature = inspect.signature(test)
        given = [one for one in signature.parameters.values() if one.name not in words]
        assert len(given) + len(words) == len(signature.parameters), f"{test.__name__} has no parameter of some name"
        every.__dict__.update(test.__dict__)
        every.__name__, every.__qualname__, every.__doc__ = test.__name__, test.__qualname__, test.__doc__
        every.__module__ = test.__module__
        every.__signature__ = signature.replace(parameters=given)  # type: ignore[attr-defined]
        return every

    return decorated


def _case(words: tuple[str, ...], case: Any, number: int, ids: Ids) -> tuple[str, dict[str, Any]]:
    """The name of a case, and its values by the names of the parameters."""
    name = None
    if isinstance(case, type(pytest.param())):
        assert not case.marks, "a case with marks of its own is a test of its own"
        name, values = case.id, case.values
    else:
        values = tuple(case) if len(words) > 1 else (case,)
    assert len(values) == len(words), f"{len(values)} values for {', '.join(words)}"
    if name is None and ids is not None:
        name = "-".join(map(ids, values)) if callable(ids) else ids[number]
    return str(name or "-".join(map(_shown, values))), dict(zip(words, values, strict=True))


def _shown(value: object) -> str:
    return getattr(value, "__name__", None) or str(value)[:80]
