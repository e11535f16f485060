"""Observations for tests: recorded under `x-observed` of a compose file.

A cell is `{vantage, bootstrap, fails: REASON}` or `{vantage, bootstrap, answers: {node, cluster, listener}, told:
[{node, at, gives}]}`, where `gives` is `ok`, a reason, or `{node, cluster}` of whoever answers there; `of` in `answers`
is a member that is not asked about, unless it is `own`. A name of several members is `{vantage, bootstrap, shared:
[{of, at, refuses}]}`. What was predicted for it stands under `prediction` in the same form. Where only the words matter
they stand as `predicted` and `observed`. What the cluster has registered stands under `registered`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from netdiag.deployment.model.causes import causes_of
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import (
    Address,
    Ambiguous,
    Answered,
    Cell,
    Contact,
    Failed,
    Mechanism,
    Meeting,
    NameChoice,
    NodeEndpoint,
    Reason,
    Unknown,
    Verdict,
    Word,
    judge,
)
from netdiag.deployment.neighbours import url_cells
from netdiag.deployment.observation.live_view import (
    Flapping,
    LiveView,
    SecuredPort,
    SeenGroup,
    SeenUrl,
    SeenWorker,
    observed_urls,
)
from netdiag.deployment.observation.registered import InFile, Registered, SaidNow, join_registered
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh
from netdiag.deployment.sources.declared_services import DeclaredServices, declared_services
from netdiag.engine.testcontainers import Library
from netdiag.kafka.listeners import Endpoint, parse_listeners, well_formed
from netdiag.kafka.registry import RegisteredNode, Registry, RegistryKind
from netdiag.kafka.security import CertificateFault, ListenerSecurity, SaslOffer, SpokenProtocol, TlsHandshake
from netdiag.kafka.storage import MetaProperties
from netdiag.rules.declared import check_deployment, startup_errors
from tests.deployment.stacks import deployment_of, project_of


def view_of(text: str) -> LiveView:
    """The deployment of the file with what its `x-observed` says was seen."""
    observed = YAML(typ="safe", pure=True).load(text).get("x-observed") or {}
    deployment = _started(deployment_of(text), observed.get("testcontainers"))
    cells = tuple(_cell(cell) for cell in observed.get("cells") or ())
    labels = dict.fromkeys(cell.vantage for cell in cells)
    return LiveView(
        deployment=deployment,
        stopped=observed.get("stopped") or {},
        starting=observed.get("starting") or {},
        flapping=tuple(
            Flapping(
                vantage=one["vantage"],
                address=address_of(one["at"]),
                verdicts=tuple(one["verdicts"].items()),
                because=one.get("because", "recorded"),
            )
            for one in observed.get("flapping") or ()
        ),
        ports={member: frozenset(ports) for member, ports in (observed.get("ports") or {}).items()},
        cells=cells,
        causes=causes_of(cells),
        vantages=tuple(_vantage(label, deployment) for label in labels),
        security=tuple(_secured(one) for one in observed.get("security") or ()),
        logs={member: tuple(lines) for member, lines in (observed.get("logs") or {}).items()},
        declared=_declared(observed["files"]) if "files" in observed else None,
        groups=tuple(_group(one) for one in observed.get("groups") or ()),
        urls=observed_urls(url_cells(deployment), _urls(observed.get("urls") or ()), deployment),
        mesh=Mesh(edges=tuple(_edge(one) for one in observed["mesh"])) if "mesh" in observed else None,
        registered=_registered(observed["registered"], deployment) if "registered" in observed else None,
    )


def _started(deployment: Deployment, library: str | None) -> Deployment:
    """With brokers that Testcontainers has started, for the language that is named."""
    if library is None:
        return deployment
    started = [replace(one, member=replace(one.member, started_by=Library(library))) for one in deployment.brokers]
    return replace(deployment, brokers=tuple(started))


def address_of(text: str) -> Address:
    """`host:port`."""
    host, _, port = text.rpartition(":")
    return Address(host=host, port=int(port))


def contact_of(cell: Mapping[str, Any]) -> Contact:
    """What contacting an address gave, the first hop."""
    if "fails" in cell:
        mechanism = Mechanism(cell["mechanism"]) if "mechanism" in cell else None
        return Failed(reason=Reason(cell["fails"]), because=cell.get("because", "recorded"), mechanism=mechanism)
    if "shared" in cell:
        meetings = tuple(
            Meeting(member=one["of"], ip=one["at"], refuses=one.get("refuses", False)) for one in cell["shared"]
        )
        name = cell["bootstrap"].rpartition(":")[0]
        return Ambiguous(choice=NameChoice(name=name, meetings=meetings, first=(), owners="both", clients="recorded"))
    answers = cell["answers"]
    told = tuple(_endpoint(one) for one in cell.get("told") or ())
    return Answered(
        node_id=answers.get("node"),
        cluster_id=answers.get("cluster"),
        brokers=told,
        listener=answers.get("listener"),
        because=cell.get("because", "recorded"),
        member=answers.get("of", ""),
        foreign="of" in answers and not answers.get("own", False),
        silent=tuple(cell.get("silent", ())),
    )


def _group(seen: Mapping[str, Any]) -> SeenGroup:
    """`{group, workers: [{of, at, leads}], forwards: [{from, at, fails: REASON}]}`."""
    return SeenGroup(
        group=seen["group"],
        workers=tuple(
            SeenWorker(url=one["at"], client_host="172.18.0.9", member=one.get("of", ""), leads=one.get("leads", False))
            for one in seen["workers"]
        ),
        forwards=_urls(seen["forwards"]),
    )


def _urls(seen: Sequence[Mapping[str, Any]]) -> tuple[SeenUrl, ...]:
    """`[{from, at, fails: REASON}]`."""
    return tuple(
        SeenUrl(
            source=one["from"],
            url=one["at"],
            contact=Failed(reason=Reason(one["fails"]), because="recorded")
            if "fails" in one
            else Answered(node_id=None, cluster_id=None),
        )
        for one in seen
    )


def _declared(files: Mapping[str, Any]) -> DeclaredServices:
    """The compose file that lies beside what runs, as it is now."""
    written = StringIO()
    YAML().dump(files, written)
    project = project_of(written.getvalue(), path="now/compose.yml")
    found = check_deployment(deployment_of(written.getvalue(), path="now/compose.yml"))
    return DeclaredServices(services=declared_services(project), predicted_refusals=startup_errors(found))


def _registered(seen: Mapping[str, Any], deployment: Deployment) -> Registered:
    """`{zookeeper, log, listener: {cluster, controller, lost, brokers: {ID: {at, fenced}}}, nodes: {MEMBER: ...}}`.

    What a node says is `now: {node, cluster, at}`, what it has on its disk `stored: {node, cluster}`.
    """
    kinds = {
        "zookeeper": (RegistryKind.ZOOKEEPER, "ZooKeeper at zookeeper:2181"),
        "log": (RegistryKind.METADATA_LOG, "the metadata log of kafka"),
        "listener": (RegistryKind.LISTENER, "what listeners tell"),
    }
    nodes = seen.get("nodes") or {}
    return join_registered(
        deployment.brokers,
        [
            Registry(
                kind=kind,
                source=source,
                cluster_id=seen[name].get("cluster"),
                controller_id=seen[name].get("controller"),
                tells_controller="controller" in seen[name],
                controller_lost=seen[name].get("lost", ""),
                brokers=tuple(
                    RegisteredNode(node_id=node_id, endpoints=_ends(one["at"]), is_fenced=one.get("fenced"))
                    for node_id, one in (seen[name].get("brokers") or {}).items()
                ),
            )
            for name, (kind, source) in kinds.items()
            if name in seen
        ],
        now={
            member: SaidNow(
                node_id=one["now"].get("node"),
                cluster_id=one["now"].get("cluster"),
                advertised=_ends(one["now"]["at"]) if "at" in one["now"] else None,
            )
            for member, one in nodes.items()
            if "now" in one
        },
        silent={member: one["silent"] for member, one in nodes.items() if "silent" in one},
        guarded={member: one["guarded"] for member, one in nodes.items() if "guarded" in one},
        stopped={member: one["stopped"] for member, one in nodes.items() if "stopped" in one},
        stored={
            member: MetaProperties(version=0, cluster_id=one["stored"]["cluster"], node_id=one["stored"]["node"])
            for member, one in nodes.items()
            if "stored" in one
        },
        in_files={member: InFile(endpoints=_ends(one["file"])) for member, one in nodes.items() if "file" in one},
        name="recorded",
    )


def _ends(texts: Sequence[str]) -> tuple[Endpoint, ...]:
    return tuple(entry.endpoint for entry in well_formed(parse_listeners(",".join(texts))))


def _edge(edge: Mapping[str, Any]) -> Edge:
    return Edge(
        kind=EdgeKind(edge["kind"]),
        source=edge["source"],
        target=edge["target"],
        address=address_of(edge["at"]),
        observed=contact_of(edge),
    )


def _secured(seen: Mapping[str, Any]) -> SecuredPort:
    """`{vantage, at, member, listener, spoken, faults: {FAULT: detail}, sasl: [MECHANISM]}`."""
    tls = None
    if "faults" in seen:
        faults = tuple((CertificateFault(fault), detail) for fault, detail in seen["faults"].items())
        tls = TlsHandshake(versions=(), cipher="", chain=(), wants_client=False, needs_client=False, faults=faults)
    sasl = SaslOffer(mechanisms=tuple(seen["sasl"]), **seen.get("tried", {})) if "sasl" in seen else None
    return SecuredPort(
        vantage=seen["vantage"],
        address=address_of(seen["at"]),
        member=seen.get("member", ""),
        listener=seen.get("listener", ""),
        sight=ListenerSecurity(spoken=SpokenProtocol(seen["spoken"]), tls=tls, sasl=sasl),
    )


def _vantage(label: str, deployment: Deployment) -> Vantage:
    word, _, name = label.partition(" ")
    member = deployment.by_name.get(name)
    networks = tuple(a.network for a in member.attachments) if member else ()
    kinds = {"inside": VantageKind.BROKER, "container": VantageKind.CONTAINER, "docker": VantageKind.DOCKER_HOST}
    kind = kinds.get(word, VantageKind.LAN)
    if kind is VantageKind.CONTAINER and member is None:
        kind = VantageKind.OTHER_NETWORK
    return Vantage(kind=kind, label=label, member=member.name if member else None, networks=networks)


def _cell(cell: Mapping[str, Any]) -> Cell:
    predicted = _words(cell["predicted"]) if "predicted" in cell else None
    if "prediction" in cell:
        predicted = _judged(cell["prediction"])
    observed = _words(cell["observed"]) if "observed" in cell else _judged(cell)
    return Cell(
        vantage=cell["vantage"], bootstrap=address_of(cell["bootstrap"]), predicted=predicted, observed=observed
    )


def _judged(cell: Mapping[str, Any]) -> Verdict:
    gives = {_endpoint(one): _given(one) for one in cell.get("told") or ()}
    return judge(contact_of(cell), lambda endpoint: gives[endpoint])


def _endpoint(told: Mapping[str, Any]) -> NodeEndpoint:
    address = address_of(told["at"])
    return NodeEndpoint(node_id=told["node"], host=address.host, port=address.port)


def _given(told: Mapping[str, Any]) -> Contact:
    gives = told["gives"]
    if isinstance(gives, Mapping):
        return Answered(node_id=gives.get("node"), cluster_id=gives.get("cluster"))
    if gives == "ok":
        return Answered(node_id=told["node"], cluster_id=None)
    return Failed(reason=Reason(gives), because="recorded")


def _words(text: str) -> Verdict:
    word, _, reason = text.partition(": ")
    return Verdict(word=Word(word), reason=reason or None, bootstrap=Unknown(because="recorded"))
