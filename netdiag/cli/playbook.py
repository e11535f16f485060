"""`netdiag playbook list|show|run`: the runbooks that there are, one of them, and what comes of it."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, assert_never

import typer

from netdiag.cli.command import console_of
from netdiag.cli.console import Console, write_text
from netdiag.cli.diagnose import (
    Bundled,
    DiagnosisFormat,
    Files,
    Form,
    Host,
    Live,
    Order,
    Timeout,
    document,
    save,
    status_of,
    taken,
)
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.options import ClientProperties
from netdiag.cli.telling import told_playbook
from netdiag.errors import UsageError
from netdiag.playbook.bundle import Recorded
from netdiag.playbook.document import Step
from netdiag.playbook.load import GIVEN, load
from netdiag.playbook.outcome import Outcome
from netdiag.playbook.runner import Run, variables_of
from netdiag.render.playbooks import playbook_list, playbook_page


class What(StrEnum):
    """What is to be done."""

    LIST = "list"
    SHOW = "show"
    RUN = "run"


_What = Annotated[What, typer.Argument(metavar="list|show|run", help="List them, show one, run one.")]
_Name = Annotated[
    str | None, typer.Argument(metavar="[NAME|FILE]", help="One of netdiag's playbooks, or a file with another.")
]
_Replay = Annotated[
    str | None, typer.Option("--replay", metavar="FILE.zip", help="Judge what --bundle saved; looks nowhere else.")
]
_Told = Annotated[list[str] | None, typer.Option("--var", metavar="NAME=VALUE", help="Tell the playbook something.")]


def playbook(
    context: typer.Context,
    what: _What,
    name: _Name = None,
    told: _Told = None,
    live: Live = False,
    files: Files = None,
    form: Form = DiagnosisFormat.TEXT,
    host: Host = None,
    timeout: Timeout = 4.0,
    client_properties: ClientProperties = None,
    bundle: Bundled = None,
    replay: _Replay = None,
) -> ExitStatus:
    """Run a runbook for a symptom: each step as it happens, then the cause, the evidence and the repair."""
    console = console_of(context)
    order = Order(
        form=form,
        live=live,
        files=tuple(files or ()),
        host=host,
        timeout=timeout,
        bundle=bundle,
        client_properties=client_properties,
    )

    match what:
        case What.LIST:
            return _list(name, console)
        case What.SHOW:
            return _show(_given(name), console)
        case What.RUN if replay is not None:
            return _replayed(replay, name, order, console)
        case What.RUN:
            return _run(_given(name), _variables(told), order, console)
        case _:
            assert_never(what)


def _list(name: str | None, console: Console) -> ExitStatus:
    from netdiag.io.playbooks import shipped

    if name is not None:
        raise UsageError("list names all of them", hint=f"netdiag playbook show {name} shows one")
    found = [(each.name, each.title) for each in shipped()]
    write_text(playbook_list(found, console.screen))
    return ExitStatus.CLEAN


def _show(name: str, console: Console) -> ExitStatus:
    from netdiag.io.playbooks import find, shipped

    write_text(playbook_page(told_playbook(find(name, shipped())), console.screen))
    return ExitStatus.CLEAN


def _run(name: str, told: dict[str, str], order: Order, console: Console) -> ExitStatus:
    from netdiag.io.playbooks import find, shipped

    chosen = find(name, shipped())
    known = (*chosen.variables, *GIVEN)
    strange = [each for each in told if each not in known]
    if strange:
        raise UsageError(f"'{strange[0]}' is no variable of {chosen.name}", hint=f"there are: {', '.join(known)}")
    with order.looks(console) as looks:
        made = taken(chosen, variables_of(chosen, {}, {**told, **order.told}), looks.perform, order, console)
    if order.form is not DiagnosisFormat.TEXT:
        write_text(document(order.form, (), (made,)))
    if order.bundle is not None:
        save(order.bundle, (), ((made, name),), order)
    return status_of((made,))


def _replayed(path: str, name: str | None, order: Order, console: Console) -> ExitStatus:
    from netdiag.io.bundles import read_bundle

    if name is not None or order.live or order.bundle is not None:
        raise UsageError("--replay holds what was asked for", hint="leave out NAME, --live and --bundle")
    runs = [_judged(each, path, order, console) for each in read_bundle(path).runs]
    if order.form is not DiagnosisFormat.TEXT:
        write_text(document(order.form, (), runs))
    return status_of(runs)


def _judged(record: Recorded, path: str, order: Order, console: Console) -> Run:
    """A run over what was recorded."""

    def perform(step: Step, arguments: Mapping[str, str]) -> Outcome:
        return record.outcomes.get(step.id, Outcome(why_not="it is not in the bundle"))

    chosen = load(record.name, f"{path}: {record.name}.yml", record.text.encode())
    return taken(chosen, record.variables, perform, replace(order, live=record.live), console)


def _given(name: str | None) -> str:
    if name is None:
        raise UsageError("which playbook?", hint="netdiag playbook list names them")
    return name


def _variables(pairs: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs or ():
        name, sign, value = pair.partition("=")
        if not sign or not name.isidentifier():
            raise UsageError(f"'{pair}' is no NAME=VALUE", hint="write --var NAME=VALUE")
        found[name] = value
    return found
