"""Which stretches of a text are secrets: values of variables whose names say so, and passwords inside values."""

import re
from collections.abc import Sequence

from netdiag.patterns import regex

# Where a store lies and of what type it is, is no secret, nor is the URL that gives tokens.
_TOKEN = r"TOKEN(?![._]ENDPOINT[._]URL\b)"
_WORDS = (
    rf"PASSWORD|PASSWD|PASSPHRASE|SECRET|JAAS|{_TOKEN}|(?:KEY|TRUST)STORE(?![._](?:LOCATION|FILENAME|TYPE)\b)|CREDENTIAL"
    "|PRIVATE.?KEY|API.?KEY|ACCESS.?KEY|SASL.USERS|CLIENT.USERS"
)
_WORD = regex(rf"{_WORDS}|://", re.IGNORECASE)
_NAME = rf"[\w.\-]*(?:{_WORDS})[\w.\-]*"
_ASSIGNMENT = regex(rf"(?:^|[\s\-{{,\"'?;]){_NAME}[\"']?\s*(?:=|:(?=\s|$))\s*(?P<value>.*)$", re.IGNORECASE)
_INSIDE = regex(
    rf"(?:password|passwd|secret|{_TOKEN})[\w.\-]*(?:\\?[\"']\s*:|\s*=|\s*:\s)\s*(?P<value>\\?\"[^\"]*\"?|'[^']*'?|[^\s;,]+)",
    re.IGNORECASE,
)
_IN_URL = regex(r"://[^\s/@:]*:(?P<value>[^\s/@]+)@")
# A key whose value stands on the lines below: a block scalar, or (for what can only be a variable) any scalar.
_SECRET_BLOCK = (
    regex(rf"^\s*(?:-\s+)?[\"']?{_NAME}[\"']?\s*:\s*(?:[&!]\S+\s+)*[|>]", re.IGNORECASE),
    regex(rf"^\s*(?:-\s+)?[\"']?[A-Z0-9_.]*(?:{_WORDS})[A-Z0-9_.]*[\"']?\s*:\s*(?:[&!]\S+(?:\s+|$))*(?:#.*)?$"),
)

HIDDEN = "[hidden]"
# Beyond this a text is not searched for where its secret ends: all that follows the word is hidden.
_LONG = 4000
# A block scalar or mapping is searched upwards for its key no further than this.
_BLOCK_LINES = 200
# A key, its tag and its anchor are within so many characters.
_KEY = 1000


def secret_spans(lines: Sequence[str], index: int) -> list[tuple[int, int]]:
    """The character ranges of line `index` that must not be shown, in order, not overlapping."""
    line = lines[index]
    if _below_secret_key(lines, index):
        return [(len(line) - len(line.lstrip()), len(line))]
    return _spans(line, (_ASSIGNMENT, _INSIDE, _IN_URL))


def redacted(text: str) -> str:
    """A message with the values of passwords inside it hidden."""
    parts: list[str] = []
    position = 0
    for start, end in _spans(text, (_INSIDE, _IN_URL)):
        parts += [text[position:start], HIDDEN]
        position = end
    return "".join([*parts, text[position:]])


def redacted_error(message: str, where: str | None) -> str:
    """A message behind the place that it is about: a file may be called like a secret, which what follows is not."""
    return ": ".join(redacted(part) for part in (where, message) if part)


def _spans(text: str, patterns: Sequence[re.Pattern[str]]) -> list[tuple[int, int]]:
    if len(text) > _LONG:
        word = _WORD.search(text)
        return [(word.start(), len(text))] if word else []
    found = [match.span("value") for pattern in patterns for match in pattern.finditer(text)]
    return _merged([(start, end) for start, end in found if start < end])


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _below_secret_key(lines: Sequence[str], index: int) -> bool:
    """Whether the line belongs to a block (scalar, list or mapping) under a key that names a secret."""
    indent, is_item = _indent(lines[index]), _is_item(lines[index])
    for above in range(index - 1, max(-1, index - _BLOCK_LINES), -1):
        line = lines[above]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        # The items of a list may stand as far to the left as its key.
        is_its_key = is_item and _indent(line) == indent and not _is_item(line)
        if _indent(line) >= indent and not is_its_key:
            continue
        if any(pattern.match(line[:_KEY]) for pattern in _SECRET_BLOCK):
            return True
        indent, is_item = _indent(line), _is_item(line)
    return False


def _is_item(line: str) -> bool:
    return line.split(maxsplit=1)[:1] == ["-"]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
