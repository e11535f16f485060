"""Reports on several inputs as one, on an input that could not be read, and the matrix that is predicted for files."""

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import replace

from netdiag.deployment.clients import client_addresses, client_vantages
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.vantage import DOCKER_HOST, Vantage, VantageKind, bootstraps, vantages
from netdiag.deployment.model.verdict import Address, Cell
from netdiag.deployment.prediction.reachability import predict
from netdiag.errors import NetdiagError
from netdiag.findings import Finding
from netdiag.render.report import AddressRow, Input, Matrix, Problem, Report
from netdiag.rules.declared import failing_to_start

# Of a matrix larger than this nobody reads a cell, and predicting or probing it takes long.
MOST_CELLS = 20_000
# The vantages that stand at the end, behind those of the deployment itself.
_OUTSIDE = (VantageKind.OTHER_NETWORK, VantageKind.LAN)
_USUAL = "PLAINTEXT"


def merged(reports: Iterable[Report]) -> Report:
    """The reports as one, in their order; interrupted where one of them is."""
    parts = tuple(reports)
    return Report(
        inputs=tuple(item for part in parts for item in part.inputs),
        findings=tuple(finding for part in parts for finding in part.findings),
        suppressed=tuple(item for part in parts for item in part.suppressed),
        matrices=tuple(matrix for part in parts for matrix in part.matrices),
        urls=tuple(row for part in parts for row in part.urls),
        addresses=tuple(row for part in parts for row in part.addresses),
        security=tuple(port for part in parts for port in part.security),
        registered=tuple(one for part in parts for one in part.registered),
        skipped=tuple(item for part in parts for item in part.skipped),
        came_and_went=tuple(one for part in parts for one in part.came_and_went),
        notes=tuple(note for part in parts for note in part.notes),
        sources={path: data for part in parts for path, data in part.sources.items()},
        interrupted=any(part.interrupted for part in parts),
        is_cut=any(part.is_cut for part in parts),
    )


def unread(item: Input, error: NetdiagError) -> Report:
    """The report on an input that gave nothing but an error."""
    problem = Problem(message=error.message, where=error.where, hint=error.hint)
    return Report(inputs=(replace(item, error=problem),))


def interrupted(items: Iterable[Input]) -> Report:
    """The report on inputs that were not reached before the user stopped the run."""
    return replace(merged(unread(item, NetdiagError("interrupted")) for item in items), interrupted=True)


def predicted_matrix(
    name: str, deployment: Deployment, findings: Sequence[Finding], only: Sequence[Vantage] = ()
) -> Matrix | str:
    """The matrix of a deployment in which the brokers that findings condemn do not run, or why there is none.

    `only` are the places that there are, where clients stand nowhere else.
    """
    down = failing_to_start(findings, deployment)
    because = {f.service: f.rule for f in reversed(findings) if f.broker_prints and f.service}
    deployment = deployment.with_down(down)
    clients = {} if only else client_vantages(deployment)
    places = tuple(only) or tuple(sorted((*vantages(deployment), *clients), key=lambda place: place.kind in _OUTSIDE))
    addresses = tuple(dict.fromkeys((*bootstraps(deployment), *client_addresses(deployment))))
    if only:
        addresses = tuple(address for address in addresses if address.host != DOCKER_HOST)
    unknown = [b.name for b in deployment.brokers if b.config.is_broker and b.config.is_unknown("listeners")]
    serving = [b for b in deployment.brokers if b.config.is_broker]
    if serving and (len(unknown) == len(serving) or not addresses):
        who = ", ".join(b.name for b in serving)
        return (
            f"{name}: no matrix, because netdiag does not know what {who} {'listen' if serving[1:] else 'listens'} on"
        )
    note = too_large(name, places, addresses)
    if note:
        return note
    return Matrix(
        input=name,
        vantages=places,
        cells=_predicted_cells(deployment, places, addresses, clients),
        not_running={b.name: because.get(b.name, "") for b in deployment.brokers if b.name in down},
    )


def _predicted_cells(
    deployment: Deployment, places: Sequence[Vantage], addresses: Sequence[Address], speaks: Mapping[Vantage, str]
) -> tuple[Cell, ...]:
    """The cells of every vantage in order; a declared client speaks its own security protocol."""
    cells: dict[str, list[Cell]] = {place.label: [] for place in places}
    for protocol in dict.fromkeys(speaks.get(place, _USUAL) for place in places):
        alike = [place for place in places if speaks.get(place, _USUAL) == protocol]
        for cell in predict(deployment, alike, addresses, speaks=protocol):
            cells[cell.vantage].append(cell)
    return tuple(cell for of_place in cells.values() for cell in of_place)


def address_rows(name: str, deployment: Deployment) -> tuple[AddressRow, ...]:
    """The addresses that stand in the files of an input."""
    from netdiag.deployment.declared_addresses import declared_addresses  # for editors only

    return tuple(AddressRow(input=name, address=address) for address in declared_addresses(deployment))


def too_large(name: str, places: Sized, addresses: Sized) -> str:
    """Why there is no matrix, as a note; empty where there is one."""
    if len(places) * len(addresses) <= MOST_CELLS:
        return ""
    return f"{name}: no matrix of {len(places)} vantages and {len(addresses)} addresses, it would be too large to read"


def distinct(places: Iterable[Vantage]) -> tuple[Vantage, ...]:
    """The vantages, each label once."""
    return tuple({place.label: place for place in places}.values())
