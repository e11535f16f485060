"""One direction of a connection between the twin's objects and the arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.lane_copies import (
    free_places,
    places_of,
    places_of_mask,
    take_places,
    turn_over,
)
from netdiag.traffic.engine.compiled.lane_state import (
    BARE,
    CARRY,
    COPY,
    HAS_TROUBLE,
    MOST_COPIES,
    MOST_COUNTED,
    MOST_SIZE,
    NAMELESS,
    PLACE_SETS,
    SETS,
    Array,
    Lane,
)
from netdiag.traffic.engine.compiled.lane_unfinished import free_for, take_for, trouble_row
from netdiag.traffic.engine.compiled.layout import NOTHING, UNKNOWN_KEY
from netdiag.traffic.engine.delivery import HALF, MASK, REMEMBERED, Copy, Delivery
from netdiag.traffic.engine.frames import FRAMES, INSIDE, Framer

_CUT = ("truncated", INSIDE)


def no_lanes(count: int) -> Array:
    """Nobody has looked at so many pairs of addresses."""
    return np.full(count, UNKNOWN_KEY, "i4")


def is_calm(delivery: Delivery) -> bool:
    """Whether nothing is missing, and messages are read."""
    framer = delivery.framer
    if framer.mode != FRAMES or delivery.held or delivery.next < 0 or delivery.acked > delivery.next + 1:
        return False
    if delivery.place is None or delivery.first_time < 0 or delivery.rst:
        return False
    if max(delivery.packets, framer.frames) >= MOST_COUNTED:
        return False
    if framer.left and framer.size > framer.talk.keep:
        return False
    recent, older = delivery.recent, delivery.older
    if len(recent) > REMEMBERED or len(older) > REMEMBERED:
        return False
    return all(
        len(places) <= MOST_COPIES and length < MOST_SIZE and (key < 0 or (key - delivery.next32) & MASK >= HALF)
        for copies in (recent, older)
        for key, (length, _, _, places) in copies.items()
    )


def check_in(lane: Lane, number: int, delivery: Delivery, places: Mapping[tuple[str, int], int]) -> None:
    """Write a calm direction into the arrays."""
    framer = delivery.framer
    free_places(lane, number)
    lane.directions[number] = (
        delivery.start,
        delivery.next,
        NOTHING,
        delivery.last_time,
        framer.frame_bytes,
        delivery.packets,
        framer.frames,
        delivery.window,
        NOTHING if delivery.place is None else places.get(delivery.place, NOTHING),
        0,
        0,
        0,
        0,
        0,
        0,
        HAS_TROUBLE,
    )
    lane.trouble[number] = (
        delivery.duplicates,
        delivery.retransmissions,
        delivery.keep_alives,
        delivery.zero_windows,
        framer.truncated_bytes,
        0,
        0,
        0,
    )
    if framer.left or framer.header:
        _put_aside(lane, lane.unfinished[take_for(lane, number)], framer)
    for copies in (delivery.older, delivery.recent):
        turn_over(lane, number)
        if copies:
            found = np.empty(len(copies), np.int64)
            take_places(lane, number, found)
            lane.remembered[found] = np.array(_entries(lane, copies, places), COPY)


def check_out(lane: Lane, number: int, delivery: Delivery) -> None:
    """Give the twin what the arrays have of a direction, but for what `recall` tells."""
    framer = delivery.framer
    (
        _,
        delivery.next,
        _,
        delivery.last_time,
        framer.frame_bytes,
        delivery.packets,
        framer.frames,
        delivery.window,
        _,
        entry,
        *_,
    ) = lane.directions[number].item()
    (
        delivery.duplicates,
        delivery.retransmissions,
        delivery.keep_alives,
        delivery.zero_windows,
        framer.truncated_bytes,
        cut_bytes,
        cut_times,
        cut_time,
    ) = trouble_row(lane, number)
    delivery.next32 = delivery.next & MASK
    framer.walker, framer.decided = None, False
    framer.buffer, framer.header, framer.left = bytearray(), b"", 0
    if entry:
        _take_back(lane, lane.unfinished[entry], framer)
        free_for(lane, number)
    if cut_times:
        entry = framer.noted.setdefault(_CUT, [0, 0, cut_time])
        entry[0] += cut_bytes
        entry[1] += cut_times


def recall(lane: Lane, number: int, delivery: Delivery, places: Sequence[tuple[str, int]]) -> None:
    """Give the twin the segments of which it would know a copy."""
    delivery.recent = _copies(lane, places_of(lane, number, "recent"), places)
    delivery.older = _copies(lane, places_of(lane, number, "older"), places)


def _put_aside(lane: Lane, row: Any, framer: Framer) -> None:
    """Put the beginning of an unfinished message where the kernels go on with it."""
    at, length = int(lane.numbers[CARRY]), len(framer.buffer)
    if framer.left:
        lane.carry[at : at + length] = np.frombuffer(framer.buffer, "u1")
        lane.numbers[CARRY] = at + framer.size
        row["carry"], row["carried"], row["room"] = at, length, framer.size
    row["size"], row["left"] = framer.size, framer.left
    row["start_time"], row["start_number"] = framer.start_time, framer.start_number
    row["header"], row["header_length"] = int.from_bytes(framer.header, "big"), len(framer.header)
    row["broken"] = framer.broken


def _take_back(lane: Lane, row: Any, framer: Framer) -> None:
    framer.start_time, framer.start_number = int(row["start_time"]), int(row["start_number"])
    framer.size, framer.left, framer.broken = int(row["size"]), int(row["left"]), bool(row["broken"])
    framer.header = int(row["header"]).to_bytes(int(row["header_length"]), "big")
    if framer.left:
        begin = int(row["carry"])
        framer.buffer = bytearray(lane.carry[begin : begin + int(row["carried"])].tobytes())


def has_sets(lane: Lane) -> bool:
    """Whether there is room for as many sets of places as a connection may have."""
    return bool(lane.numbers[PLACE_SETS] + 4 * REMEMBERED <= len(lane.place_sets))


def _entries(
    lane: Lane, copies: Mapping[int, Copy], places: Mapping[tuple[str, int], int]
) -> list[tuple[int, int, int, int, int, int]]:
    """The entries of `remembered` for these; most were seen at the same places."""
    entries = []
    known: dict[tuple[tuple[str, int], ...], int] = {}
    for key, (length, time, identification, seen) in copies.items():
        where = known.get(seen)
        if where is None:
            mask = sum((places[place] + 1) << 16 * index for index, place in enumerate(seen))
            where = known[seen] = int(places_of_mask(lane, np.uint64(mask)))
        name, nameless = (identification & 0xFFFF, 0) if identification >= 0 else (0xFFFF, NAMELESS)
        if key >= 0:
            entries.append((time, key, 0, length | nameless, name, where))
        else:
            bare = -1 - key
            entries.append((time, bare >> 56, bare >> 24 & MASK, BARE | bare & 0xFFFFFF | nameless, name, where))
    return entries


def _copies(lane: Lane, found: Array, places: Sequence[tuple[str, int]]) -> dict[int, Copy]:
    """The twin's form of entries of `remembered`."""
    copies: dict[int, Copy] = {}
    for time, sequence, acknowledgement, what, identification, where in lane.remembered[found].tolist():
        if what & NAMELESS:
            what, identification = what & ~NAMELESS, NOTHING
        mask = int(lane.place_sets[where - SETS]) if where >= SETS else where
        seen = tuple(places[number - 1] for shift in (0, 16, 32, 48) if (number := mask >> shift & 0xFFFF))
        if what & BARE:
            copies[-1 - (sequence << 56 | acknowledgement << 24 | what & 0xFFFFFF)] = (0, time, identification, seen)
        else:
            copies[sequence] = (what, time, identification, seen)
    return copies
