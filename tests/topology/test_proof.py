"""What connect(2) says, beside what was foretold."""

import pytest

from netdiag.topology.hops import End, Path
from netdiag.topology.proof import Agreement, agreement, observed_end


def path(end: End, errno: str = "") -> Path:
    return Path(source=1, destination="a", port=1, address="a", hops=(), end=end, because="", errno=errno)


@pytest.mark.parametrize(
    ("end", "foretold", "came", "closed", "expected"),
    [
        (End.CONNECTED, "", "", False, Agreement.AGREES),
        (End.CONNECTED, "", "", None, Agreement.AGREES),
        (End.CONNECTED, "", "", True, Agreement.DISAGREES),
        (End.CLOSED, "", "", True, Agreement.AGREES),
        (End.CLOSED, "", "", False, Agreement.DISAGREES),
        (End.CONNECTED, "", "ECONNREFUSED", None, Agreement.DISAGREES),
        (End.REFUSED, "ECONNREFUSED", "ECONNREFUSED", None, Agreement.AGREES),
        (End.REFUSED, "EHOSTUNREACH", "ECONNREFUSED", None, Agreement.DISAGREES),
        (End.REFUSED, "EHOSTUNREACH", "EHOSTUNREACH", None, Agreement.AGREES),
        (End.DROPPED, "", "ETIMEDOUT", None, Agreement.AGREES),
        (End.NO_ROUTE, "ENETUNREACH", "EHOSTUNREACH", None, Agreement.DISAGREES),
        (End.NO_NEIGHBOUR, "EHOSTUNREACH", "EHOSTUNREACH", None, Agreement.AGREES),
        (End.UNKNOWN, "", "", None, Agreement.OPEN),
        (End.UNRESOLVED, "", "ETIMEDOUT", None, Agreement.OPEN),
    ],
)
def test_agreement(end: End, foretold: str, came: str, closed: bool | None, expected: Agreement) -> None:
    assert agreement(path(end, foretold), came, closed=closed) is expected


def test_what_an_errno_stands_for() -> None:
    ends = [observed_end(errno) for errno in ("", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH", "EWHAT")]
    assert ends == [End.CONNECTED, End.REFUSED, End.DROPPED, End.NO_ROUTE, End.NO_NEIGHBOUR, End.UNKNOWN]
    assert observed_end("", closed=True) is End.CLOSED
