"""Random edits of a compose file, as somebody types them."""

import random

_PIECES = (
    "localhost",
    "0.0.0.0",
    "kafka",
    ":9092",
    "29092",
    "INTERNAL://",
    ",",
    " ",
    "\n",
    "  ",
    '"',
    "'",
    "${HOST:-localhost}",
    "# netdiag: ignore[advertised-loopback-for-remote-clients] meant\n",
    "\u2028",
    "\U0001f427",
    "é",
    "\t",
    "- ",
    "ports:\n",
    "{",
    "*x",
    "\r",
)


def edits(seed: int, text: str, count: int) -> list[str]:
    """The texts after each of `count` edits; now and then the first one comes back."""
    chance = random.Random(seed)
    found = []
    now = text
    for _ in range(count):
        if chance.random() < 0.15 or len(now) > 2 * len(text):
            now = text
        at = chance.randrange(len(now) + 1)
        if chance.random() < 0.5:
            now = now[:at] + chance.choice(_PIECES) + now[at:]
        else:
            now = now[:at] + now[at + chance.randrange(1, 12) :]
        found.append(now)
    return found
