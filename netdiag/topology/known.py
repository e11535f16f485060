"""What every part of the join looks up: devices by place, ends of pairs, the namespace of each container.

Made once for a join; nothing here decides what is right or wrong.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from netdiag.engine.container import Container
from netdiag.linux.link import Link
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts

# Kinds that come in pairs; of any other kind IFLA_LINK is what the device stands on.
PAIRED = ("veth", "netkit")


# Without slots, so that each index is made once.
@dataclass(frozen=True, kw_only=True)
class Known:
    """An inventory with the engine's containers by id; `host` is the namespace of the docker host, None for none here.

    Of an engine elsewhere (`host` None) no container is in any namespace here: its pids mean nothing on this kernel.
    """

    inventory: Inventory
    containers: Mapping[str, Container]
    host: int | None

    @cached_property
    def links(self) -> Mapping[LinkId, Link]:
        """Every device by where it is."""
        return {
            LinkId(netns=inode, ifindex=link.ifindex): link
            for inode, facts in self.inventory.namespaces.items()
            for link in facts.links
        }

    @cached_property
    def ends(self) -> Mapping[LinkId, LinkId]:
        """From each device to its other end or parent: of a veth its peer, of a macvlan what it stands on."""
        return {at: end for at, link in self.links.items() if (end := self._end(at, link)) is not None}

    @cached_property
    def by_address(self) -> Mapping[tuple[int, str], LinkId]:
        """The device that has an address in a namespace."""
        return {
            (inode, address.address): LinkId(netns=inode, ifindex=address.ifindex)
            for inode, facts in self.inventory.namespaces.items()
            for address in facts.addresses
        }

    @cached_property
    def netns_of(self) -> Mapping[str, int]:
        """The namespace of each container that runs and can be seen, by container id."""
        if self.host is None:
            return {}
        found = {c.id: inode for c in self.containers.values() if (inode := self._netns(c)) is not None}
        for container in self.containers.values():
            # A process that nobody may look at, in a namespace that another's process shows.
            owner = owner_of(container, self.containers)
            if container.id not in found and container.state.has_process and owner is not None and owner in found:
                found[container.id] = found[owner]
        return found

    @cached_property
    def host_facts(self) -> NamespaceFacts | None:
        """The docker host's namespace, if it could be looked into."""
        return self.entered(self.host)

    @cached_property
    def shows_host_rules(self) -> bool:
        """Whether every packet filter rule of the docker host could be read."""
        return self.host_facts is not None and not self.host_facts.ruleset.unread

    def entered(self, netns: int | None) -> NamespaceFacts | None:
        """The facts of a namespace that could be looked into."""
        facts = None if netns is None else self.inventory.namespaces.get(netns)
        return facts if facts is not None and facts.entered else None

    def _end(self, at: LinkId, link: Link) -> LinkId | None:
        end = self.inventory.namespaces[at.netns].ends.get(at.ifindex)
        if end is None and link.link is not None and link.link_netnsid is None:
            end = LinkId(netns=at.netns, ifindex=link.link)
        return None if end == at else end

    def _netns(self, container: Container) -> int | None:
        if not container.state.has_process:
            return None
        if container.network_mode == "host":
            return self.host
        pid = container.state.pid
        process = self.inventory.processes.get(pid)
        if process is not None and process.container_id not in ("", container.id):
            # The engine spoke a moment ago; the number has another owner now.
            return None
        if process is not None and process.netns is not None:
            return process.netns
        return self._by_pid.get(pid, self._by_container.get(container.id))

    @cached_property
    def _by_pid(self) -> Mapping[int, int]:
        return {pid: inode for inode, facts in self.inventory.namespaces.items() for pid in facts.netns.pids}

    @cached_property
    def _by_container(self) -> Mapping[str, int]:
        processes = self.inventory.processes.values()
        return {p.container_id: p.netns for p in processes if p.container_id and p.netns is not None}


def owner_of(container: Container, containers: Mapping[str, Container]) -> str | None:
    """The id of the container whose network another one shares; None for one with a network of its own."""
    word, _, rest = container.network_mode.partition(":")
    if word != "container" or not rest:
        return None
    return next((c.id for c in containers.values() if rest in (c.id, c.name)), None)


def plain(address: str) -> str:
    """An address as the kernel's decoders write it; what is none stays as it is."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address
