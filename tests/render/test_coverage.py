"""What was not read, in one line."""

from netdiag.render.exchanges import UnreadCounter
from netdiag.traffic.rows import LossRow


def loss(kind: str, count: int) -> LossRow:
    return LossRow("a", None, None, None, kind, count, 1, None)


def coverage_line(losses: list[LossRow]) -> str | None:
    coverage = UnreadCounter()
    for each in losses:
        coverage.add([each])
    return coverage.line


def test_reasons_with_most_bytes_come_first() -> None:
    line = coverage_line([loss("gap", 10), loss("tls", 2000), loss("gap", 20)])
    assert line == "not read: 2,000 bytes of TLS, 30 bytes of packets that are missing"


def test_what_is_usual_is_not_told() -> None:
    assert coverage_line([loss("truncated", 10), loss("not-tcp", 5)]) is None
    assert coverage_line([]) is None


def test_a_kind_without_words_is_told_by_its_name() -> None:
    assert coverage_line([loss("checksum", 7)]) == "not read: 7 bytes checksum"


def test_dropped_packets_are_counted_as_such() -> None:
    line = coverage_line([loss("dropped", 0)._replace(times=1200), loss("gap", 10)])
    assert line == "not read: 1,200 packets that were dropped while capturing, 10 bytes of packets that are missing"
