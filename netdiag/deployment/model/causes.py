"""Why a connection fails, as one value: the mechanism, what proves it, and what helps.

Findings, `--why`, `diagnose`, playbooks and reports all say what stands here. A cause comes from the network of the
machine (`netdiag.topology.causes`) or, where nobody looked at that, from the model: what that predicts of a connection
that fails as predicted. `REPAIRS` has a repair for every mechanism, for those who cannot try one in the network of the
machine.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from netdiag.deployment.model.verdict import Address, Cell, Contact, Failed, Mechanism, Reason, Verdict
from netdiag.values import dataclass


class Certainty(StrEnum):
    """How certain a cause is; the value is the word in text and JSON."""

    PROVEN = "proven"
    FOUND = "found"
    POSSIBLE = "possible"
    PREDICTED = "predicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What helps, in the imperative; `confirmed` is whether the connection is predicted to work with it."""

    text: str
    confirmed: bool
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause. `repairs` stand in order, confirmed ones first."""

    mechanism: Mechanism
    certainty: Certainty
    because: str
    evidence: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @property
    def repair(self) -> str:
        """The first thing that helps, "" where nothing is known to."""
        return self.repairs[0].text if self.repairs else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a vantage cannot connect to an address: the causes, the likeliest first."""

    vantage: str
    address: Address
    causes: tuple[Cause, ...]


def name_of_stopped(name: str, exit_code: int | None) -> str:
    """Why the name of a container that does not run does not resolve."""
    return f'the container named "{name}" is not running{_ended(exit_code)}'


def published_by_stopped(name: str, port: int, exit_code: int | None) -> str:
    """Why a port that such a container publishes is closed."""
    return f"{name} publishes port {port} but is not running{_ended(exit_code)}"


def start_container(name: str) -> str:
    """What helps then."""
    return f"start {name}; its log says why it ended"


def _ended(exit_code: int | None) -> str:
    return "" if exit_code is None else f" (exit code {exit_code})"


NOT_TRIED = "cannot be tested in the model"
Causes = Mapping[tuple[str, Address], Cause]
REPAIRS: Mapping[Mechanism, str] = {
    Mechanism.NO_SUCH_NAME: "use the name of a container on the client's network, or advertise one",
    Mechanism.NAME_ON_OTHER_NETWORK: "attach client and broker to one network, or advertise a name that resolves there",
    Mechanism.NO_EMBEDDED_DNS: "advertise an address that resolves there, on a listener of its own",
    Mechanism.NAME_OF_STOPPED: start_container("{container}"),
    Mechanism.HOST_ALIAS_MISSING: 'add extra_hosts: ["{host}:host-gateway"] to the client',
    Mechanism.NAME_SERVER_SILENT: "configure a DNS server that answers the client",
    Mechanism.OWN_LOOPBACK: "use the broker's name and the port of its listener for containers",
    Mechanism.NOBODY_LISTENS: "compare the broker's listeners with its open sockets and with the published ports",
    Mechanism.BOUND_TO_LOOPBACK: "bind the listener to 0.0.0.0",
    Mechanism.BOUND_TO_OTHER_ADDRESS: "bind the listener to 0.0.0.0",
    Mechanism.NO_IPV6_BINDING: "connect over IPv4",
    Mechanism.BACKLOG_FULL: "restart the process that listens there",
    Mechanism.NOT_RUNNING: start_container("{container}"),
    Mechanism.PAUSED: "docker unpause {container}",
    Mechanism.HUNG: "check the log and the threads of the process, then restart it",
    Mechanism.DIED_BEHIND_PROXY: "restart the container, so that the engine publishes its port again",
    Mechanism.PROXY_STOPPED: "restart the container, so that the engine starts its proxy",
    Mechanism.NOT_PUBLISHED: "publish port {port} of the listener for clients on the docker host",
    Mechanism.PUBLISHED_ON_OTHER_ADDRESS: "publish port {port} on all addresses",
    Mechanism.PUBLISHED_TO_DEAD_PORT: "publish the container port on which the listener listens",
    Mechanism.PUBLISHED_BY_INTERNAL: "attach the container to a network that is not internal",
    Mechanism.PUBLISHED_BY_DISCONNECTED: "attach the container to a network again (docker network connect)",
    Mechanism.PUBLISHED_IN_HOST_MODE: "connect to the port on which the service itself listens",
    Mechanism.NOT_PUBLISHED_ROUTED: "connect to the container's own address",
    Mechanism.PORT_TAKEN: "free port {port} of the docker host, then recreate the container",
    Mechanism.NETWORK_ISOLATION: "attach client and broker to one network",
    Mechanism.ICC_OFF: "attach both to a network that lets its containers reach one another",
    Mechanism.HAIRPIN_DROPPED: "attach client and broker to one network, and use the broker's name",
    Mechanism.DIRECT_ACCESS_DROPPED: "use the published port of the docker host",
    Mechanism.FORWARD_POLICY: "use the published port of the docker host",
    Mechanism.INTERNAL_EGRESS: "attach the client to a network that is not internal",
    Mechanism.HOST_FIREWALL: "allow port {port} in the docker host's firewall",
    Mechanism.REJECTED: "allow port {port} in the docker host's firewall",
    Mechanism.BRIDGE_FILTER_OFF: "load br_netfilter, and set net.bridge.bridge-nf-call-iptables to 1",
    Mechanism.FORWARDING_OFF: "set net.ipv4.ip_forward to 1 on the docker host",
    Mechanism.NO_ROUTE: "advertise an address to which the client has a route",
    Mechanism.NO_NETWORK: "attach the client to a network",
    Mechanism.NOBODY_HAS_ADDRESS: "advertise a name instead of an address",
    Mechanism.PARENT_ISOLATION: "attach both to a bridge network",
    Mechanism.LINK_DOWN: "set the device up (ip link set DEVICE up)",
    Mechanism.PORT_OFF_BRIDGE: "disconnect the container from its network and connect it again",
    Mechanism.STALE_NEIGHBOUR: "delete the entry (ip neigh del), or try again in a few seconds",
    Mechanism.PATH_MTU: "give the network the smallest MTU on the way (com.docker.network.driver.mtu), and let ICMP "
    "messages about fragmentation pass",
    Mechanism.DESKTOP_NO_ROUTE: "advertise localhost and a published port for the user's machine",
    Mechanism.NOT_KAFKA: "find out what listens on port {port} there, and move it or the broker to another port",
    Mechanism.CONTROLLER_LISTENER: "use the port of a listener for clients",
    Mechanism.TLS_EXPECTED: "set the client's security.protocol to that of the listener",
    Mechanism.TLS_UNEXPECTED: "set the client's security.protocol to that of the listener",
    Mechanism.SASL_EXPECTED: "set the client's security.protocol to that of the listener",
    Mechanism.WRONG_BROKER: "give each broker an address of its own",
}
_UNEXPLAINED: Mapping[Reason, str] = {
    Reason.UNRESOLVED: REPAIRS[Mechanism.NAME_ON_OTHER_NETWORK],
    Reason.REFUSED: REPAIRS[Mechanism.NOBODY_LISTENS],
    Reason.TIMEOUT: "look for a firewall, a paused container or a missing route (`netdiag trace` shows the path)",
    Reason.UNREACHABLE: "look for a firewall, a paused container or a missing route (`netdiag trace` shows the path)",
    Reason.CLOSED: "bind the listener to 0.0.0.0 on the container port that is published, and check that it listens",
    Reason.NOT_KAFKA: REPAIRS[Mechanism.NOT_KAFKA],
    Reason.TLS: REPAIRS[Mechanism.TLS_EXPECTED],
    Reason.SASL: REPAIRS[Mechanism.SASL_EXPECTED],
}


