"""The repairs that several rules ask for, by what they do; each gives the edits, none where it cannot be made.

A repair is put together of steps that belong together: all of them can be made, or there is none. Each step names
what is to be written, not where: properties by their Kafka name, ports by their numbers. Steps that come to lie at one
place become one edit, in the order in which they were asked for.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Self

from netdiag.deployment.clients import Attempt, usable_address
from netdiag.deployment.model.deployment import (
    Broker,
    DeclaredValue,
    Deployment,
    Member,
    NetworkMode,
    PublishedPort,
    Relay,
)
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.prediction.listener_access import is_host_address, listener_of, published_for
from netdiag.findings import Applicability, Edit
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry, Voter, bracketed, is_wildcard

_MAP = "listener.security.protocol.map"
_ADVERTISED = "advertised.listeners"
_VOTERS = "controller.quorum.voters"
_HOST_LISTENER_NAMES = ("EXTERNAL", "HOST", "OUTSIDE")
_FIRST_FREE_PORT = 29092


class MemberChange:
    """The steps so far of a change of one member; `edits` is their end."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self._edits: list[Edit] = []
        self._closing: list[Edit] = []
        self._failed = member.editor is None

    def replace(self, source: DeclaredValue | None, start: int, end: int, text: str) -> Self:
        """Put `text` in the place of characters start..end of a value that somebody wrote."""
        edit = source.edit(start, end, text) if source is not None else None
        if source is None or edit is None:
            return self._step(None)
        quotes = source.quotes() if "," in text else None
        if quotes is not None and quotes[0].path == edit.path and quotes[0] not in self._edits:
            self._edits.insert(0, quotes[0])
            self._closing.append(quotes[1])
        return self._step(edit)

    def add_variable(self, name: str, value: str, beside: str | None = None) -> Self:
        """One variable more."""
        return self._step(self.member.editor.add_variable(name, value, beside) if self.member.editor else None)

    def rename_variable(self, name: str, new: str) -> Self:
        """Another name for a variable."""
        return self._step(self.member.editor.rename_variable(name, new) if self.member.editor else None)

    def remove_variable(self, name: str) -> Self:
        """One variable less."""
        return self._step(self.member.editor.remove_variable(name) if self.member.editor else None)

    def publish(self, published: int, target: int) -> Self:
        """One published port more."""
        return self._step(self.member.editor.add_port(published, target) if self.member.editor else None)

    def change_port(self, port: PublishedPort, *, published: int | None = None, target: int | None = None) -> Self:
        """Another number in a published port."""
        written = self.member.editor
        return self._step(written.change_port(port, published=published, target=target) if written else None)

    def pin_port(self, port: PublishedPort, number: int) -> Self:
        """A given number in the place of any free one."""
        return self._step(self.member.editor.pin_port(port, number) if self.member.editor else None)

    def offer_everywhere(self, port: PublishedPort) -> Self:
        """A published port without its address of the docker host."""
        return self._step(self.member.editor.offer_everywhere(port) if self.member.editor else None)

    def edits(self, applicability: Applicability = Applicability.UNSAFE) -> tuple[Edit, ...]:
        """All steps as edits; none where one of them could not be made or two of them touch the same text."""
        if self._failed:
            return ()
        made: dict[tuple[str, int, int], Edit] = {}
        for edit in (*self._edits, *self._closing):
            key = (edit.path, edit.start, edit.end)
            earlier = made.get(key)
            if earlier is None:
                made[key] = replace(edit, applicability=applicability)
            elif edit.start == edit.end:
                made[key] = replace(earlier, replacement=earlier.replacement + edit.replacement)
            elif earlier.replacement != edit.replacement:
                return ()
        ordered = sorted(made.values(), key=lambda edit: (edit.path, edit.start, edit.end))
        for before, after in pairwise(ordered):
            if before.path == after.path and after.start < before.end:
                return ()
        return tuple(ordered)

    def _step(self, edit: Edit | None) -> Self:
        if edit is None:
            self._failed = True
        else:
            self._edits.append(edit)
        return self


