"""The queue of requests that wait, held against a plain list."""

import random

from netdiag.traffic.engine.assemble import Asked
from netdiag.traffic.engine.bodies.facts import RequestFacts
from netdiag.traffic.engine.headers import RequestHeader
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.pending import Pending


def asked(correlation_id: int, *, key: int | None = 3, version: int | None = 1, file: int = 0) -> Asked:
    """A request of a few bytes."""
    header = RequestHeader(key, version, correlation_id, "app", None, True)
    return Asked(header, Message(True, 20, b"", None, 1, 2, 3, 4, file), RequestFacts())


def test_it_is_a_queue_that_finds_ids() -> None:
    rng = random.Random(1)
    pending, model = Pending(), list[Asked]()
    for _ in range(2000):
        if rng.random() < 0.55:
            model.append(asked(rng.randrange(30)))
            pending.append(model[-1])
        elif model:
            assert pending.popleft() is model.pop(0)
        wanted = rng.randrange(30)
        ids = [each.header.correlation_id for each in model]
        assert len(pending) == len(model)
        assert (wanted in pending) == (wanted in ids)
        assert pending.before(wanted) == (ids.index(wanted) if wanted in ids else None)


def test_the_api_is_that_of_the_first_that_has_one() -> None:
    pending = Pending()
    for each in (asked(7, key=None), asked(7, key=1, version=4), asked(7, key=3), asked(8, version=None)):
        pending.append(each)
    assert pending.api(7) == (1, 4)
    assert pending.api(8) is None
    assert pending.api(9) is None


def test_files_are_those_of_what_waits() -> None:
    pending = Pending()
    for file in (4, 2, 4):
        pending.append(asked(1, file=file))
    assert pending.files() == {2, 4}
    pending.popleft()
    pending.popleft()
    assert pending.files() == {4}
