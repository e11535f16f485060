"""The repairs that several rules ask for, by what they do; each gives the edits, none where it cannot be made."""

from collections.abc import Callable

from netdiag.deployment.clients import Attempt, usable_address
from netdiag.deployment.entrants import is_host_address, listener_of
from netdiag.deployment.member import Broker, Deployment, Member, PublishedPort
from netdiag.deployment.rewriting import BrokerRewriting, Rewriting
from netdiag.findings import Applicability, Edit
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry
from netdiag.kafka.quorum import Voter

_MAP = "listener.security.protocol.map"
_ADVERTISED = "advertised.listeners"
_VOTERS = "controller.quorum.voters"


def rewrite(
    broker: Broker,
    name: str,
    start: int,
    end: int,
    text: str,
    applicability: Applicability = Applicability.UNSAFE,
) -> tuple[Edit, ...]:
    """Other characters in a property."""
    return BrokerRewriting(broker).stretch(name, start, end, text).edits(applicability)


def put(broker: Broker, name: str, value: str, beside: str = _ADVERTISED) -> tuple[Edit, ...]:
    """A property set, or set anew."""
    return BrokerRewriting(broker).put(name, value, beside).edits()


def append(broker: Broker, name: str, item: str) -> tuple[Edit, ...]:
    """One item more in a list that is written."""
    return BrokerRewriting(broker).append(name, item).edits()


def drop(broker: Broker, name: str) -> tuple[Edit, ...]:
    """A property taken away."""
    return BrokerRewriting(broker).drop(name).edits()


def drop_variable(member: Member, name: str) -> tuple[Edit, ...]:
    """A variable taken away."""
    return Rewriting(member).remove_variable(name).edits()


def rename_variable(member: Member, name: str, new: str) -> tuple[Edit, ...]:
    """A variable called otherwise."""
    return Rewriting(member).rename_variable(name, new).edits()


def publish(deployment: Deployment, member: Member, published: int, target: int) -> tuple[Edit, ...]:
    """A port published, where nobody has the number on the docker host."""
    if published in deployment.publishing or not 0 < published < 65536:
        return ()
    return Rewriting(member).publish(published, target).edits()


def lead(member: Member, port: PublishedPort, target: int) -> tuple[Edit, ...]:
    """A published port led to another container port."""
    return Rewriting(member).change_port(port, target=target).edits()


def own_name(broker: Broker) -> str:
    """What other containers call the broker."""
    return broker.member.service or broker.name


def advertise(broker: Broker, entry: ListenerEntry, host: str, port: int | None = None) -> tuple[Edit, ...]:
    """Another host, and another port where one is given, for one advertised entry.

    A broker that advertises what it binds is given a list of its own.
    """
    port = entry.endpoint.port if port is None else port
    if broker.config.value(_ADVERTISED):
        rewriting = BrokerRewriting(broker)
        if entry.endpoint.host != host:
            start = entry.host_start
            # The brackets of an IPv6 literal are no part of the host.
            bracketed = entry.text[start - entry.start - 1 : start - entry.start] == "["
            rewriting.stretch(_ADVERTISED, start - bracketed, entry.host_end + bracketed, host)
        if port != entry.endpoint.port:
            rewriting.stretch(_ADVERTISED, entry.port_start, entry.port_end, str(port))
        return rewriting.edits()
    told = [
        f"{e.endpoint.listener}://{host}:{port if e is entry else e.endpoint.port}"
        for e in broker.config.advertised_listeners
    ]
    return BrokerRewriting(broker).put(_ADVERTISED, ",".join(told), beside="listeners").edits() if told else ()


def map_listener(broker: Broker, listener: str) -> tuple[Edit, ...]:
    """A listener mapped to PLAINTEXT, unless its name speaks of another protocol.

    A map that is new must name every listener: one that is set replaces the names known by themselves.
    """
    config = broker.config
    if "SSL" in listener or "SASL" in listener or "TLS" in listener:
        return ()
    if config.value(_MAP):
        return append(broker, _MAP, f"{listener}:PLAINTEXT")
    names = dict.fromkeys(
        (*(e.endpoint.listener for e in config.listeners), *(n.strip() for n in config.controller_names), listener)
    )
    if any(n not in config.protocol_map and ("SSL" in n or "SASL" in n) for n in names):
        return ()
    return put(broker, _MAP, ",".join(f"{n}:{config.protocol_map.get(n, 'PLAINTEXT')}" for n in names))


