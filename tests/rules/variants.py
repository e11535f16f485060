"""The bad examples of the rules, written otherwise: line ends, lists, anchors, `.env`, an override."""

import re
from collections.abc import Callable, Mapping

from tests.rules.repaired import FILE, OVERRIDE

Files = Mapping[str, bytes]
_VARIABLE = re.compile(r"(?P<indent>      )(?P<key>[A-Z][A-Z0-9_]*): (?P<value>[^#\n]*?)(?P<rest>\s*(?:#.*)?)")
_ADDRESSES = re.compile(
    r"(?P<head>      [A-Z][A-Z0-9_]*: )(?P<value>[^#'\"\n${}]*://[^#'\"\n${}]*?)(?P<rest>\s*(?:#.*)?)"
)


def as_written(text: str) -> Files:
    """The example itself."""
    return {FILE: text.encode()}


def with_returns(text: str) -> Files:
    """Lines that end as on Windows, behind a byte order mark, the last one without an end."""
    return {FILE: b"\xef\xbb\xbf" + text.rstrip("\n").replace("\n", "\r\n").encode()}


def as_lists(text: str) -> Files:
    """`- KEY=value` in the place of `KEY: value`."""
    return {FILE: _per_line(text, _VARIABLE, _item).encode()}


def with_anchors(text: str) -> Files:
    """Every listener list as an alias of an anchor."""
    anchors: list[str] = []

    def alias(found: re.Match[str]) -> str:
        anchors.append(f"x-list-{len(anchors)}: &list{len(anchors)} {found['value']}\n")
        return f"{found['head']}*list{len(anchors) - 1}{found['rest']}"

    body = _per_line(text, _ADDRESSES, alias)
    return {FILE: ("".join(anchors) + body).encode()}


def with_dotenv(text: str) -> Files:
    """Every listener list out of `.env`."""
    lines: list[str] = ["# lists\n"]

    def variable(found: re.Match[str]) -> str:
        lines.append(f"LIST_{len(lines)}={found['value']}\n")
        return f"{found['head']}${{LIST_{len(lines) - 1}}}{found['rest']}"

    body = _per_line(text, _ADDRESSES, variable)
    return {FILE: body.encode(), ".env": "".join(lines).encode()}


def with_override(text: str) -> Files:
    """Every listener list in a second file, on top of the same one in the first."""
    services: dict[str, list[str]] = {}
    service = ""
    for line in text.splitlines():
        if re.fullmatch(r"  [\w.-]+:.*", line):
            service = line.partition(":")[0]
        if _ADDRESSES.fullmatch(line):
            services.setdefault(service, []).append(line)
    if not services:
        return as_written(text)
    over = "".join(f"{name}:\n    environment:\n" + "\n".join(lines) + "\n" for name, lines in services.items())
    return {FILE: text.encode(), OVERRIDE: f"# on top\nservices:\n{over}".encode()}


VARIANTS: tuple[Callable[[str], Files], ...] = (
    as_written,
    with_returns,
    as_lists,
    with_anchors,
    with_dotenv,
    with_override,
)


def _item(found: re.Match[str]) -> str:
    value = found["value"]
    quote = value[0] if value[:1] in ("'", '"') and value[-1:] == value[:1] else ""
    bare = value[1:-1] if quote else value
    if bare == "":
        return f"{found['indent']}- {found['key']}={found['rest']}"
    return f"{found['indent']}- {quote}{found['key']}={bare}{quote}{found['rest']}"


def _per_line(text: str, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> str:
    """The text with those lines changed that stand in an `environment` and match as a whole."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("      "):
            inside = line.strip() == "environment:"
        found = pattern.fullmatch(line) if inside else None
        lines.append(change(found) if found else line)
    return "\n".join(lines) + "\n"
