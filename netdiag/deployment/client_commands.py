"""Which addresses the command, the entrypoint or the health check of a member gives to Kafka's tools.

A command is words, or a script in one of them. It is read as one text in which words are divided by NUL, so that an
option and its value may be neighbours in either form. What the shell would expand is not followed.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice

from netdiag.deployment.bootstrap_lists import bootstrap_list_at
from netdiag.deployment.member import BootstrapAddress

# How far apart the parts of one command are looked for, and how many addresses are taken from a script.
_FAR = 1000
_MOST = 200

_BLANK = r"(?:[ \t\0]|\\\r?\n)"
_OPTION = re.compile(
    r"(?i)(?<![\w./-])(?P<name>--?[\w.-]{0,80}?(?:bootstrap[._-]?servers?|broker-list|brokers?|kafka[._-]?servers?))"
    r"(?:=|" + _BLANK + r"{1,20})[\"']?"
)
_PROPERTY = re.compile(r"(?i)(?<![\w-])(?P<name>bootstrap[._-]?servers?|metadata\.broker\.list|brokers)=[\"']?")
_TOOL = re.compile(r"(?<![\w.-])(?:kafkacat|kcat|kafka-ready|kaf)(?=[ \t\0])")
_DASH_B = re.compile(r"(?:(?<=[ \t\0])|\A)-b[ \t\0]{0,9}[\"']?")
_COMMAND_END = re.compile(r"[|;&]|(?<!\\)\n")
_NETCAT = re.compile(
    r"(?<![\w.-])(?:nc|ncat|netcat)(?:[ \t\0]{1,9}-[A-Za-z]{1,9}(?:[ \t\0]{1,9}\d{1,5}(?=[ \t\0]{1,9}[A-Za-z]))?){0,9}"
    r"[ \t\0]{1,9}(?P<host>[A-Za-z0-9][\w.-]{0,250})[ \t\0:]{1,9}(?P<port>\d{1,5})(?!\w)"
)
_DEV_TCP = re.compile(r"/dev/tcp/(?P<host>[A-Za-z0-9][\w.-]{0,250})/(?P<port>\d{1,5})(?!\w)")
_WAIT_FOR = re.compile(r"(?:wait[-_]for(?:[-_]it)?(?:\.sh)?|(?<![\w-])--?wait)(?:=|[ \t\0]{1,9})[\"']?(?=[\w:/.-]*:\d)")
_CONTACT_IMAGE = re.compile(r"(?:^|/)(?:kcat|kafkacat|cp-kafkacat)(?:[:@]|$)")
_HAS_PROTOCOL = re.compile(r"(?i)security[._-]protocol=[\"']?(\w+)")
_HAS_CONFIG = re.compile(r"(?<![\w-])--?(?:(?:producer\.|consumer\.)?config|command-config|config-file|F)(?!\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Addresses that stand in word `word` of a command, with their places in that word.

    `tool` is the program that gets them, as far as it can be told; `configured` is true where a file is named that
    may say more. `protocol` is the security protocol that stands in the command.
    """

    word: int
    option: str
    addresses: tuple[BootstrapAddress, ...]
    waits: bool = False
    tool: str = ""
    protocol: str | None = None
    configured: bool = False


def given_by_command(words: Sequence[str], *, image: str = "") -> tuple[Given, ...]:
    """What the words of a command give to clients, each address once."""
    text = "\0".join(words)
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    found: list[Given] = []
    seen: set[tuple[str, int, bool]] = set()
    for given in sorted(islice(_given(text, _CONTACT_IMAGE.search(image) is not None), _MOST), key=_order):
        new = tuple(a for a in given.addresses if (a.host, a.port, given.waits) not in seen)
        if not new or _is_comment(text, new[0].start):
            continue
        seen.update((a.host, a.port, given.waits) for a in new)
        word = bisect_right(starts, new[0].start) - 1
        shift = starts[word]
        moved = tuple(replace(a, start=a.start - shift, end=a.end - shift) for a in new)
        found.append(replace(given, word=word, addresses=moved))
    return tuple(found)


def _order(given: Given) -> tuple[int, bool]:
    return (given.addresses[0].start, given.waits)


def _given(text: str, contacts: bool) -> Iterator[Given]:
    for pattern in (_OPTION, _PROPERTY):
        for match in pattern.finditer(text):
            yield from _client(text, match.end(), match["name"])
    tools = [match.end() for match in islice(_TOOL.finditer(text), _MOST)]
    for start in [*([0] if contacts else []), *tools]:
        end = _COMMAND_END.search(text, start, start + _FAR)
        option = _DASH_B.search(text, start, end.start() if end else start + _FAR)
        if option is not None:
            yield from _client(text, option.end(), "-b")
    for pattern in (_NETCAT, _DEV_TCP):
        for match in pattern.finditer(text):
            yield from _waiting(match)
    for match in _WAIT_FOR.finditer(text):
        addresses, _ = bootstrap_list_at(text, match.end())
        if addresses:
            yield Given(word=0, option="wait", addresses=addresses[:1], waits=True)


def _client(text: str, position: int, option: str) -> Iterator[Given]:
    addresses, end = bootstrap_list_at(text, position)
    if not addresses:
        return
    near = max(0, position - _FAR)
    start = max((m.end() for m in _COMMAND_END.finditer(text, near, position)), default=near)
    stop = _COMMAND_END.search(text, end, end + _FAR)
    command = text[start : stop.start() if stop else end + _FAR]
    protocol = _HAS_PROTOCOL.search(command)
    yield Given(
        word=0,
        option=option,
        addresses=addresses,
        tool=_tool(text[start:position]),
        protocol=protocol[1].upper() if protocol else None,
        configured=_HAS_CONFIG.search(command) is not None,
    )


def _tool(command: str) -> str:
    """The last program of Kafka's that a piece of a command names."""
    names = re.findall(r"(?<![\w.-])(kafka-[a-z-]+|kcat|kafkacat|cub|rpk|kaf|ksql-datagen)(?:\.sh)?(?![\w-])", command)
    return names[-1] if names else ""


def _waiting(match: re.Match[str]) -> Iterator[Given]:
    port = int(match["port"])
    if 0 < port < 65536:
        address = BootstrapAddress(host=match["host"], port=port, start=match.start("host"), end=match.end("port"))
        yield Given(word=0, option="wait", addresses=(address,), waits=True)


def _is_comment(text: str, position: int) -> bool:
    line = max(text.rfind("\n", 0, position), text.rfind("\0", 0, position)) + 1
    return text[line:position].lstrip().startswith("#")