def lead_relay(relay: Relay, target: Address) -> tuple[Edit, ...]:
    """Lead a relay with one target to another one, where its target is written."""
    written = relay.targets[0].declared
    if written is None:
        return ()
    text = str(target.port) if written.value.isdigit() else str(target)
    edit = written.edit(0, len(written.value), text)
    return () if edit is None else (replace(edit, applicability=Applicability.UNSAFE),)


class BrokerChange(MemberChange):
    """A change of a broker, whose properties are variables of its image's spelling."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker.member)
        self.broker = broker

    def stretch(self, property_name: str, start: int, end: int, text: str) -> Self:
        """Put `text` in the place of characters start..end of a property that is written."""
        self.replace(self.broker.source_of(property_name), start, end, text)
        return self

    def append(self, property_name: str, item: str) -> Self:
        """One item more at the end of a comma list that is written as one."""
        if self.broker.config.mode is Mode.REDPANDA:
            self._failed = True
            return self
        value = self.broker.config.value(property_name) or ""
        end = len(value.rstrip().rstrip(",").rstrip())
        self.stretch(property_name, end, end, f",{item}" if end else item)
        return self

    def put(self, property_name: str, value: str, beside: str = "advertised.listeners") -> Self:
        """The whole value of a property, written anew where it is written, else beside another property.

        Redpanda has flags in the place of variables: there nothing can be put beside.
        """
        if self.broker.config.mode is Mode.REDPANDA:
            self._failed = True
            return self
        source = self.broker.source_of(property_name)
        if source is not None:
            self.replace(source, 0, len(source.value), value)
            return self
        near = self.broker.source_of(beside) or self.broker.source_of("listeners")
        name = variable_for(self.broker, property_name)
        if name is None or name in self.broker.declared:
            self._step(None)
        else:
            self.add_variable(name, value, near.variable if near else None)
        return self

    def drop(self, property_name: str) -> Self:
        """The variable of a property taken away."""
        source = self.broker.source_of(property_name)
        self.remove_variable(source.variable if source else "")
        return self


def variable_for(broker: Broker, property_name: str) -> str | None:
    """The variable that this broker's image turns into a property, spelled as its others are."""
    for setting in broker.config.settings.values():
        ending = setting.name.upper().replace(".", "_")
        variable = setting.variable if setting.provenance is Provenance.VARIABLE else None
        if variable is not None and variable.endswith(ending) and "-" not in ending:
            return variable.removesuffix(ending) + property_name.upper().replace(".", "_")
    return None


def replace_text(
    broker: Broker,
    name: str,
    start: int,
    end: int,
    text: str,
    applicability: Applicability = Applicability.UNSAFE,
) -> tuple[Edit, ...]:
    """Other characters in a property."""
    return BrokerChange(broker).stretch(name, start, end, text).edits(applicability)


def set_property(broker: Broker, name: str, value: str, beside: str = _ADVERTISED) -> tuple[Edit, ...]:
    """A property set, or set anew."""
    return BrokerChange(broker).put(name, value, beside).edits()


def append_item(broker: Broker, name: str, item: str) -> tuple[Edit, ...]:
    """One item more in a list that is written."""
    return BrokerChange(broker).append(name, item).edits()


def remove_property(broker: Broker, name: str) -> tuple[Edit, ...]:
    """A property taken away."""
    return BrokerChange(broker).drop(name).edits()


def replace_in_variable(broker: Broker, variable: str, start: int, end: int, text: str) -> tuple[Edit, ...]:
    """Other characters in a variable of a broker, whatever its image makes of it."""
    return MemberChange(broker.member).replace(broker.declared.get(variable), start, end, text).edits()


def add_variable(member: Member, name: str, value: str, beside: str) -> tuple[Edit, ...]:
    """One variable more."""
    return MemberChange(member).add_variable(name, value, beside).edits()


