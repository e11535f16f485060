"""What a configuration file says, as values; None is what it does not say."""

import ipaddress
from collections.abc import Mapping
from dataclasses import field

from netdiag.findings import FileLocation, Severity
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAddress:
    """An address that clients outside of Docker use for Kafka, and where that is written."""

    host: str
    port: int
    where: FileLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalNetwork:
    """A network that others make: the names of all containers there that no file here shows, and its subnets.

    `members` of None is "nobody knows".
    """

    members: tuple[str, ...] | None = None
    subnets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What no compose file can say about the world around it.

    `images` leads from an image of one's own (its repository, or repository and tag) to the one it is made from;
    `docker_desktop` of None is "nobody knows". `resolves` is what the resolvers of clients answer for names that no
    file declares: an address, or "" for a name that does not resolve; `*` stands for all other names.
    """

    host_clients: tuple[ClientAddress, ...] = ()
    lan_clients: tuple[ClientAddress, ...] = ()
    host_addresses: tuple[str, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    external_networks: Mapping[str, ExternalNetwork] = field(default_factory=dict)
    docker_desktop: bool | None = None
    resolves: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One file. `env_files` are relative to its folder, and so are the globs of `per_file_ignores`."""

    path: str = ""
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    fail_on: Severity | None = None
    profiles: tuple[str, ...] | None = None
    env_files: tuple[str, ...] = ()
    facts: Facts = field(default_factory=Facts)


def assumed_name(name: str, address: str) -> tuple[str, str]:
    """A name with the address that resolvers give it, "" for none, as both are compared; ValueError for no address."""
    return name.strip().lower().rstrip("."), str(ipaddress.ip_address(address.strip())) if address.strip() else ""
