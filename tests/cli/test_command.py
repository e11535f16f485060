"""How every command ends."""

from collections.abc import Callable

import pytest
import typer

from netdiag.cli.command import Command, command_of, console_of, finish
from netdiag.cli.console import Colour, Console
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import InputError, internal_error


def raising(error: BaseException) -> Callable[[], ExitStatus]:
    def command() -> ExitStatus:
        raise error

    return command


@pytest.mark.parametrize(
    ("command", "status", "told"),
    [
        (lambda: ExitStatus.FINDINGS, 1, ""),
        (raising(InputError("m", where="w", hint="h")), 3, "netdiag: w: m\n  fix: h\n"),
        (raising(KeyboardInterrupt()), 130, "netdiag: interrupted\n"),
        (raising(ZeroDivisionError("division\nby zero")), 3, "internal error: ZeroDivisionError: division by zero"),
        (raising(RecursionError()), 3, "internal error: RecursionError"),
    ],
)
@pytest.mark.parametrize("debug", [False, True])
def test_the_end(
    command: Callable[[], ExitStatus], status: int, told: str, debug: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as end:
        finish(Console(debug=debug, colour=Colour.NEVER), command)
    assert end.value.exit_code == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert ("Traceback" in printed.err) == (debug and status > 1)


@pytest.mark.parametrize(
    ("words", "expected"),
    [([], (True, False, Colour.ALWAYS)), (["--debug", "--color", "never"], (True, True, Colour.NEVER))],
)
def test_options_after_the_command_win(words: list[str], expected: tuple[bool, bool, Colour]) -> None:
    seen: list[Console] = []

    def function(context: typer.Context) -> ExitStatus:
        seen.append(console_of(context))
        return ExitStatus.FINDINGS

    command = command_of(function, Command)
    status = command.main(words, obj=Console(verbose=True, colour=Colour.ALWAYS), standalone_mode=False)
    (console,) = seen
    assert (console.verbose, console.debug, console.colour) == expected
    assert status == 1


def test_a_defect_says_how_to_report_it() -> None:
    assert "--debug" in (internal_error(ValueError("x" * 999)).hint or "")
    assert len(str(internal_error(ValueError("x" * 999)))) < 300
