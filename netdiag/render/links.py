"""Hyperlinks of terminals (OSC 8): from a place to its file, from the id of a rule to its page.

A file's address names the machine, as the sequence's description asks for: a terminal may show another one's output.
It names no line, because no two programs agree on how that would be said.
"""

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import quote

# Terminals cut or drop longer ones.
_LONGEST = 2000
_FIT = re.compile(rf"[!-~]{{1,{_LONGEST}}}")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Where links lead: files of `host`, relative ones below `folder`; the pages of rules, where `pages` is known."""

    host: str
    folder: str
    pages: str | None = None

    def to_file(self, path: str) -> str:
        """The address of a file; empty for what is none (standard input) or cannot be told."""
        folder = self.folder
        if _DRIVE.match(path) or _DRIVE.match(folder):
            path, folder = path.replace("\\", "/"), folder.replace("\\", "/")
        if path.startswith("<") or not (_is_absolute(path) or _is_absolute(folder)):
            return ""
        whole = path if _is_absolute(path) else posixpath.join(folder, path)
        whole = posixpath.normpath(whole)
        drive = whole[:2] if _DRIVE.match(whole) else ""
        start = f"/{drive}" if drive else ""
        return f"file://{quote(self.host, safe='')}{start}{encoded(whole[len(drive) :])}"

    def to_rule(self, rule: str) -> str:
        """The address of a rule's page; empty where it has none."""
        # Here, and not above: a screen alone needs no rules.
        from netdiag.rules.selection import WITHOUT_RULE

        return "" if not self.pages or rule in WITHOUT_RULE else f"{self.pages.rstrip('/')}/{quote(rule, safe='')}.md"


def encoded(path: str) -> str:
    """A path as in a URI (RFC 3986); its bytes are those of the file's name."""
    try:
        return quote(path, safe="/", errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(path, safe="/", errors="replace")


def linked(text: str, address: str) -> str:
    """Harmless text as a link; as it is where there is no address, or one that no terminal should get."""
    if not text or not _FIT.fullmatch(address):
        return text
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _DRIVE.match(path) is not None
