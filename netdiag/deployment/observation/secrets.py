"""Which variables hold secrets, by their names, and the passwords inside other values."""

import re
from collections.abc import Sequence

from netdiag.patterns import regex

HIDDEN = "[hidden]"

# Stricter than what a message hides: a recording is handed to others.
_NAME = regex(
    r"PASS(?!IVE)|PWD|SECRET|JAAS|TOKEN|CREDENTIAL|PRIVATE.?KEY|API.?KEY|ACCESS.?KEY|SASL.USERS|CLIENT.USERS|_KEY$|_DSN$"
    r"|_AUTH$|COOKIE|LICENSE",
    re.IGNORECASE,
)
_NO_SECRET = regex(r"_(?:FILENAME|FILE|LOCATION)$|^KAFKA_\w*_CREDENTIALS$", re.IGNORECASE)
_INSIDE = regex(
    r"(?P<name>[\w.\-]*(?:password|passwd|passphrase|secret|token|user_\w{1,64})[\w.\-]{0,64}"
    r"(?:\\?[\"']\s*:\s*|\s*=\s*|\s*:\s+))(?P<value>\\?\"[^\"]*\"?|'[^']*'?|[^\s;,]+)",
    re.IGNORECASE,
)
_OPTION = regex(r"(--?[\w\-]{0,64}(?:pass(?:word|wd|phrase)?|secret|token)\s+)[^\s\-]\S*", re.IGNORECASE)
_OPTION_ALONE = regex(r"--?[\w\-.]{0,64}(?:pass(?:word|wd|phrase)?|secret|token)", re.IGNORECASE)
_IN_URL = regex(r"(://[^\s/@:]*:)[^\s/@]+(@)")
_LONG = 20_000


def is_secret(name: str, value: str) -> bool:
    """Whether a variable's value, or a part of it, is nobody's business. The name of a file is no secret."""
    return masked(name, value) != value


def masked(name: str, value: str) -> str:
    """The value with what is secret of it hidden."""
    if not value:
        return value
    if _NAME.search(name) and not _NO_SECRET.search(name):
        return HIDDEN
    return masked_text(value)


def masked_text(text: str) -> str:
    """A text with the passwords inside it hidden; one that is too long to be searched is cut."""
    if len(text) > _LONG:
        return text[:_LONG] + HIDDEN
    return _IN_URL.sub(rf"\1{HIDDEN}\2", _OPTION.sub(rf"\1{HIDDEN}", _INSIDE.sub(rf"\g<name>{HIDDEN}", text)))


def masked_words(words: Sequence[str]) -> tuple[str, ...]:
    """A command line with what follows the options for passwords hidden."""
    return tuple(
        HIDDEN if index and _OPTION_ALONE.fullmatch(words[index - 1]) else masked_text(word)
        for index, word in enumerate(words)
    )
