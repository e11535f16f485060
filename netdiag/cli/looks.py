"""From a look to a report: what was seen is judged and predicted, whether just now or out of a recording."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from netdiag.cli.console import Console
from netdiag.cli.declared import could_not_read, joined, too_large
from netdiag.deployment.from_engine import from_engine
from netdiag.deployment.live_view import LiveView
from netdiag.deployment.member import Deployment
from netdiag.deployment.reachability import predict
from netdiag.deployment.recording import LARGEST, Failure, Look, from_json, masked_source, to_json
from netdiag.deployment.verdict import Cell
from netdiag.errors import InputError, NetdiagError
from netdiag.io.files import read_file, write_file
from netdiag.render.redact import secret_spans
from netdiag.render.report import Input, Matrix, Report, SeenPort, Skipped
from netdiag.rules.observed import check_live


def judged(look: Look, deployment: Deployment | None = None) -> Report:
    """The report on a look; the deployment is made of it where it is not at hand."""
    kind: Literal["project", "engine"] = "project" if look.kind == "project" else "engine"
    asked = Input(name=look.name, kind=kind)
    if look.failure is not None:
        failure = look.failure
        return could_not_read(asked, NetdiagError(failure.message, where=failure.where, hint=failure.hint))
    deployment = deployment or deployment_of(look)
    brokers = tuple(broker.name for broker in deployment.brokers)
    view = LiveView(
        deployment=deployment,
        stopped=look.stopped,
        logs=look.logs,
        ports={name: frozenset(socket.port for socket in sockets) for name, sockets in look.sockets.items()},
        vantages=look.vantages,
        security=look.security,
        mesh=look.mesh,
        declared=look.declared,
    )
    report = Report(
        security=tuple(SeenPort(input=look.name, port=port) for port in look.security),
        inputs=(replace(asked, brokers=brokers),),
        skipped=tuple(Skipped(vantage=one.vantage, reason=one.reason, command=one.command) for one in look.not_taken),
        notes=look.notes,
        sources={path: text.encode() for path, text in look.sources.items()},
    )
    if look.addresses is None:
        return replace(report, findings=check_live(view))
    note = too_large(look.name, look.vantages, look.addresses)
    if note:
        return replace(report, findings=check_live(view), notes=(*report.notes, note))
    predicted = predict(deployment, look.vantages, look.addresses, down=frozenset(look.stopped), speaks=look.speaks)
    cells = _joined(predicted, look.observed())
    matrix = Matrix(input=look.name, vantages=look.vantages, cells=cells, not_running=look.stopped)
    if look.mesh is not None:
        matrix = replace(matrix, mesh=look.mesh)
    return replace(report, findings=check_live(replace(view, cells=cells)), matrices=(matrix,))


def deployment_of(look: Look) -> Deployment:
    """What runs, out of what the engine told."""
    return from_engine(
        look.containers,
        look.networks,
        name=look.project,
        host_addresses=look.host_addresses,
        platform=look.platform,
        sockets=look.sockets,
    )


def failed(asked: Input, error: NetdiagError) -> Look:
    """A look that gave nothing but an error."""
    failure = Failure(message=error.message, where=error.where, hint=error.hint)
    return Look(name=asked.name, kind=asked.kind, failure=failure)


def record(looks: Sequence[Look], path: str) -> Report:
    """Write looks to a file, and report on what stands there: the same as a replay of it."""
    document = to_json(tuple(map(_masked, looks)))
    write_file(path, document.encode())
    return _report(from_json(document.encode()))


def replay(path: str, console: Console) -> Report:
    """The report on a recording; InputError of one line where it is none."""
    try:
        return _report(from_json(read_file(path, limit=LARGEST)))
    except NetdiagError as error:
        raise InputError(error.message, where=error.where or path, hint=error.hint) from error
    except Exception as error:
        console.handled(error)
        said = f"a broken recording: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise InputError(said, where=path) from error


def _report(looks: Sequence[Look]) -> Report:
    report = Report()
    for look in looks:
        report = joined(report, judged(look))
    return report


def _joined(predicted: Sequence[Cell], observed: Sequence[Cell]) -> tuple[Cell, ...]:
    seen = {(cell.vantage, cell.bootstrap): cell.observed for cell in observed}
    return tuple(replace(cell, observed=seen.get((cell.vantage, cell.bootstrap))) for cell in predicted)


def _masked(look: Look) -> Look:
    """Without the secrets that only a look at whole files finds: the values below a key that names one."""
    return replace(look, sources={path: masked_source(_spans_hidden(text)) for path, text in look.sources.items()})


def _spans_hidden(text: str) -> str:
    lines = text.split("\n")
    shown = list(lines)
    for index in range(len(lines)):
        for start, end in reversed(secret_spans(lines, index)):
            line = shown[index]
            shown[index] = line[:start] + "*" * len(line[start:end].encode()) + line[end:]
    return "\n".join(shown)
