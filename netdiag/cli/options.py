"""Options that several commands have, declared once."""

from collections.abc import Sequence
from typing import Annotated

import typer
from typer import Option

EngineHost = Annotated[str | None, Option("--host", metavar="URL", help="The engine; default as docker finds it.")]
NoEngine = Annotated[bool, Option("--no-engine", help="Ask no engine: only what the kernel says.")]
ClientProperties = Annotated[
    str | None,
    Option(
        "--client-properties",
        metavar="FILE",
        help="With --live: connect as the client of this file, with TLS and SASL.",
    ),
]


def refuse(*contradictions: tuple[object, str]) -> None:
    """typer.BadParameter with the message of the first condition that holds."""
    for holds, message in contradictions:
        if holds:
            raise typer.BadParameter(message)


def words(given: Sequence[str] | None) -> tuple[str, ...]:
    """The values of a repeatable option, each of which may be a list with commas."""
    return tuple(word.strip() for item in given or () for word in item.split(",") if word.strip())