def predicted_cause(predicted: Failed | None, address: Address, seen: Failed | None = None) -> Cause | None:
    """The cause that a prediction names, with what was seen as evidence; None where it names none."""
    if predicted is None or predicted.mechanism is None or (seen is not None and seen.reason is not predicted.reason):
        return None
    evidence = () if seen is None or seen.because == predicted.because else (seen.because,)
    return Cause(
        mechanism=predicted.mechanism,
        certainty=Certainty.PREDICTED,
        because=predicted.because,
        evidence=evidence,
        repairs=(predicted_repair(predicted.mechanism, address, predicted.container),),
    )


def predicted_repair(mechanism: Mechanism, address: Address, container: str = "") -> Repair:
    """What helps against a mechanism, as far as that can be told without a look at the machine."""
    text = REPAIRS[mechanism].format(host=address.host, port=address.port, container=container or "the container")
    return Repair(text=text, confirmed=False, because=NOT_TRIED)


def causes_of(cells: Iterable[Cell], explained: Iterable[Explanation] = ()) -> Causes:
    """The likeliest cause of every contact that failed, by vantage and address; what explains nothing has none."""
    found = {(one.vantage, one.address): one.causes[0] for one in explained if one.causes}
    for cell in cells:
        for address, seen, predicted in _failures(cell):
            if (cell.vantage, address) not in found:
                cause = predicted_cause(predicted, address, seen) or predicted_cause(seen, address)
                if cause is not None:
                    found[cell.vantage, address] = cause
    return found


def why(cause: Cause | None, seen: Failed) -> str:
    """A cause with its evidence, in one line; what was seen where there is none."""
    return seen.because if cause is None else "; ".join((cause.because, *cause.evidence))


def repair(cause: Cause | None, seen: Failed, address: Address) -> str:
    """What helps first."""
    if cause is None:
        return _UNEXPLAINED[seen.reason].format(port=address.port)
    return cause.repair or predicted_repair(cause.mechanism, address).text


def _failures(cell: Cell) -> Iterator[tuple[Address, Failed, Failed | None]]:
    """Every contact of a cell that was observed to fail, and what was predicted of it."""
    if cell.observed is None:
        return
    predicted = dict(contacts(cell.bootstrap, cell.predicted)) if cell.predicted is not None else {}
    for address, contact in contacts(cell.bootstrap, cell.observed):
        if isinstance(contact, Failed):
            expected = predicted.get(address)
            yield address, contact, expected if isinstance(expected, Failed) else None


def contacts(bootstrap: Address, verdict: Verdict) -> Iterator[tuple[Address, Contact]]:
    """Every contact of a cell: those with the endpoints, then that with the bootstrap address."""
    for one in verdict.endpoints:
        yield one.endpoint.address, one.contact
    yield bootstrap, verdict.bootstrap
