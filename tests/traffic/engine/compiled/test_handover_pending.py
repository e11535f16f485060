"""Requests in the arrays are the queue that the twin's own is."""

import random

import pytest

from netdiag.traffic.engine.compiled.handover import Handover
from netdiag.traffic.engine.compiled.handover_pending import Chain, Kept
from netdiag.traffic.engine.compiled.lane_state import PAIRS
from netdiag.traffic.engine.compiled.layout import FROM_TWIN, NOTHING
from netdiag.traffic.engine.pending import Pending
from tests.traffic.engine.test_pending import asked


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_queue_of_the_twin(seed: int) -> None:
    rng = random.Random(seed)
    arrays = Handover()
    chains, queues = [Chain(arrays), Chain(arrays)], [Pending(), Pending()]
    for number in range(4000):
        which = rng.randrange(2)
        chain, queue = chains[which], queues[which]
        if rng.random() < 0.6:
            each = asked(number if seed else rng.randrange(50), key=rng.choice((0, 3)))
            chain.append(each)
            queue.append(each)
        elif len(queue):
            assert chain.popleft() is queue.popleft()
        wanted = rng.randrange(number + 1) if seed else rng.randrange(50)
        assert len(chain) == len(queue)
        assert (wanted in chain) == (wanted in queue)
        assert chain.before(wanted) == queue.before(wanted)
        assert chain.api(wanted) == queue.api(wanted)


def test_the_latest_are_what_a_talk_remembers() -> None:
    chain = Chain(Handover())
    assert chain.latest() == ([], True)
    for number in range(600):
        chain.append(asked(number))
    assert chain.latest() == ([(number, 3 << 16 | 1) for number in range(88, 600)], True)
    assert not chain.is_unsorted
    chain.append(asked(599))
    chain.append(asked(600, key=None))
    assert chain.latest() == ([(number, 3 << 16 | 1) for number in (*range(90, 600), 599)] + [(600, -1)], False)
    assert chain.is_unsorted


def test_what_is_given_up_becomes_pairs_as_there_is_room() -> None:
    arrays = Handover()
    arrays.lane = arrays.lane._replace(pairs=arrays.lane.pairs[:7])
    chain = Chain(arrays)
    each = [asked(number) for number in range(20)]
    for one in each:
        chain.append(one)
    found: list[tuple[int, int, int]] = []

    def room() -> None:
        pairs = arrays.lane.pairs[: arrays.lane.numbers[PAIRS]]
        found.extend((pair["asked"], pair["answer"], pair["connection"]) for pair in pairs.copy())
        arrays.lane.numbers[PAIRS] = 0

    chain.give_up(17, 5, room)
    room()
    assert [arrays.held[FROM_TWIN - number] for number, _, _ in found] == each[:17]
    assert {(answer, context) for _, answer, context in found} == {(NOTHING, 5)}
    assert [chain.popleft() for _ in range(len(chain))] == each[17:]


def test_what_kernels_read_is_known_by_its_number() -> None:
    arrays = Handover()
    chain = Chain(arrays)
    chain.append(asked(5, key=0))
    arrays.lane.pending["asked"][chain.first] = 17
    taken = chain.popleft()
    assert isinstance(taken.facts, Kept)
    assert taken.facts.number == 17
    assert taken.header[:3] == (0, 1, 5)
    assert arrays.kept == {17: taken.facts}
