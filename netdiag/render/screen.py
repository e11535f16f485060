"""What a reader's terminal can show: its width, its colours, its alphabet; foreign text made harmless for it.

Layout happens in runs (a piece of text with one style). `Screen.run` is the only way to make one from foreign
text, so no control character, escape sequence or direction override gets from a file or a broker to a terminal.
"""

import dataclasses
import posixpath
import unicodedata
from collections.abc import Iterable
from enum import Enum
from urllib.parse import quote

from netdiag.patterns import regex
from netdiag.values import dataclass

# Terminals cut or drop longer ones.
_LONGEST_LINK = 2000
_FIT_FOR_LINK = regex(rf"[!-~]{{1,{_LONGEST_LINK}}}")
_DRIVE = regex(r"[A-Za-z]:[\\/]")
# Nobody reads more of a text on one line, whatever a stranger calls itself.
_LONGEST = 4000


class Style(Enum):
    """How a run is drawn; the value holds the SGR parameters."""

    PLAIN = ""
    BOLD = "1"
    DIM = "2"
    ERROR = "1;31"
    WARNING = "1;33"
    NOTE = "1;36"
    BAD = "31"
    HALF = "33"
    GOOD = "32"
    PLACE = "36"


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """A piece of a line in one style; its text is already fit for a terminal. `link` is an address, or nothing."""

    text: str
    style: Style = Style.PLAIN
    link: str = ""


Line = tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Glyphs:
    """The few signs beyond ASCII that netdiag draws with, or what stands for them."""

    bar: str
    rule: str
    ellipsis: str
    arrow: str
    differs: str


UNICODE = Glyphs(bar="│", rule="─", ellipsis="…", arrow="→", differs="≠")

ASCII = Glyphs(bar="|", rule="-", ellipsis="...", arrow="->", differs="!=")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Where text goes. `encoding` is the stream's; what it cannot say is spelled out as an escape.

    `links` say where links lead; None where none are drawn.
    """

    width: int = 100
    colour: bool = False
    encoding: str = "utf-8"
    links: Links | None = None

    @property
    def glyphs(self) -> Glyphs:
        """Box drawing where the encoding has it."""
        drawn = "".join((UNICODE.bar, UNICODE.rule, UNICODE.ellipsis, UNICODE.arrow, UNICODE.differs))
        return UNICODE if _encodable(drawn, self.encoding) else ASCII

    def visible(self, text: str) -> str:
        """Text without a character that could move the cursor, hide, reorder or fail to be written."""
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]} ({len(text) - _LONGEST} more characters)"
        if text.isascii() and text.isprintable():
            return text
        unfit = {ord(c): _spelled_out(c) for c in set(text) if not (_harmless(c) and _encodable(c, self.encoding))}
        return text.translate(unfit)

    def run(self, text: str, style: Style = Style.PLAIN) -> Run:
        """A run of foreign text."""
        return Run(self.visible(text), style)


def paint(lines: Iterable[Line], screen: Screen) -> str:
    """The lines as one text that ends with a line feed; escape sequences only where there is colour or a link."""
    return "".join(
        "".join(linked(_painted(run, screen.colour), run.link) for run in line).rstrip(" ") + "\n" for line in lines
    )


def linked(text: str, address: str) -> str:
    """Harmless text as a link; as it is where there is no address, or one that no terminal should get."""
    if not text or not _FIT_FOR_LINK.fullmatch(address):
        return text
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def width(text: str) -> int:
    """The terminal columns that harmless text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_cell_width(character) for character in text)


def line_width(line: Line) -> int:
    """The terminal columns of a line."""
    return sum(width(run.text) for run in line)


def wrap(text: str, columns: int) -> list[str]:
    """Words of harmless text in lines of at most so many columns; a longer word keeps a line for itself."""
    lines: list[str] = []
    current = ""
    for word in text.split(" "):
        longer = f"{current} {word}" if current else word
        if current and width(longer) > columns:
            lines.append(current)
            current = word
        else:
            current = longer
    return [*lines, current] if current or not lines else lines


def encoded(path: str) -> str:
    """A path as in a URI (RFC 3986); its bytes are those of the file's name."""
    try:
        return quote(path, safe="/", errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(path, safe="/", errors="replace")


def hanging(head: Line, text: str, screen: Screen, style: Style = Style.PLAIN, *, least: int = 30) -> list[Line]:
    """Foreign text behind a head, wrapped so that its further lines stand below its first one.

    It gets at least so many columns, however narrow the screen is.
    """
    indent = line_width(head)
    first, *rest = wrap(screen.visible(text), max(least, screen.width - indent))
    return [(*head, Run(first, style)), *((Run(" " * indent), Run(part, style)) for part in rest)]


def _painted(run: Run, colour: bool) -> str:
    if not colour or run.style is Style.PLAIN or not run.text:
        return run.text
    return f"\x1b[{run.style.value}m{run.text}\x1b[0m"


def _harmless(character: str) -> bool:
    # Cc controls, Cf directions and zero widths, Cs lone surrogates, Zl/Zp line ends that only some programs see.
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co")


def _spelled_out(character: str) -> str:
    code = ord(character)
    named = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}.get(character)
    if named:
        return named
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _cell_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _encodable(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _DRIVE.match(path) is not None
