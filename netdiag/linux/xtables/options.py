"""Pieces of options as iptables-save writes them."""

from collections.abc import Mapping

from netdiag.linux.rtnetlink import Detail

Fields = Mapping[str, Detail]

_SCALE = 10_000
_PERIODS = ((1, "sec"), (60, "min"), (3600, "hour"), (86400, "day"))
_BARE = frozenset("_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def option(fields: Fields, name: str, word: str, value: str) -> str:
    """An option with its value, negated if the fields say so."""
    return f"{negation(fields, name)}{word} {value}".rstrip(" ")


def negation(fields: Fields, name: str) -> str:
    """The mark before a negated option."""
    words = fields.get("not")
    return "! " if isinstance(words, list) and name in words else ""


def integer(fields: Fields, name: str) -> int:
    """A number among the fields."""
    value = fields.get(name)
    return value if isinstance(value, int) else 0


def listed(fields: Fields, name: str) -> list[Detail]:
    """A list among the fields."""
    value = fields.get(name)
    return value if isinstance(value, list) else []


def pair(value: Detail) -> tuple[str, str]:
    """The first and the last of a range."""
    return (str(value[0]), str(value[1])) if isinstance(value, list) and len(value) > 1 else (str(value), str(value))


def port_range(value: Detail, separator: str = ":") -> str:
    """One number, or two with a sign between."""
    first, last = pair(value)
    return first if first == last else f"{first}{separator}{last}"


def quoted(text: str) -> str:
    """A string, in quotation marks unless it is of plain letters."""
    if text and _BARE.issuperset(text):
        return text
    return '"' + "".join(f"\\{letter}" if letter in "\"\\'" else letter for letter in text) + '"'


def rate(average: int, scale: int = _SCALE) -> str:
    """How many in which period, of the average distance of two in parts of a second.

    The shortest period is taken in which the number is still told well: with less left over than it counts.
    """
    period = max(average, 1)
    found = _PERIODS[-1]
    for seconds, word in reversed(_PERIODS):
        count, left = divmod(seconds * scale, period)
        if word != "day" and (period > seconds * scale or count < left):
            break
        found = seconds, word
    return f"{found[0] * scale // period}/{found[1]}"
