"""What a manager of a swarm tells of the tasks on all nodes: `GET /services`, `GET /tasks`, `GET /nodes`.

Source: docs.docker.com, Docker Engine API v1.41; swarmkit, template/context.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from netdiag.engine.container import (
    Container,
    ContainerState,
    EndpointSettings,
    PortBinding,
    Status,
    SwarmTask,
    mapping,
    number,
    sequence,
    text,
    texts,
)
from netdiag.patterns import regex
from netdiag.values import dataclass

# The question's filter, as a URL has it: {"desired-state":["running"]}.
RUNNING = "%7B%22desired-state%22%3A%5B%22running%22%5D%7D"
# What a manager tells of more tasks than these is taken for not told.
MOST_TASKS = 1000
_TEMPLATE = regex(r"\{\{ {0,8}\.(Service|Node|Task)\.(ID|Name|Hostname|Slot) {0,8}\}\}")
_LONGEST = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmView:
    """The swarm as its manager tells it: its tasks on this node by id, containers of tasks on other nodes.

    `ingress_ports` are those that every node offers.
    """

    tasks: Mapping[str, SwarmTask]
    elsewhere: tuple[Container, ...]
    ingress_ports: tuple[int, ...]

    def joined(self, containers: Sequence[Container]) -> tuple[Container, ...]:
        """The containers of this node with what is known of their services, and those of other nodes."""
        own = tuple(
            replace(c, task=found) if c.task is not None and (found := self.tasks.get(c.task.id)) is not None else c
            for c in containers
        )
        return (*own, *self.elsewhere)


def parse_swarm(services: object, tasks: object, nodes: object, own_node: str) -> SwarmView | None:
    """The view of a manager, whose node has the id `own_node`; None where it tells of more than `MOST_TASKS`."""
    told = [one for one in sequence({"": tasks}, "") if text(one, "Status", "State") == "running"]
    if len(told) > MOST_TASKS:
        return None
    by_service = {text(one, "ID"): one for one in sequence({"": services}, "")}
    by_node = {text(one, "ID"): one for one in sequence({"": nodes}, "")}
    own: dict[str, SwarmTask] = {}
    elsewhere: list[Container] = []
    for document in told:
        node = text(document, "NodeID")
        service = by_service.get(text(document, "ServiceID"))
        if service is None or not text(document, "ID") or not node:
            continue
        task = _task(document, service, None if node == own_node else by_node.get(node, {}))
        if node == own_node:
            own[task.id] = task
        else:
            elsewhere.append(_container(document, service, by_node.get(node, {}), task))
    return SwarmView(
        tasks=own,
        elsewhere=tuple(elsewhere),
        ingress_ports=tuple(sorted({port for one in by_service.values() for port in _ingress_ports(one)})),
    )


def _ingress_ports(service: object) -> Iterator[int]:
    for port in sequence(service, "Endpoint", "Ports"):
        published = number(port, "PublishedPort")
        if published and text(port, "PublishMode") != "host":
            yield published


def _task(document: object, service: object, node: object) -> SwarmTask:
    networks = {text(one, "Network", "ID"): _network_name(one) for one in sequence(document, "NetworksAttachments")}
    aliases = {
        networks[target]: texts(one, "Aliases")
        for one in sequence(document, "Spec", "Networks")
        if (target := text(one, "Target")) in networks
    }
    name = text(service, "Spec", "Name")
    return SwarmTask(
        id=text(document, "ID"),
        service=name,
        stack=_stack(service),
        endpoint_mode=text(service, "Endpoint", "Spec", "Mode")
        or text(service, "Spec", "EndpointSpec", "Mode")
        or "vip",
        aliases=aliases,
        node=(text(node, "Description", "Hostname") or text(document, "NodeID")) if node is not None else "",
        node_address=text(node, "Status", "Addr"),
        node_ports=_ports(document) if node is not None else (),
    )


def _stack(service: object) -> str:
    return text(service, "Spec", "Labels", "com.docker.stack.namespace")


def _network_name(attachment: object) -> str:
    return text(attachment, "Network", "Spec", "Name")


def _ports(document: object) -> tuple[PortBinding, ...]:
    """What the node of a task publishes for it, each port once."""
    found = (
        PortBinding(
            target=number(one, "TargetPort"),
            protocol=text(one, "Protocol") or "tcp",
            host_ip="",
            published=number(one, "PublishedPort") or None,
        )
        for one in sequence(document, "Status", "PortStatus", "Ports")
        if text(one, "PublishMode") == "host"
    )
    return tuple(dict.fromkeys(found))


def _container(document: object, service: object, node: object, task: SwarmTask) -> Container:
    """The container of a task on another node, whose engine was not asked. Its process means nothing here."""
    spec = mapping(document, "Spec", "ContainerSpec")
    slot = number(document, "Slot")
    name = f"{task.service}.{slot or text(document, 'NodeID')}.{task.id}"
    identifier = text(document, "Status", "ContainerStatus", "ContainerID") or task.id
    values = {
        ("Service", "ID"): text(service, "ID"),
        ("Service", "Name"): task.service,
        ("Node", "ID"): text(node, "ID"),
        ("Node", "Hostname"): text(node, "Description", "Hostname"),
        ("Task", "ID"): task.id,
        ("Task", "Name"): name,
        ("Task", "Slot"): str(slot or text(document, "NodeID")),
    }
    environment = (one.partition("=") for one in texts(spec, "Env"))
    return Container(
        id=identifier,
        name=name,
        image=text(spec, "Image").partition("@")[0],
        image_id="",
        state=ContainerState(status=Status.RUNNING, pid=0, exit_code=0, oom_killed=False, error=""),
        entrypoint=texts(spec, "Command"),
        command=texts(spec, "Args"),
        environment={key: _filled(value, values) for key, equals, value in environment if equals},
        labels={},
        hostname=_filled(text(spec, "Hostname"), values) or identifier[:12],
        domainname="",
        network_mode="default",
        extra_hosts=(),
        networks=tuple(
            EndpointSettings(
                network=_network_name(one),
                network_id=text(one, "Network", "ID"),
                aliases=(),
                ipv4_address=next(iter(_addresses(one)), ""),
                ipv6_address="",
                gateway="",
            )
            for one in sequence(document, "NetworksAttachments")
            if _network_name(one)
        ),
        ports=(),
        requested_ports=(),
        restart_count=0,
        task=task,
    )


def _addresses(attachment: Any) -> Iterator[str]:
    for one in texts(attachment, "Addresses"):
        yield one.partition("/")[0]


def _filled(value: str, values: Mapping[tuple[str, str], str]) -> str:
    """A text with what the swarm puts in the place of templates; those that are unknown here stay."""
    if "{{" not in value or len(value) > _LONGEST:
        return value
    return _TEMPLATE.sub(lambda match: values.get((match[1], match[2]), match[0]), value)
