"""The same connection under other addresses is found by its numbers, another one is not."""

from netdiag.traffic.engine.linking import RECENT, Linker
from netdiag.traffic.engine.packet import ACK, SYN
from tests.traffic.engine.segments import segment

CLIENT, SERVER = "10.0.0.1:40000", "172.18.0.2:9092"


def test_a_syn_is_found_by_its_initial_number_for_a_while() -> None:
    linker: Linker[str] = Linker()
    linker.note(segment(flags=SYN, sequence=77), "one", 0)
    assert linker.find(segment(destination="172.18.0.2:9092", flags=SYN, sequence=77, time=1)) == ("one", 0)
    assert linker.find(segment(destination="172.18.0.2:9092", flags=SYN, sequence=78, time=1)) is None
    assert linker.find(segment(destination="172.18.0.2:9092", flags=SYN, sequence=77, time=5000)) is None


def test_a_syn_ack_is_found_by_what_it_acknowledges() -> None:
    linker: Linker[str] = Linker()
    linker.note(segment(flags=SYN, sequence=0xFFFFFFFF), "one", 0)
    assert linker.find(segment(SERVER, CLIENT, flags=SYN | ACK, sequence=5, acknowledgement=0)) == ("one", 1)
    assert linker.find(segment(SERVER, CLIENT, flags=SYN | ACK, sequence=5, acknowledgement=1)) is None


def test_data_is_found_by_its_numbers_and_length() -> None:
    linker: Linker[str] = Linker()
    linker.note(segment(sequence=5, acknowledgement=9, payload=b"abc"), "one", 1)
    assert linker.find(segment(sequence=5, acknowledgement=9, payload=b"abc", time=3)) == ("one", 1)
    assert linker.find(segment(sequence=5, acknowledgement=9, payload=b"ab", time=3)) is None
    assert linker.find(segment(sequence=5, acknowledgement=9, payload=b"abc", time=2000)) is None


def test_only_the_last_are_remembered() -> None:
    linker: Linker[int] = Linker()
    for number in range(RECENT + 1):
        linker.note(segment(flags=SYN, sequence=number), number, 0)
    assert linker.find(segment(flags=SYN, sequence=0)) is None
    assert linker.find(segment(flags=SYN, sequence=1)) == (1, 0)


def test_what_is_repeated_counts_each_time() -> None:
    linker: Linker[int] = Linker()
    for number in range(RECENT // 2 + 1):
        for again in range(2):
            linker.note(segment(flags=SYN, sequence=number, time=again), number, 0)
    assert linker.find(segment(flags=SYN, sequence=0)) is None
    assert linker.find(segment(flags=SYN, sequence=1)) == (1, 0)


def test_another_port_of_the_client_is_another_connection() -> None:
    linker: Linker[str] = Linker()
    linker.note(segment(flags=SYN, sequence=77), "one", 0)
    linker.note(segment(sequence=5, acknowledgement=9, payload=b"abc"), "one", 0)
    assert linker.find(segment("10.0.0.1:40001", SERVER, flags=SYN, sequence=77)) is None
    assert (
        linker.find(segment("10.0.0.1:40001", "10.0.0.2:9093", sequence=5, acknowledgement=9, payload=b"abc")) is None
    )
