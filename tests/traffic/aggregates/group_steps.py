"""Group events as one writes them down: who did what when."""

from typing import Any

from tests.traffic.aggregates.frames import MS, T0

JOIN, SYNC, BEAT, LEAVE, CONSUMER = 11, 14, 12, 13, 68


def event(at: float, api_key: int, member: str, generation: int | None = None, **more: Any) -> dict[str, Any]:
    """An exchange `at` milliseconds, answered a millisecond later unless it says otherwise."""
    answered = more.pop("answered", at + 1)
    return {
        "time": int(T0 + at * MS),
        "response_time": int(T0 + answered * MS),
        "api_key": api_key,
        "member_id": member,
        "client_id": member.partition("-")[0],
        "client": f"10.0.0.{ord(member[0]) % 100}:4000",
        "generation": generation,
        **more,
    }


def generation(at: float, number: int, *members: str, **more: Any) -> list[dict[str, Any]]:
    """Everybody joins, the first one leads, everybody gets a partition."""
    found = []
    for index, member in enumerate(members):
        usual = {
            "answered": at + 10,
            "leader": members[0],
            "members": members if index == 0 else (),
            "protocol": "range",
            "session_timeout_ms": 10_000,
        }
        found.append(event(at + index, JOIN, member, number, **{**usual, **more}))
        found.append(event(at + 10, SYNC, member, number, answered=at + 20, assignment=(f"t-{index}",)))
    return found


def beats(begin: float, end: float, member: str, number: int, **more: Any) -> list[dict[str, Any]]:
    """Heartbeats every three seconds."""
    return [event(at, BEAT, member, number, **more) for at in range(int(begin), int(end), 3000)]
