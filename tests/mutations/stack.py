"""A compose file as a value: services whose lines can be told, changed one by one."""

import copy
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Place = tuple[str, ...]


@dataclass(kw_only=True)
class Service:
    """One service; `keys` are its other keys, each a plain YAML flow value.

    With `doubled` the environment is written as a list, in which these entries stand before those of `environment`.
    """

    image: str
    environment: dict[str, str] = field(default_factory=dict)
    ports: list[str] = field(default_factory=list)
    networks: list[str] = field(default_factory=lambda: ["kafka"])
    keys: dict[str, str] = field(default_factory=dict)
    doubled: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Stack:
    """A whole file. `prefix` is what the image family puts before a property's variable; tests change stacks freely.

    `files` are what lies beside the file, by their names from there, `certificates` those of them that are made
    (`tests.deployment.stores`).
    """

    name: str
    family: str
    prefix: str
    services: dict[str, Service]
    brokers: tuple[str, ...]
    controllers: tuple[str, ...] = ()
    networks: dict[str, str] = field(default_factory=lambda: {"kafka": ""})
    files: dict[str, str] = field(default_factory=dict)
    certificates: dict[str, dict[str, object]] = field(default_factory=dict)

    @property
    def is_kraft(self) -> bool:
        """Whether there is a quorum of controllers."""
        return bool(self.controllers)

    @property
    def is_isolated(self) -> bool:
        """Whether controllers are nodes of their own."""
        return self.is_kraft and not set(self.controllers) & set(self.brokers)

    @property
    def has_peers(self) -> bool:
        """Whether there is more than one broker."""
        return len(self.brokers) > 1

    def variable(self, name: str) -> str:
        """The environment variable of a broker property."""
        return self.prefix + name.upper().replace(".", "_")

    def get(self, service: str, name: str) -> str:
        """The value of a broker property."""
        return self.services[service].environment[self.variable(name)]

    def has(self, service: str, name: str) -> bool:
        """Whether a service gives a broker property."""
        return self.variable(name) in self.services[service].environment

    def put(self, service: str, name: str, value: str) -> Place:
        """Give a broker property this value; the place of its line."""
        self.services[service].environment[self.variable(name)] = value
        return (service, "environment", self.variable(name))

    def change(self, service: str, name: str, change: Callable[[str], str]) -> Place:
        """Rewrite the value of a broker property; a change that changes nothing is a mistake of the test."""
        before = self.get(service, name)
        after = change(before)
        assert after != before, f"{name} of {service} in {self.name} stayed {before}"
        return self.put(service, name, after)

    def swap(self, service: str, name: str, old: str, new: str) -> Place:
        """Replace a part of a broker property."""
        return self.change(service, name, lambda value: value.replace(old, new))

    def drop(self, service: str, name: str) -> None:
        """Take a broker property away."""
        del self.services[service].environment[self.variable(name)]

    def port(self, service: str, before: str, after: str | None) -> Place:
        """Replace a published port, or take it away; the place of its line, or of the service."""
        ports = self.services[service].ports
        index = ports.index(before)
        if after is None:
            del ports[index]
            return (service,)
        ports[index] = after
        return (service, "ports", str(index))

    def copy(self) -> "Stack":
        """A stack that can be changed without changing this one."""
        return copy.deepcopy(self)

    def render(self) -> tuple[str, dict[Place, int]]:
        """The text, and the line number of every place in it."""
        lines: list[str] = [f"name: {self.name}", "services:"]
        places: dict[Place, int] = {}

        def add(text: str, *place: str) -> None:
            lines.append(text)
            if place:
                places[place] = len(lines)

        for name, service in self.services.items():
            add(f"  {name}:", name)
            add(f"    image: {service.image}", name, "image")
            for key, value in service.keys.items():
                add(f"    {key}: {value}", name, key)
            _list(add, name, "networks", service.networks if "network_mode" not in service.keys else ())
            _list(add, name, "ports", service.ports)
            if service.environment:
                add("    environment:", name, "environment")
            for variable, value in service.doubled.items():
                add(f"      - {json.dumps(f'{variable}={value}')}")
            for variable, value in service.environment.items():
                entry = (
                    f"- {json.dumps(f'{variable}={value}')}" if service.doubled else f"{variable}: {json.dumps(value)}"
                )
                add(f"      {entry}", name, "environment", variable)
        add("networks:")
        for name, value in self.networks.items():
            add(f"  {name}: {value}".rstrip(), "networks", name)
        if self.files:
            add(f"x-files: {json.dumps(self.files)}")
        if self.certificates:
            add(f"x-certificates: {json.dumps(self.certificates)}")
        return "\n".join(lines) + "\n", places


def _list(add: Callable[..., None], service: str, key: str, items: Iterable[str]) -> None:
    items = list(items)
    if items:
        add(f"    {key}:", service, key)
    for index, item in enumerate(items):
        add(f"      - {json.dumps(item)}", service, key, str(index))