def without(
    broker: Broker,
    name: str,
    entries: tuple[ListenerEntry | MalformedEntry, ...],
    entry: ListenerEntry,
    applicability: Applicability = Applicability.UNSAFE,
) -> tuple[Edit, ...]:
    """A listener list without one entry and its comma; none where nothing would be left."""
    before = [other for other in entries if other.end <= entry.start]
    after = [other for other in entries if other.start >= entry.end]
    if before:
        return rewrite(broker, name, before[-1].end, entry.end, "", applicability)
    return rewrite(broker, name, entry.start, after[0].start, "", applicability) if after else ()


def pin(member: Member, port: PublishedPort, number: int) -> tuple[Edit, ...]:
    """A port that is published on whichever is free, on a given one."""
    return Rewriting(member).pin_port(port, number).edits()


def offer_everywhere(member: Member, port: PublishedPort) -> tuple[Edit, ...]:
    """A port that is published on one address of the docker host, on all of them."""
    return Rewriting(member).offer_everywhere(port).edits()


def move_host_port(deployment: Deployment, member: Member, port: PublishedPort) -> tuple[Edit, ...]:
    """Another free number of the docker host, and the same one where the member tells it to clients."""
    if port.published is None:
        return ()
    free = next((n for n in range(port.published + 1, 65536) if n not in deployment.publishing), None)
    broker = deployment.broker(member.name)
    if free is None:
        return ()
    if broker is None:
        return Rewriting(member).change_port(port, published=free).edits()
    rewriting = BrokerRewriting(broker)
    rewriting.change_port(port, published=free)
    for entry in broker.config.advertised_listeners:
        bound = listener_of(broker, entry.endpoint.listener)
        if bound and bound.endpoint.port == port.target and is_host_address(deployment, entry.endpoint.host):
            rewriting.stretch(_ADVERTISED, entry.port_start, entry.port_end, str(free))
    return rewriting.edits()


def name_voters(deployment: Deployment, broker: Broker, wrong: Callable[[Voter], bool]) -> tuple[Edit, ...]:
    """The voter entries that are wrong, with the name and port of the controller that has their id."""
    rewriting = BrokerRewriting(broker)
    for voter in broker.config.well_formed_voters:
        if not wrong(voter):
            continue
        told = _voter_of(deployment, voter.node_id)
        if told is None:
            return ()
        rewriting.stretch(_VOTERS, voter.start, voter.end, told)
    return rewriting.edits()


def put_voters(deployment: Deployment, broker: Broker) -> tuple[Edit, ...]:
    """The list of all controllers that the files show, where each of them can be told by its id."""
    ids = [b.config.node_id for b in deployment.configured if b.config.is_controller]
    told = [_voter_of(deployment, number) for number in ids if number is not None]
    if not told or len(told) < len(ids) or None in told:
        return ()
    return put(broker, _VOTERS, ",".join(filter(None, told)), "process.roles")


def _voter_of(deployment: Deployment, node_id: int) -> str | None:
    """ID@HOST:PORT of the one controller that has an id."""
    having = [b for b in deployment.configured if b.config.is_controller and b.config.node_id == node_id]
    if len(having) != 1 or len(having[0].config.controller_listeners) != 1:
        return None
    return f"{node_id}@{own_name(having[0])}:{having[0].config.controller_listeners[0].endpoint.port}"


def bind_controller(broker: Broker, listener: str) -> tuple[Edit, ...]:
    """A controller listener bound at the port that the voters know for this node."""
    config = broker.config
    ports = {v.port for v in config.well_formed_voters if v.node_id == config.node_id}
    if len(ports) != 1 or ports & {e.endpoint.port for e in config.listeners}:
        return ()
    entry = f"{listener}://:{ports.pop()}"
    rewriting = BrokerRewriting(broker)
    if broker.source_of("listeners") is not None:
        rewriting.append("listeners", entry)
    else:
        rewriting.put("listeners", ",".join([*(e.text for e in config.listeners), entry]))
    if listener not in config.controller_names:
        rewriting.put("controller.listener.names", listener, "listeners")
    return rewriting.edits()


def point(deployment: Deployment, attempt: Attempt, brokers: tuple[Broker, ...] = ()) -> tuple[Edit, ...]:
    """A client's bootstrap address replaced by one that works from where the client is."""
    better = usable_address(deployment, attempt, brokers)
    if better is None:
        return ()
    declared, told = attempt.dependent.declared, attempt.told
    scheme = declared.value[told.start : told.end].rpartition("://")
    start = told.start + len(scheme[0]) + len(scheme[1])
    others = [a for a in attempt.dependent.bootstraps if (a.host, a.port) == (better.host, better.port)]
    if others:
        # It would stand in the list twice: which of them is meant to go is not for us to say.
        return ()
    return Rewriting(attempt.client).replace(declared, start, told.end, str(better)).edits()
