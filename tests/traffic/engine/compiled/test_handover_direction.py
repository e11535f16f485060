"""One direction goes into the arrays and comes back as it was."""

from netdiag.traffic.engine.compiled.handover_direction import check_in, check_out, is_calm, no_lanes, recall
from netdiag.traffic.engine.compiled.lane_state import MOST_COUNTED
from netdiag.traffic.engine.compiled.layout import UNKNOWN_KEY
from netdiag.traffic.engine.delivery import Delivery
from netdiag.traffic.engine.frames import FRAMES, Framer
from netdiag.traffic.engine.talk import Talk
from tests.traffic.engine.compiled.lanes import taken_lane
from tests.traffic.engine.wire import Ear

PLACE = ("eth0", 0)


def delivery() -> Delivery:
    made = Delivery(Framer(Talk(Ear(), 1000)))
    made.begin(100)
    made.framer.mode = FRAMES
    made.place, made.first_time = PLACE, 5
    return made


def test_what_is_calm() -> None:
    calm = delivery()
    assert is_calm(calm)
    calm.acked = 102
    assert not is_calm(calm)
    calm = delivery()
    calm.recent[100] = (5, 0, 0, (PLACE,))
    assert not is_calm(calm), "a packet from here on was seen before"
    calm = delivery()
    calm.framer.size, calm.framer.left = 2000, 10
    assert not is_calm(calm), "a message that is not kept"
    calm = delivery()
    calm.packets = MOST_COUNTED
    assert not is_calm(calm), "more than the arrays can count"


def test_there_and_back() -> None:
    before, after = delivery(), delivery()
    for made in (before, after):
        made.recent[90] = (10, 7, 3, (PLACE,))
        made.recent[-1 - (90 << 56 | 4_000_000_000 << 24 | 64_000 << 8 | 16)] = (0, 8, -1, (PLACE, ("", 1)))
        made.older[80] = (10, 6, 2, (PLACE,))
        made.framer.size, made.framer.left, made.framer.buffer = 50, 20, bytearray(range(30))
        made.framer.noted["truncated", "inside messages"] = [5, 1, 2]
    lane = taken_lane()
    places = {PLACE: 0, ("", 1): 1}
    check_in(lane, 4, after, places)
    after.recent, after.older, after.framer.buffer, after.framer.left = {}, {}, bytearray(), 0
    lane.trouble["cut_bytes"][4], lane.trouble["cut_times"][4] = 7, 2
    lane.directions["next"][4] += 1 << 32
    check_out(lane, 4, after)
    recall(lane, 4, after, list(places))
    assert (after.recent, after.older) == (before.recent, before.older)
    assert (after.framer.buffer, after.framer.left) == (before.framer.buffer, before.framer.left)
    assert after.framer.noted == {("truncated", "inside messages"): [12, 3, 2]}
    assert (after.next, after.next32) == (100 + (1 << 32), 100)


def test_nobody_has_looked_yet() -> None:
    assert no_lanes(3).tolist() == [UNKNOWN_KEY] * 3
