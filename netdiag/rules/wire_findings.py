"""What rules about captures share: the place of a fact, its client, counts and times in words."""

from collections.abc import Iterable

from netdiag.findings import Finding, Related, Severity, WireLocation
from netdiag.kafka.protocol.table import api_name
from netdiag.traffic.facts import RequestCounts, Sighting, WireView

_SHOWN = 3


def finding(
    rule: str,
    severity: Severity,
    seen: Sighting,
    message: str,
    *,
    why: str = "",
    hint: str = "",
    related: Iterable[Related] = (),
) -> Finding:
    """A finding about what was seen; the client is its service, the broker's address its listener."""
    return Finding(
        rule=rule,
        severity=severity,
        message=message,
        location=place(seen),
        why=why,
        hint=hint,
        related=tuple(related),
        service=seen.client_id or seen.client_host or None,
        listener=seen.broker or None,
    )


def requests_by_client(view: WireView) -> dict[tuple[str, str | None], list[RequestCounts]]:
    """The requests of each client, which is its address and its client.id."""
    found: dict[tuple[str, str | None], list[RequestCounts]] = {}
    for each in view.request_counts:
        found.setdefault((each.client_host, each.client_id), []).append(each)
    return found


def place(seen: Sighting) -> WireLocation:
    """Where it was seen first."""
    return WireLocation(file=seen.file, packet=seen.packet, time=seen.time, client=seen.client, broker=seen.broker)


def who(seen: Sighting) -> str:
    """The client by its client.id and its address."""
    host = seen.client_host or "an unknown address"
    return f"client {seen.client_id} at {host}" if seen.client_id else f"a client at {host}"


def during(seconds: float) -> str:
    """A duration in words."""
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def times(count: int) -> str:
    """How often."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def several(names: Iterable[str]) -> str:
    """The first few names."""
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def size(count: float) -> str:
    """A number of bytes in words."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} bytes"


def request(api_key: int) -> str:
    """The name of an api key."""
    return api_name(api_key)
