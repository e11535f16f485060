"""Write the source of a function that reads the fields of one message.

What stands here knows sizes and lengths and nothing of what a field is for; that is decided in `plan`. The function
reads `b`, the `n` bytes kept of a body of `d`, from position `o` on, and fills the facts `f`. Two kinds: for a whole
body (`cut` false) neighbours of fixed size are read in one go; for one that was cut each is read by itself, so that
everything is given that is there. Bytes that are not there raise IndexError or struct.error, bytes that cannot be
right Malformed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct

from netdiag.kafka.protocol import Field

CODES = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}


class Source:
    """Lines of source, with the fields of fixed size that still wait to be read."""

    def __init__(self, *, cut: bool) -> None:
        self.cut = cut
        self.lines: list[str] = []
        self.readers: dict[str, object] = {}
        self._depth = 1
        self._run: list[tuple[str, str, list[str]]] = []

    def line(self, *texts: str) -> None:
        """Lines as they are."""
        self.flush()
        self._write(texts)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """What is written inside stands under `head`; nothing waits at its end."""
        self.line(head)
        self._depth += 1
        before = len(self.lines)
        yield
        self.flush()
        if len(self.lines) == before:
            self._write(["pass"])
        self._depth -= 1

    def fixed(self, code: str, name: str = "", then: list[str] | None = None) -> None:
        """A field of fixed size, and lines that follow once it was read; without a name it is stepped over."""
        self._run.append((code, name, then or []))

    def flush(self) -> None:
        """Read the fields that wait."""
        run, self._run = self._run, []
        if not self.cut:
            self._read(run)
            return
        waiting: list[tuple[str, str, list[str]]] = []
        for field in run:
            if not field[1]:
                waiting.append(field)
                continue
            self._read(waiting)
            waiting = []
            self._read([field])
        self._read(waiting)

    def length(self, field: Field, name: str) -> None:
        """Read a length or a count into `name`, with -1 for null."""
        if not field.compact:
            self.fixed("h" if field.kind == "string" and not field.array else "i", name)
            self.flush()
            return
        self.fixed("B", name)
        self.line(f"if {name} > 127:", f"    {name}, o = varint(b, o, {name})", f"{name} -= 1")

    def null(self, field: Field, length: str) -> None:
        """Behind a block for lengths above -1: refuse those below; null is taken everywhere, as mocks write it."""
        if not field.compact:
            self.line(f"elif {length} < -1:", "    malformed()")

    def step_over(self, field: Field, length: str) -> None:
        """Step over as many bytes as a length says."""
        self.line(f"if {length} > 0:", f"    o += {length}")
        self.null(field, length)

    def take(self, end: str) -> None:
        """Make sure that the bytes up to a position are there."""
        self.line(f"if {end} > n:", f"    over({end}, d)")

    @contextmanager
    def loop(self, count: str) -> Iterator[None]:
        """Repeat what is written inside; where that only steps over a fixed size, one multiplication does it."""
        before = len(self.lines)
        with self.block(f"for _ in range({count}):"):
            yield
        body = [text.strip() for text in self.lines[before + 1 :]]
        if len(body) == 1 and body[0].startswith("o += ") and body[0][5:].isdigit():
            del self.lines[before:]
            self._write([f"o += {count} * {body[0][5:]}"])

    def _write(self, texts: tuple[str, ...] | list[str]) -> None:
        self.lines.extend("    " * self._depth + text for text in texts)

    def _read(self, run: list[tuple[str, str, list[str]]]) -> None:
        if not run:
            return
        size = Struct(">" + "".join(code for code, _, _ in run)).size
        names = [name for _, name, _ in run if name]
        if [code for code, name, _ in run if name] == ["B"] == [code for code, _, _ in run]:
            self._write([f"{names[0]} = b[o]"])
        elif names:
            shape = "".join(code if name else f"{Struct('>' + code).size}x" for code, name, _ in run)
            reader = f"u_{shape.replace('?', 'T')}"
            self.readers[reader] = Struct(">" + shape).unpack_from
            self._write([f"{', '.join(names)}{',' if len(names) == 1 else ''} = {reader}(b, o)"])
        self._write([f"o += {size}"])
        for _, _, then in run:
            self._write(then)
