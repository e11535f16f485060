"""What clients call themselves is kept once each, and digests go on where the twin takes over."""

import struct
from collections.abc import Sequence

import numpy as np

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled.ended_rows import software_text
from netdiag.traffic.engine.compiled.lane_ended import NO_ROOM, software_of
from netdiag.traffic.engine.compiled.lane_state import Lane, new_lane
from netdiag.traffic.engine.compiled.lane_wishes import SOFTWARES, new_wishes
from netdiag.traffic.engine.compiled.layout import NOTHING, PACKET
from netdiag.traffic.engine.options import EngineOptions


def _lane() -> Lane:
    return new_lane(wishes=new_wishes(EngineOptions()))


def _hello(version: int, client_id: str | None, software: tuple[str, str]) -> bytes:
    names = {"client_software_name": software[0], "client_software_version": software[1]} if version > 2 else {}
    return wire.encode_request(18, version, 1, client_id, names)


def _numbers(lane: Lane, requests: Sequence[bytes]) -> list[int]:
    found = []
    for request in requests:
        packet = np.zeros(1, PACKET)
        packet["payload"] = 3
        found.append(int(software_of(lane, packet[0], np.frombuffer(b"xyz" + request, np.uint8))))
    return found


def test_the_same_has_the_same_number() -> None:
    lane = _lane()
    told = [("java", "4.0.0"), ("java", "4.0.1"), ("javb", "4.0.0"), ("java", "4.0.0"), ("jav", "a4.0.0")]
    assert _numbers(lane, [_hello(3, client, one) for client in ("app", None) for one in told]) == [0, 1, 2, 0, 3] * 2
    assert [software_text(lane.wishes, number) for number in range(4)] == [" ".join(told[at]) for at in (0, 1, 2, 4)]


def test_old_versions_do_not_tell() -> None:
    assert _numbers(_lane(), [_hello(version, "app", ("", "")) for version in range(3)]) == [NOTHING] * 3


def test_there_is_room_for_so_many() -> None:
    lane = _lane()
    most = len(lane.wishes.softwares)
    found = _numbers(lane, [_hello(4, "", ("c", struct.pack(">I", number).hex())) for number in range(most + 2)])
    assert found == [*range(most), NO_ROOM, NO_ROOM]
    assert lane.wishes.figures[SOFTWARES] == most
    assert _numbers(lane, [_hello(4, "", ("c", "00000000"))]) == [0]
