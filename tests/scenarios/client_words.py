"""From what a real client printed to the word of its cell.

The set of brokers that answered decides the verdict (`tests.lab.answers`). The reason is added only
where the client itself names it, and names one: Java's `could not be established` covers a refused
and an unreachable address alike, so it gives no reason. An address of a family that the place does
not have (EADDRNOTAVAIL for `::1`) was never tried, and is no reason either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.lab.answers import Answer

_REASONS: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "kcat": {
        "unresolved": re.compile(r"Failed to resolve"),
        "refused": re.compile(r"failed: Connection refused"),
        "unreachable": re.compile(r"failed: (Network is unreachable|No route to host)"),
        "timeout": re.compile(r"Connection setup timed out|failed: Connection timed out"),
        "closed": re.compile(r"Disconnected|connection reset by peer"),
    },
    "java": {
        "unresolved": re.compile(r"DNS resolution failed|UnknownHostException"),
        "timeout": re.compile(r"due to socket connection setup timeout"),
    },
    "kafka-python": {
        "unresolved": re.compile(r"DNS lookup failed"),
        "refused": re.compile(r"\d+ ECONNREFUSED"),
        "unreachable": re.compile(r"\d+ (ENETUNREACH|EHOSTUNREACH)"),
        "timeout": re.compile(r"timed out after \d+ ms|\d+ ETIMEDOUT"),
        "closed": re.compile(r"socket disconnected|\d+ ECONNRESET"),
    },
}


def word(answer: Answer) -> str:
    """A cell as in `expected.yml`; `bootstrap` or `advertised` alone where the client names no reason."""
    verdict = answer.verdict()
    if verdict == "no-brokers":
        return "advertised: no-brokers"
    if verdict not in ("bootstrap", "advertised"):
        return verdict
    named = [reason for reason, said in _REASONS[answer.oracle].items() if said.search(answer.raw)]
    return f"{verdict}: {named[0]}" if len(named) == 1 else verdict
