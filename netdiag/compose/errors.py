"""What stops the reading of a compose file altogether."""

from netdiag.compose.positions import Source, Span
from netdiag.errors import NetdiagError


class ComposeError(NetdiagError):
    """A compose file (or a file it needs) cannot be read at all; `span` is where, as exactly as known."""

    def __init__(self, message: str, *, span: Span | None = None, hint: str | None = None) -> None:
        where = None if span is None else f"{span.path}:{span.line}:{span.column}"
        super().__init__(message, where=where, hint=hint)
        self.span = span


def decoded(source: Source) -> str:
    """The text of a source; a ComposeError at the first byte that is not UTF-8."""
    try:
        return source.text
    except UnicodeDecodeError as error:
        start = error.start + len(source.data) - len(error.object)
        byte = source.data[start]
        raise ComposeError(f"not UTF-8: byte 0x{byte:02x}", span=source.span(start, start + 1)) from error
