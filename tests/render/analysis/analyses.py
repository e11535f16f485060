"""An analysis from literals."""

from typing import Any

from netdiag.findings import Finding, Severity, WireLocation
from netdiag.traffic.analysis import Analysis, Answer, Seen
from netdiag.traffic.tables import Kind, aggregate

T0 = 1_700_000_000_123_456_789
_EMPTY: dict[Kind, Any] = {
    Kind.BOOL: False,
    Kind.INT16: 0,
    Kind.INT32: 0,
    Kind.INT64: 0,
    Kind.FLOAT64: 0.0,
    Kind.STRING: "",
    Kind.STRINGS: (),
    Kind.TIME: T0,
}


def answer(name: str, *rows: dict[str, Any], total: int | None = None) -> Answer:
    """An answer; what a row does not name is null or empty."""
    columns = aggregate(name).columns
    whole = []
    for given in rows:
        assert set(given) <= set(aggregate(name).names), set(given) - set(aggregate(name).names)
        whole.append({each.name: _EMPTY[each.kind] if each.required else None for each in columns} | given)
    return Answer(rows=tuple(whole), total=len(rows) if total is None else total)


def analysis(**answers: Answer) -> Analysis:
    """What was seen is always the same."""
    return Analysis(
        seen=Seen(files=("a.pcap",), bytes=12_345_678, packets=98_765, first=T0, last=T0 + 90_000_000_000),
        connections=3,
        protocols={"tls": 1, "kafka": 2},
        answers=answers,
    )


def finding(message: str = "localhost:9092 is told to 10.0.0.2") -> Finding:
    """A finding in a capture."""
    place = WireLocation(file="a.pcap", packet=7, time=T0, client="10.0.0.2:40000", broker="10.0.0.9:9092")
    return Finding(rule="wire-told-loopback", severity=Severity.ERROR, message=message, location=place, hint="mend it")
