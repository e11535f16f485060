"""Bodies that come again and again, read once: clients ask for the same metadata in turn and are told the same."""

from collections.abc import Callable, Hashable
from typing import TypeVar

from netdiag.traffic.engine.bodies import Bodies, RequestFacts, ResponseFacts
from netdiag.traffic.engine.compiled.arenas import Store
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.compiled.read_back import kept

_LARGEST = 4096
_MOST = 64
# Of a request: its key, its version and its correlation id, with which a response begins.
_HEAD, _ID = 8, 4

Said = tuple[Hashable, Hashable]

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


def what_is_said(store: Store, pair: tuple[int, int]) -> Said | None:
    """All that the messages of a pair say but their correlation id; None where that is not short, or not in the store.

    Of a message that is a record already there is only what the other one is read by.
    """
    if pair[0] < 0 or pair[1] < NOTHING:
        return None
    asked: Hashable
    answer: Hashable = None
    request = store.facts[pair[0]]
    if request["raw"] == NOTHING:
        asked = int(request["api_key"]), int(request["api_version"])
    else:
        if not _HEAD <= request["raw_size"] <= _LARGEST:
            return None
        said = kept(store, request)
        asked = said[: _HEAD - _ID] + said[_HEAD:], int(request["size"])
    if pair[1] != NOTHING:
        response = store.facts[pair[1]]
        if response["raw"] != NOTHING:
            if not _ID <= response["raw_size"] <= _LARGEST:
                return None
            answer = kept(store, response)[_ID:], int(response["size"])
        else:
            answer = NOTHING
    return asked, answer
