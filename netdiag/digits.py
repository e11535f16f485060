"""Numbers in text from outside.

`int` accepts signs, underscores and the digits of every script. It raises ValueError for "²", which `str.isdigit`
accepts, and for more than 4,300 digits. Patterns whose numbers go to `int` have a limit for their digits.
"""

MOST = 18


def number_of(text: str) -> int | None:
    """The number that at most 18 ASCII digits write; None for any other text."""
    return int(text) if len(text) <= MOST and text.isascii() and text.isdigit() else None
