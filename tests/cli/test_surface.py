"""How every command ends."""

from collections.abc import Callable

import pytest
import typer

from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.surface import Surface, defect, finish
from netdiag.cli.terminal import Colour
from netdiag.errors import InputError


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
        finish(Surface(debug=debug, colour=Colour.NEVER), command)
    assert end.value.exit_code == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert ("Traceback" in printed.err) == (debug and status > 1)


def test_options_after_the_command_win() -> None:
    before = Surface(verbose=True, colour=Colour.ALWAYS)
    after = before.joined(verbose=False, debug=True, colour=Colour.NEVER)
    assert after == Surface(verbose=True, debug=True, colour=Colour.NEVER)
    assert before.joined(verbose=False, debug=False, colour=None) == before


def test_a_defect_says_how_to_report_it() -> None:
    assert "--debug" in (defect(ValueError("x" * 999)).hint or "")
    assert len(str(defect(ValueError("x" * 999)))) < 300
