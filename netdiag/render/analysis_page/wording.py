"""How times, numbers and foreign names are written on the page."""

from datetime import UTC, datetime

from netdiag.render.topology.lettering import ELLIPSIS, visible
from netdiag.traffic.buckets import Buckets

# Longer names are shortened in their middle, where names of a kind differ least; nobody reads more in a table.
LONGEST = 64
_SECOND = 1_000_000


def plain(text: str, longest: int = LONGEST) -> str:
    """A foreign name, harmless and not long."""
    shown = visible(text[: 4 * longest] + text[-4 * longest :] if len(text) > 8 * longest else text)
    if len(shown) <= longest:
        return shown
    tail = (longest - 1) // 3
    return shown[: longest - 1 - tail] + ELLIPSIS + shown[-tail:]


def few(number: float) -> str:
    """A number at three digits or all of its integer part."""
    if number >= 100 or number == int(number):
        return f"{number:,.0f}"
    return f"{number:.3g}"


def clock(span: Buckets, bucket: int) -> str:
    """The time of day at which a bucket begins, with its date where the span has several days."""
    time = span.begin(bucket)
    whole = datetime.fromtimestamp(time // _SECOND, UTC)
    days = span.first // (86_400 * _SECOND) != (span.end - 1) // (86_400 * _SECOND)
    text = f"{whole:%Y-%m-%d %H:%M:%S}" if days else f"{whole:%H:%M:%S}"
    return f"{text}.{time % _SECOND // 1000:03d}" if span.length % _SECOND else text
