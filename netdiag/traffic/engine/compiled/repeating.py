"""Bodies that come again and again, read once: clients ask for the same metadata in turn and are told the same."""

from collections.abc import Callable
from typing import TypeVar

from netdiag.traffic.engine.bodies import Bodies, RequestFacts, ResponseFacts

_LARGEST = 4096
_MOST = 64

_Told = TypeVar("_Told", RequestFacts, ResponseFacts)
_Known = dict[tuple[int, int, bytes, int], _Told]


class RepeatingBodies(Bodies):
    """The facts of bodies that are equal are the same object, which nobody may change."""

    def __init__(self, tables: frozenset[str]) -> None:
        super().__init__(tables)
        self._asked: _Known[RequestFacts] = {}
        self._answered: _Known[ResponseFacts] = {}

    def request_facts(self, api_key: int, api_version: int, body: bytes | memoryview, declared: int) -> RequestFacts:
        """As that of `Bodies`."""
        return _known(self._asked, super().request_facts, api_key, api_version, body, declared)

    def response_facts(self, api_key: int, api_version: int, body: bytes | memoryview, declared: int) -> ResponseFacts:
        """As that of `Bodies`."""
        return _known(self._answered, super().response_facts, api_key, api_version, body, declared)


def _known(
    known: _Known[_Told],
    read: Callable[[int, int, bytes | memoryview, int], _Told],
    api_key: int,
    api_version: int,
    body: bytes | memoryview,
    declared: int,
) -> _Told:
    if len(body) > _LARGEST:
        return read(api_key, api_version, body, declared)
    key = api_key, api_version, bytes(body), declared
    facts = known.get(key)
    if facts is None:
        if len(known) >= _MOST:
            known.clear()
        facts = known[key] = read(api_key, api_version, body, declared)
    return facts
