"""Words that instructions put where an address belongs."""

import re

_KIND = r"(?:IP|HOST|HOSTNAME|HOST_?IP|ADDR|ADDRESS|DOMAIN|FQDN|SERVER)"
# Upper case with underscores is a variable's name, not a host's; "your" in front means the reader.
_PLACEHOLDER = re.compile(
    rf"(?:[A-Z0-9]+_)+{_KIND}|(?:MY|YOUR)_?{_KIND}|[Yy]our[-_.]?\w[\w.-]*|[Xx]{{1,3}}(?:\.[Xx]{{1,3}}){{3}}"
    r"|(?i:change[-_]?me|replace[-_]?me)"
)
_BRACKETED = re.compile(r"://(?P<text><[^<>]*>|\{\{[^{}]*\}\}|\[[A-Za-z][A-Za-z _-]*\]):")


def is_placeholder(host: str) -> bool:
    """Whether a host is such a word as a whole."""
    return _PLACEHOLDER.fullmatch(host) is not None


def placeholder_in(entry: str) -> str | None:
    """What stands in brackets for the host of an entry that cannot be parsed because of it."""
    match = _BRACKETED.search(entry)
    return match["text"] if match else None
