"""Where findings are, in the words of other programs: order, relative paths, URIs, text that is safe to hand on."""

from collections.abc import Iterable
from typing import assert_never

from netdiag.findings import (
    ContainerLocation,
    FileLocation,
    Finding,
    Location,
    TopologyLocation,
    WireLocation,
    by_place,
)
from netdiag.patterns import regex
from netdiag.render.redact import redacted
from netdiag.render.screen import Screen, encoded

COULD_NOT_CHECK = "could-not-check"

_UTF8 = Screen()
_DRIVE = regex(r"[A-Za-z]:/")
# Noncharacters: no letter of any text, and two of them are forbidden in XML 1.0.
_NONCHARACTER = regex("[\ufdd0-\ufdef\ufffe\uffff]")


def plain(text: str) -> str:
    """Foreign text on one line: secrets hidden, controls, directions and broken characters spelled out."""
    return harmless(redacted(text))


def harmless(text: str) -> str:
    """Foreign text that holds no secret (a path, a name) on one line."""
    return _NONCHARACTER.sub(lambda match: f"\\u{ord(match[0]):04x}", _UTF8.visible(text))


def explanations(finding: Finding) -> list[tuple[str, str]]:
    """What a finding explains, each text with its title: why it is so, what the broker will print, how to repair it."""
    texts = (("why", finding.why), ("the broker will print", finding.broker_prints), ("fix", finding.hint))
    return [(title, text) for title, text in texts if text]


def message_lines(finding: Finding) -> list[str]:
    """The message of a finding and what explains it, a line each."""
    return [plain(finding.message), *(f"{title}: {plain(text)}" for title, text in explanations(finding))]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order of their places; equal reports give equal lists."""
    return sorted(findings, key=by_place)


def path_text(path: str, root: str = "") -> str:
    """A path as seen from the folder `root`, with slashes; one outside of it stays absolute."""
    path, root = path.replace("\\", "/"), root.replace("\\", "/").rstrip("/")
    if root and path.startswith(root + "/"):
        path = path[len(root) + 1 :]
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path


def uri(path: str, root: str = "") -> str:
    """A path as a URI reference (RFC 3986), relative where `path_text` is; its bytes are those of the file's name."""
    path = path_text(path, root)
    if _DRIVE.match(path):
        return "file:///" + path[:2] + encoded(path[2:])
    return "file://" + encoded(path) if path.startswith("/") else encoded(path)


def container_text(location: ContainerLocation) -> str:
    """A place in a container, in one line."""
    return harmless(f"{location.container} ({location.part})" if location.part else location.container)


def wire_text(location: WireLocation) -> str:
    """A place in a capture without its file, in one line."""
    packet = "" if location.packet is None else f"packet {location.packet}"
    return harmless(", ".join(part for part in (packet, location.connection) if part) or "the capture")


def topology_text(location: TopologyLocation) -> str:
    """A place in a machine's network, in one line."""
    device = f"/{location.device}" if location.device else ""
    return harmless(f"{location.place}{device} ({location.part})" if location.part else f"{location.place}{device}")


def file_text(location: Location, root: str = "") -> str:
    """The file of a place, for programs that know of files only; a container is a file of its name."""
    match location:
        case FileLocation():
            return harmless(path_text(location.path, root))
        case ContainerLocation():
            return container_text(location)
        case WireLocation():
            return harmless(path_text(location.file, root))
        case TopologyLocation():
            return topology_text(location)
        case _:
            assert_never(location)


def place_text(location: Location, root: str = "") -> str:
    """A place in one line: path:line:column, or a container."""
    match location:
        case FileLocation():
            return f"{harmless(path_text(location.path, root))}:{location.line}:{location.column}"
        case ContainerLocation():
            return container_text(location)
        case WireLocation():
            packet = "" if location.packet is None else f":{location.packet}"
            between = f" ({harmless(location.connection)})" if location.connection else ""
            return f"{harmless(path_text(location.file, root))}{packet}{between}"
        case TopologyLocation():
            return topology_text(location)
        case _:
            assert_never(location)
