"""Chunks of several files as one."""

import heapq
from random import Random

from netdiag.traffic.engine.compiled.front import Chunk, Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.front_merge import Waiting, can_merge, merged
from netdiag.traffic.engine.compiled.layout import NOTHING
from tests.traffic.engine.capture_files import SECOND, START, enhanced, interface, option, pcap, section
from tests.traffic.engine.compiled.fronts import unpacked
from tests.traffic.engine.frames import ethernet, ipv4, tcp


def _chunk(keys: Keys, file: int, seconds: list[int]) -> Chunk:
    made = [
        (START + second * SECOND, ethernet(ipv4(tcp(bytes([file, second]), source=file + 1)))) for second in seconds
    ]
    data = pcap(made, nanoseconds=True)
    if file % 2:
        head = section() + interface(options=option(2, b"eth%d" % file))
        data = head + b"".join(enhanced(time // 1000, content) for time, content in made)
    return Front(keys, file=file).take(data)


def _in_order(seconds: list[list[int]]) -> list[tuple[int, int]]:
    """(second, file) as long as no file has ended, by a heap."""
    places = [0] * len(seconds)
    heap = [(each[0], file) for file, each in enumerate(seconds)]
    heapq.heapify(heap)
    found = []
    while True:
        _, file = heapq.heappop(heap)
        limit = heap[0][0]
        is_first = True
        while is_first or seconds[file][places[file]] <= limit:
            found.append((seconds[file][places[file]], file))
            places[file] += 1
            is_first = False
            if places[file] == len(seconds[file]):
                return found
        heapq.heappush(heap, (seconds[file][places[file]], file))


def test_packets_come_as_from_a_heap_even_where_clocks_go_back() -> None:
    random = Random(1)
    for _ in range(60):
        keys = Keys()
        seconds = [
            [random.randrange(12) for _ in range(random.randrange(1, 20))] for _ in range(random.randrange(2, 5))
        ]
        chunks = [Waiting(_chunk(keys, file, each), 0) for file, each in enumerate(seconds)]
        assert can_merge(chunks)
        chunk, taken, running = merged(chunks, NOTHING, NOTHING)
        assert chunk is not None
        found = [((packet.time - START) // SECOND, packet.file) for packet, _, _ in unpacked(chunk)]
        assert found == _in_order(seconds)
        assert taken == [sum(file == index for _, file in found) for index in range(len(seconds))]
        assert taken[running] == len(seconds[running])


def test_a_part_of_each_is_taken_and_named_by_its_file() -> None:
    keys = Keys()
    chunks = [_chunk(keys, file, [1, 3, 5, 7]) for file in range(3)]
    chunk, taken, _ = merged([Waiting(chunk, 1) for chunk in chunks], NOTHING, START + 4 * SECOND)
    assert chunk is not None
    assert (taken, chunk.file) == ([1, 1, 1], NOTHING)
    found = unpacked(chunk)
    assert [(packet.file, packet.interface) for packet, _, _ in found] == [(0, ""), (1, "eth1"), (2, "")]
    assert [bytes(packet.data[-2:]) for packet, _, _ in found] == [bytes([file, 3]) for file in range(3)]
    assert merged([Waiting(each, 2) for each in chunks], NOTHING, START + 4 * SECOND)[0] is None


def test_chunks_of_two_tables_of_pairs_are_not_merged() -> None:
    keys = Keys(most=2)
    front = Front(keys)
    first = front.take(pcap([(START, ethernet(ipv4(tcp(b"x"))))]))
    second = _chunk(keys, 1, [1])
    assert first.epoch != second.epoch
    assert not can_merge([Waiting(first, 0), Waiting(second, 0)])