def remove_variable(member: Member, name: str) -> tuple[Edit, ...]:
    """A variable taken away."""
    return MemberChange(member).remove_variable(name).edits()


def rename_variable(member: Member, name: str, new: str) -> tuple[Edit, ...]:
    """A variable called otherwise."""
    return MemberChange(member).rename_variable(name, new).edits()


def publish(deployment: Deployment, member: Member, published: int, target: int) -> tuple[Edit, ...]:
    """A port published, where nobody has the number on the docker host."""
    if published in deployment.publishers_by_port or not 0 < published < 65536:
        return ()
    return MemberChange(member).publish(published, target).edits()


def publish_as(deployment: Deployment, member: Member, port: PublishedPort, published: int) -> tuple[Edit, ...]:
    """A published port under another number, where nobody has it on the docker host."""
    if published in deployment.publishers_by_port:
        return ()
    return MemberChange(member).change_port(port, published=published).edits()


def change_target(member: Member, port: PublishedPort, target: int) -> tuple[Edit, ...]:
    """A published port led to another container port."""
    return MemberChange(member).change_port(port, target=target).edits()


def host_listener_name(broker: Broker) -> str:
    """What a new listener for the docker host can be called."""
    return next((name for name in _HOST_LISTENER_NAMES if _is_free(broker, name)), "DOCKER_HOST")


def free_port(deployment: Deployment, broker: Broker) -> int:
    """A port that no listener binds, and that the broker does not publish."""
    taken = {port for (_, port) in deployment.listeners_by_port} | {p.target for p in broker.member.published}
    return next(port for port in range(_FIRST_FREE_PORT, 65536) if port not in taken)


def service_name(broker: Broker) -> str:
    """What other containers call the broker."""
    return broker.member.service or broker.name


def advertise(broker: Broker, entry: ListenerEntry, host: str, port: int | None = None) -> tuple[Edit, ...]:
    """Another host, and another port where one is given, for one advertised entry.

    A broker that advertises what it binds is given a list of its own.
    """
    port = entry.endpoint.port if port is None else port
    if broker.config.value(_ADVERTISED):
        change = BrokerChange(broker)
        if entry.endpoint.host != host:
            start = entry.host_start
            # The brackets of an IPv6 literal are no part of the host.
            bracketed = entry.text[start - entry.start - 1 : start - entry.start] == "["
            change.stretch(_ADVERTISED, start - bracketed, entry.host_end + bracketed, host)
        if port != entry.endpoint.port:
            change.stretch(_ADVERTISED, entry.port_start, entry.port_end, str(port))
        return change.edits()
    entries = [
        f"{e.endpoint.listener}://{host}:{port if e is entry else e.endpoint.port}"
        for e in broker.config.advertised_listeners
    ]
    return BrokerChange(broker).put(_ADVERTISED, ",".join(entries), beside="listeners").edits() if entries else ()


def map_listener(broker: Broker, listener: str) -> tuple[Edit, ...]:
    """A listener mapped to PLAINTEXT, unless its name speaks of another protocol.

    A map that is new must name every listener: one that is set replaces the names known by themselves.
    """
    config = broker.config
    if "SSL" in listener or "SASL" in listener or "TLS" in listener:
        return ()
    if config.value(_MAP):
        return append_item(broker, _MAP, f"{listener}:PLAINTEXT")
    names = dict.fromkeys(
        (*(e.endpoint.listener for e in config.listeners), *(n.strip() for n in config.controller_names), listener)
    )
    if any(n not in config.protocol_map and ("SSL" in n or "SASL" in n) for n in names):
        return ()
    return set_property(broker, _MAP, ",".join(f"{n}:{config.protocol_map.get(n, 'PLAINTEXT')}" for n in names))


