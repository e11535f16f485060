"""The front gives what the readers in plain Python give, packet for packet and byte for byte of the account."""

from pathlib import Path
from random import Random

import pytest

from netdiag.errors import InputError
from netdiag.traffic.engine.compiled.front import BUFFERS, Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from tests.traffic.engine.compiled.fronts import Read, assert_same, by_front, pieces, unpacked
from tests.traffic.engine.test_damaged_captures import FILES, mutated

SIZES = ([700, 1, 300], [1460], [1 << 22])


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", FILES)
def test_whole_files(name: str, sizes: list[int]) -> None:
    assert assert_same(FILES[name], sizes) == (120, 115)


@pytest.mark.parametrize("name", FILES)
def test_a_file_byte_by_byte(name: str) -> None:
    count, _ = assert_same(FILES[name][:9000], [1])
    assert count > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_damaged_files(name: str) -> None:
    random, refused = Random(name), 0
    for _ in range(40):
        data = mutated(random, FILES[name])
        sizes = [random.choice((100, 500, 1460, 65_536, 1 << 20)) for _ in range(random.randrange(1, 4))]
        try:
            assert_same(data, sizes)
        except InputError as error:
            refused += 1
            with pytest.raises(InputError, match=error.message):
                by_front(data, sizes)
    assert refused < 10


@pytest.mark.parametrize("data", [b"", b"\xd4", b"\xd4\xc3\xb2", b"not a capture", b"\xd4\xc3\xb2\xa1\x09" + bytes(40)])
def test_what_is_no_capture_is_refused_as_the_reference_does(data: bytes) -> None:
    with pytest.raises(InputError) as meant:
        assert_same(data, [1])
    with pytest.raises(InputError) as said:
        by_front(data, [1])
    assert (said.value.message, said.value.hint) == (meant.value.message, meant.value.hint)


@pytest.mark.parametrize("name", ["pcap", "pcapng <"])
def test_bytes_are_read_into_their_place(name: str, tmp_path: Path) -> None:
    (tmp_path / "capture").write_bytes(FILES[name])
    front, found = Front(Keys(), file=2), list[object]()
    with open(tmp_path / "capture", "rb", buffering=0) as stream:
        while count := stream.readinto(front.place(5000)):
            found += unpacked(front.filled(count))
    found += unpacked(front.end())
    assert found == by_front(FILES[name], [5000], file=2)[0]


def test_a_chunk_stays_good_until_its_buffer_is_used_again() -> None:
    front, held = Front(Keys()), list[tuple[int, Read]]()
    chunks = [front.take(piece) for piece in pieces(FILES["pcap"][: 3000 * (BUFFERS - 1)], [3000])]
    held = [(chunk.pairs, unpacked(chunk)) for chunk in chunks]
    meant, _ = by_front(FILES["pcap"][: 3000 * (BUFFERS - 1)], [3000])
    assert [each for _, read in held for each in read] == meant


def test_a_crowded_table_begins_again_with_a_chunk() -> None:
    front, found, epochs = Front(Keys(most=2)), list[object](), list[int]()
    for piece in pieces(FILES["pcap"], [20_000]):
        chunk = front.take(piece)
        epochs.append(chunk.epoch)
        found += unpacked(chunk)
    assert epochs == list(range(len(epochs)))
    assert found == by_front(FILES["pcap"], [20_000])[0]
