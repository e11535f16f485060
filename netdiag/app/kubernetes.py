"""Check Kubernetes manifests: a file, explained by the manifests beside it, as a deployment with its own places."""

from collections.abc import Collection, Mapping
from contextlib import suppress

from netdiag.app.configuration import CheckOptions
from netdiag.app.reports import too_large
from netdiag.compose.positions import Source
from netdiag.deployment.declared_addresses import manifest_addresses
from netdiag.deployment.model.kubernetes import Manifests
from netdiag.deployment.prediction.kubernetes import bootstraps, places, predict
from netdiag.deployment.sources.kubernetes.manifests import manifests
from netdiag.deployment.sources.kubernetes.resources import resources, together
from netdiag.errors import NetdiagError
from netdiag.findings import FileLocation
from netdiag.io.files import read_file, read_stdin
from netdiag.io.files.manifests import files_beside
from netdiag.io.files.projects import STDIN, SingleFile
from netdiag.render.report import AddressRow, Input, Matrix, Report
from netdiag.rules.kubernetes import check_manifests

_BASIS = "from the manifests only"


def report_on(
    file: SingleFile, named: Collection[str], replaced: Mapping[str, bytes], options: CheckOptions, *, matrix: bool
) -> Report:
    """The report on a file of manifests. What is found in another one that is `named`, its own report says."""
    if file.path == STDIN:
        data = replaced.get(file.name)
        own = Source(file.name, read_stdin() if data is None else data)
        beside: tuple[tuple[str, bytes], ...] = ()
    else:
        own = Source(file.path, replaced[file.path] if file.path in replaced else read_file(file.path))
        beside = files_beside(file.path)
    declared = resources(own)
    others = []
    sources = {own.path: own.data}
    for path, data in beside:
        # Another file is its own business.
        with suppress(NetdiagError):
            others.append(resources(Source(path, replaced.get(path, data))))
            sources[path] = replaced.get(path, data)
    found = manifests(own.path, together(declared, others))
    mine = found.own_brokers
    names = tuple(dict.fromkeys(broker.pod for broker in mine))
    also_read = tuple(path for path in sources if path != own.path)
    predicted = _matrix(file.name, found) if matrix and mine else None
    addresses = manifest_addresses(found) if options.addresses else ()
    return Report(
        inputs=(Input(name=file.name, kind="manifest", brokers=names, also_read=also_read),),
        findings=tuple(
            finding
            for finding in check_manifests(found)
            if isinstance(finding.location, FileLocation)
            and (finding.location.path == own.path or finding.location.path not in named)
        ),
        matrices=(predicted,) if isinstance(predicted, Matrix) else (),
        notes=(predicted,) if isinstance(predicted, str) else (),
        addresses=tuple(AddressRow(input=file.name, address=address) for address in addresses),
        sources=sources,
    )


def _matrix(name: str, found: Manifests) -> Matrix | str | None:
    vantages, addresses = places(found), bootstraps(found)
    if not addresses:
        return None
    note = too_large(name, vantages, addresses)
    if note:
        return note
    return Matrix(input=name, vantages=vantages, cells=predict(found, vantages, addresses), basis=_BASIS)