def remove_entry(
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
        return replace_text(broker, name, before[-1].end, entry.end, "", applicability)
    return replace_text(broker, name, entry.start, after[0].start, "", applicability) if after else ()


def pin_port(member: Member, port: PublishedPort, number: int) -> tuple[Edit, ...]:
    """A port that is published on whichever is free, on a given one."""
    return MemberChange(member).pin_port(port, number).edits()


def offer_everywhere(member: Member, port: PublishedPort) -> tuple[Edit, ...]:
    """A port that is published on one address of the docker host, on all of them."""
    return MemberChange(member).offer_everywhere(port).edits()


def change_published_port(deployment: Deployment, member: Member, port: PublishedPort) -> tuple[Edit, ...]:
    """Another free number of the docker host, and the same one where the member tells it to clients."""
    if port.published is None:
        return ()
    free = next((n for n in range(port.published + 1, 65536) if n not in deployment.publishers_by_port), None)
    broker = deployment.broker(member.name)
    if free is None:
        return ()
    if broker is None:
        return MemberChange(member).change_port(port, published=free).edits()
    change = BrokerChange(broker)
    change.change_port(port, published=free)
    for entry in broker.config.advertised_listeners:
        bound = listener_of(broker, entry.endpoint.listener)
        if bound and bound.endpoint.port == port.target and is_host_address(deployment, entry.endpoint.host):
            change.stretch(_ADVERTISED, entry.port_start, entry.port_end, str(free))
    return change.edits()


def name_voters(deployment: Deployment, broker: Broker, wrong: Callable[[Voter], bool]) -> tuple[Edit, ...]:
    """The voter entries that are wrong, with the name and port of the controller that has their id."""
    change = BrokerChange(broker)
    for voter in broker.config.well_formed_voters:
        if not wrong(voter):
            continue
        entry = _voter_of(deployment, voter.node_id)
        if entry is None:
            return ()
        change.stretch(_VOTERS, voter.start, voter.end, entry)
    return change.edits()


def set_voters(deployment: Deployment, broker: Broker) -> tuple[Edit, ...]:
    """The list of all controllers that the files show, where each of them can be told by its id."""
    ids = [b.config.node_id for b in deployment.configured if b.config.is_controller]
    entries = [_voter_of(deployment, number) for number in ids if number is not None]
    if not entries or len(entries) < len(ids) or None in entries:
        return ()
    return set_property(broker, _VOTERS, ",".join(filter(None, entries)), "process.roles")


def bind_controller(broker: Broker, listener: str) -> tuple[Edit, ...]:
    """A controller listener bound at the port that the voters know for this node."""
    config = broker.config
    ports = {v.port for v in config.well_formed_voters if v.node_id == config.node_id}
    if len(ports) != 1 or ports & {e.endpoint.port for e in config.listeners}:
        return ()
    entry = f"{listener}://:{ports.pop()}"
    change = BrokerChange(broker)
    if broker.source_of("listeners") is not None:
        change.append("listeners", entry)
    else:
        change.put("listeners", ",".join([*(e.text for e in config.listeners), entry]))
    if listener not in config.controller_names:
        change.put("controller.listener.names", listener, "listeners")
    return change.edits()


def point_client(deployment: Deployment, attempt: Attempt, brokers: tuple[Broker, ...] = ()) -> tuple[Edit, ...]:
    """A client's bootstrap address replaced by one that works from where the client is."""
    better = usable_address(deployment, attempt, brokers)
    if better is None:
        return ()
    declared, entry = attempt.client.declared, attempt.entry
    scheme = declared.value[entry.start : entry.end].rpartition("://")
    start = entry.start + len(scheme[0]) + len(scheme[1])
    others = [a for a in attempt.client.bootstraps if (a.host, a.port) == (better.host, better.port)]
    if others:
        # It would stand in the list twice: which of them is meant to go is not for us to say.
        return ()
    return MemberChange(attempt.member).replace(declared, start, entry.end, str(better)).edits()


def split_listener(deployment: Deployment, broker: Broker, advertised: ListenerEntry) -> tuple[Edit, ...]:
    """The edits that leave `advertised` to containers and lead the docker host to a new listener on localhost.

    None where the listener is not plain, is published on no or several ports, or the broker shares a network
    namespace: then it is a decision.
    """
    config, listener = broker.config, advertised.endpoint.listener
    bound = listener_of(broker, listener)
    name = next((n for n in _HOST_LISTENER_NAMES if _is_free(broker, n)), None)
    if bound is None or name is None or broker.member.mode is not NetworkMode.NETWORKS:
        return ()
    if config.protocol_map.get(listener) != "PLAINTEXT" or broker.is_configured_by_file:
        return ()
    ports = published_for(broker, bound)
    if len(ports) != 1 or ports[0].published is None or not (is_wildcard(bound.endpoint.host)):
        return ()
    change = BrokerChange(broker)
    _advertise_both(change, broker, advertised, f"{name}://localhost:{ports[0].published}", bound)
    port = free_port(deployment, broker)
    _bind_host_listener(change, broker, f"{name}://{bracketed(bound.endpoint.host)}:{port}")
    _map_host_listener(change, broker, name)
    if config.inter_broker_listener not in _taken_names(broker):
        change.put("inter.broker.listener.name", listener)
    change.change_port(ports[0], target=port)
    return change.edits()


def _voter_of(deployment: Deployment, node_id: int) -> str | None:
    """ID@HOST:PORT of the one controller that has an id."""
    having = [b for b in deployment.configured if b.config.is_controller and b.config.node_id == node_id]
    if len(having) != 1 or len(having[0].config.controller_listeners) != 1:
        return None
    return f"{node_id}@{service_name(having[0])}:{having[0].config.controller_listeners[0].endpoint.port}"


def _is_free(broker: Broker, name: str) -> bool:
    return name not in _taken_names(broker) and broker.config.protocol_map.get(name, "PLAINTEXT") == "PLAINTEXT"


def _taken_names(broker: Broker) -> set[str]:
    entries = (*broker.config.listeners, *broker.config.advertised_listeners)
    return {entry.endpoint.listener for entry in entries} | set(broker.config.controller_names)


def _advertise_both(
    change: BrokerChange, broker: Broker, advertised: ListenerEntry, added: str, bound: ListenerEntry
) -> None:
    """The old entry by the service's name and the port that is bound, the new one behind it."""
    property_name = "advertised.listeners"
    host = broker.member.service or broker.name
    if broker.source_of(property_name) is None:
        others = [e.text for e in broker.config.advertised_listeners if e is not advertised]
        own = f"{advertised.endpoint.listener}://{host}:{bound.endpoint.port}"
        change.put(property_name, ",".join([own, *others, added]), beside="listeners")
        return
    if advertised.endpoint.host not in broker.member.all_names:
        change.stretch(property_name, advertised.host_start, advertised.host_end, host)
    if advertised.endpoint.port != bound.endpoint.port:
        change.stretch(property_name, advertised.port_start, advertised.port_end, str(bound.endpoint.port))
    change.append(property_name, added)


def _bind_host_listener(change: BrokerChange, broker: Broker, entry: str) -> None:
    if broker.source_of("listeners") is not None:
        change.append("listeners", entry)
        return
    bound = ",".join(item.text for item in broker.config.listeners)
    change.put("listeners", f"{bound},{entry}")


def _map_host_listener(change: BrokerChange, broker: Broker, name: str) -> None:
    """The new name beside the others; a map that is new must name them all."""
    mapped = broker.config.protocol_map
    if name in mapped:
        return
    if broker.source_of(_MAP) is not None:
        change.append(_MAP, f"{name}:PLAINTEXT")
        return
    used = [e.endpoint.listener for e in broker.config.listeners]
    names = dict.fromkeys((*used, *broker.config.controller_names))
    pairs = [f"{n}:{mapped.get(n, 'PLAINTEXT')}" for n in names]
    change.put(_MAP, ",".join((*pairs, f"{name}:PLAINTEXT")))
