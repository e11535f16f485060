"""Writes `share/`: a manual page of netdiag and of each command, and completions for bash, zsh and fish.

`python tools/generate_manual.py [FOLDER]`. The pages say what `--help` says, and the completions ask netdiag itself, so
that neither has a word of its own.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
import typer.main
from typer._completion_shared import get_completion_script

from netdiag import __version__
from netdiag.cli.main import COMMANDS, app

NAME = "netdiag"
STATUSES = {
    0: "clean",
    1: "findings",
    2: "wrong usage",
    3: "netdiag could not look",
    4: "there was nothing to check",
    130: "interrupted",
    143: "told to end",
}
# A zsh that loads the file when it is first needed runs it once, and completes with its last command.
_AT_ONCE = """if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _{name}_completion "$@"
else
  compdef _{name}_completion {name}
fi"""


def texts() -> Iterator[tuple[str, str]]:
    """Every file below `share`, with its text."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name=NAME)
    yield f"man/man1/{NAME}.1", _page(group, context, NAME)
    for name in COMMANDS:
        command = group.get_command(context, name)
        below = typer.Context(command, info_name=name, parent=context)
        yield f"man/man1/{NAME}-{name}.1", _page(command, below, f"{NAME}-{name}")
    yield f"bash-completion/completions/{NAME}", _completion("bash")
    zsh = _completion("zsh").replace(f"compdef _{NAME}_completion {NAME}", _AT_ONCE.format(name=NAME))
    yield f"zsh/site-functions/_{NAME}", zsh
    yield f"fish/vendor_completions.d/{NAME}.fish", _completion("fish")


def _completion(shell: str) -> str:
    return get_completion_script(prog_name=NAME, complete_var=f"_{NAME.upper()}_COMPLETE", shell=shell).strip() + "\n"


def _page(command: Any, context: Any, title: str) -> str:
    first, _, rest = (command.help or "").partition("\n\n")
    lines = [
        f'.TH "{title.upper()}" "1" "" "{NAME} {__version__}" "User Commands"',
        *(".SH NAME", f"{title} \\- {_escaped(_joined(first).rstrip('.'))}"),
        *(".SH SYNOPSIS", f".B {context.command_path.replace('-', chr(92) + '-')}"),
        _escaped(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *_paragraphs(f"{first}\n\n{rest}"),
    ]
    records = [(one, one.get_help_record(context)) for one in command.get_params(context)]
    told = [(one.param_type_name, record) for one, record in records if record is not None]
    for heading, kind in (("ARGUMENTS", "argument"), ("OPTIONS", "option")):
        if entries := [record for found, record in told if found == kind]:
            lines += [f".SH {heading}", *_entries(dict(entries))]
    if context.parent is None:
        lines += [".SH COMMANDS", *_entries({f"{NAME}-{name}(1)": entry.help for name, entry in COMMANDS.items()})]
        lines += [".SH EXIT STATUS", *_entries({str(status): said for status, said in STATUSES.items()})]
    else:
        lines += [".SH SEE ALSO", f".BR {NAME} (1)"]
    return "\n".join(lines) + "\n"


def _entries(entries: Mapping[str, str]) -> Iterator[str]:
    for term, said in entries.items():
        yield from (".TP", rf"\fB{_escaped(term)}\fP", _escaped(_joined(said)))


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of a help text; what is indented, or marked to stay as it is, keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = [line for line in paragraph.splitlines() if line.strip() != "\b"]
        yield ".PP"
        if len(lines) < len(paragraph.splitlines()) or all(line.startswith("  ") for line in lines):
            yield from (".nf", *map(_escaped, lines), ".fi")
        else:
            yield _escaped(_joined(paragraph))


def _joined(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text


def main(arguments: list[str]) -> int:
    """Write all files, and remove the pages of commands that are gone."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parents[1] / "share"
    written = dict(texts())
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in written:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
