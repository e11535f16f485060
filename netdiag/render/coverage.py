"""What of a capture was not read, in one line: numbers that look complete and are not mislead."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

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


class Coverage:
    """Adds up losses by reason, in any number of steps."""

    def __init__(self) -> None:
        self._lost: Counter[str] = Counter()
        self._dropped = 0

    def add(self, losses: Iterable[Sequence[Any]]) -> None:
        """Count rows of the table `losses`."""
        for loss in map(LossRow._make, losses):
            if loss.kind == "dropped":
                self._dropped += loss.times
            elif loss.kind not in _USUAL:
                self._lost[loss.kind] += loss.bytes

    @property
    def line(self) -> str | None:
        """How many bytes were not read, by reason, most first; None where nothing worth telling was lost."""
        parts = [f"{self._dropped:,} packets that were dropped while capturing"] if self._dropped else []
        parts += (f"{count:,} bytes {_WORDS.get(kind, kind)}" for kind, count in self._lost.most_common())
        return f"not read: {', '.join(parts)}" if parts else None
