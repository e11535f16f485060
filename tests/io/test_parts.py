"""Parts of files, each read on its own, make the whole: the same packets, and the same account."""

from pathlib import Path
from random import Random

import pytest

from netdiag.errors import InputError
from netdiag.io.parts import PartReader, file_parts, whole
from netdiag.traffic.engine.account import Account
from netdiag.traffic.engine.compiled.front import Chunk, Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.packet import Undecoded
from netdiag.traffic.engine.walk import Decoded
from tests.traffic.engine.capture_files import START, block, enhanced, interface, option, pcap, section
from tests.traffic.engine.compiled.fronts import Read, by_front, explained, unpacked
from tests.traffic.engine.frames import ethernet, ipv4, tcp
from tests.traffic.engine.test_damaged_captures import mutated

MILLISECOND = 1_000_000


def _contents(random: Random, count: int) -> list[tuple[int, bytes]]:
    return [
        (START + index * MILLISECOND, ethernet(ipv4(tcp(random.randbytes(random.randrange(1400)), sequence=index))))
        for index in range(count)
    ]


def _pcapng(contents: list[tuple[int, bytes]], *, order: str = "<") -> bytes:
    head = section(order=order) + interface(order=order) + interface(order=order, options=option(2, b"x", order=order))
    return head + b"".join(
        enhanced(time // 1000, data, index=index % 2, order=order) for index, (time, data) in enumerate(contents)
    )


def _by_parts(path: str, size: int, piece: int = 100_000) -> tuple[Read, Account, int]:
    """Also how many parts were void."""
    found = file_parts(path, size)
    results, reads = [], list[Read]()
    for index in reversed(range(len(found))):
        front, reader = Front(Keys()), PartReader[Chunk](path, found, index)
        reads.append([each for chunk in reader.eaten_by(front, piece) for each in unpacked(chunk)])
        results.append((reader, front.account))
    results.reverse()
    reads.reverse()
    good, account = whole(results)
    made: Read = []
    base = 0
    for index in good:
        for packet, decoded, is_done in reads[index]:
            made.append((packet._replace(number=packet.number + base), _renumbered(decoded, base), is_done))
        base += results[index][1].packets
    return made, account, len(found) - len(good)


def _renumbered(value: Decoded, base: int) -> Decoded:
    return value if isinstance(value, Undecoded) else value._replace(number=value.number + base)


def _assert_whole(path: Path, data: bytes, size: int) -> tuple[int, int]:
    """How many parts there were, and how many of them void."""
    path.write_bytes(data)
    meant, account = by_front(data, [100_000])
    made, own, void = _by_parts(str(path), size)
    assert made == meant
    assert explained(own) == explained(account)
    return len(file_parts(str(path), size)), void


def _files(random: Random) -> dict[str, bytes]:
    contents = _contents(random, 3000)
    return {
        "pcap": pcap(contents),
        "modified": pcap(contents, modified=True, order=">"),
        "pcapng": _pcapng(contents),
        "pcapng >": _pcapng(contents, order=">"),
    }


FILES = _files(Random(21))


@pytest.mark.parametrize("name", FILES)
def test_parts_make_the_whole(name: str, tmp_path: Path) -> None:
    count, void = _assert_whole(tmp_path / "capture", FILES[name], 150_000)
    assert count > 4
    assert void == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_parts_of_a_damaged_file_make_what_is_left_of_it(name: str, tmp_path: Path) -> None:
    random, count = Random(name), 0
    for _ in range(8):
        data = FILES[name][:400] + mutated(random, FILES[name][400:])
        count += _assert_whole(tmp_path / "capture", data, random.choice((60_000, 150_000, 400_000)))[0]
    assert count > 15


def test_a_part_that_knows_too_little_is_void(tmp_path: Path) -> None:
    """What a later section, another file behind the first or a count of drops says holds for the parts behind it."""
    random = Random(8)
    first, second = _contents(random, 1500), _contents(random, 1500)
    drops = block(5, bytes(12) + option(5, (7).to_bytes(8, "little")) + option(0, b""))
    head = len(_pcapng([]))
    for data in (
        _pcapng(first) + section() + interface() + interface(link=113) + _pcapng(second)[head:],
        _pcapng(first) + interface() + _pcapng(second)[head:],
        _pcapng(first) + drops + _pcapng(second)[head:] + drops,
        pcap(first) + pcap(second, link=113),
    ):
        count, void = _assert_whole(tmp_path / "capture", data, 150_000)
        assert count > 4
        assert 0 < void < count


def test_a_missing_part_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "capture").write_bytes(FILES["pcap"])
    found = file_parts(str(tmp_path / "capture"), 150_000)
    readers = [PartReader[Chunk](str(tmp_path / "capture"), found, index) for index in (0, 2)]
    for reader in readers:
        list(reader.eaten_by(Front(Keys()), 100_000))
    with pytest.raises(ValueError, match="missing"):
        whole([(reader, Account()) for reader in readers])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as told:
        file_parts(str(tmp_path / "nothing"), 1000)
    assert told.value.where == str(tmp_path / "nothing")
