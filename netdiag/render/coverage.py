"""What of a capture was not read, in one line: numbers that look complete and are not mislead."""

from collections import Counter
from collections.abc import Iterable

from netdiag.traffic.rows import LossRow

# What a snap length cuts off was not wanted, and what is no TCP is no Kafka.
_USUAL = frozenset({"truncated", "not-tcp"})
_WORDS = {
    "damage": "of damaged packets",
    "gap": "of packets that are missing",
    "resync": "before a message began",
    "fragment": "of IP fragments",
    "unsupported-link": "of unknown link layers",
    "other-protocol": "of other protocols",
    "tls": "of TLS",
    "sasl": "of SASL tokens",
    "limit": "beyond limits",
}


def coverage_line(losses: Iterable[LossRow]) -> str | None:
    """How many bytes were not read, by reason, most first; None where nothing worth telling was lost."""
    lost: Counter[str] = Counter()
    dropped = 0
    for loss in losses:
        if loss.kind == "dropped":
            dropped += loss.times
        elif loss.kind not in _USUAL:
            lost[loss.kind] += loss.bytes
    parts = [f"{dropped:,} packets that were dropped while capturing"] if dropped else []
    parts += (f"{count:,} bytes {_WORDS.get(kind, kind)}" for kind, count in lost.most_common())
    return f"not read: {', '.join(parts)}" if parts else None
