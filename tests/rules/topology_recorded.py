"""Small topologies for tests: the examples of the rules about topologies, each thing placed at its line.

    places:
      host:                                 # the docker host; every other place is a container, or `kind: netns`
        settings: {ip_forward: false}       # what differs from a host that is in order
        links:
          eth0: {addresses: [192.0.2.1/24]}
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
        routes: [{to: 10.0.0.0/8, dev: eth0, via: 192.0.2.254}]
        nat: ["-A DOCKER -p tcp --dport 9092 -j DNAT --to-destination 172.20.0.2:9092"]
        neighbours: [{address: 172.20.0.2, dev: br-kafka, mac: "02:00:00:00:00:02", state: REACHABLE}]
        fdb: [{mac: "02:00:00:00:00:02", dev: veth1}]
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
        gateway: 172.20.0.1                 # its default route
        listeners: [{port: 9092, address: 0.0.0.0, by: 17}]
        project: shop                       # of compose
        aliases: [broker]                   # on each of its networks
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16, gateway: 172.20.0.1}
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092, proxies: [40], dnat: ["-A DOCKER ..."]}
    brokers:
      - {key: kafka/PLAINTEXT, container: kafka, bind: ["", 9092], bound: [0.0.0.0], published: [...]}
    processes: {40: {comm: docker-proxy, argv: [...]}}

A link with a peer is a veth; a container whose device has an address of a network's subnet is a member of it. A
published port in force has its NAT rule unless `dnat` says otherwise.
"""

import hashlib
import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ruamel.yaml import YAML

from netdiag.engine.container import PROJECT_LABEL, Container, ContainerState, EndpointSettings, EngineNetwork, Status
from netdiag.findings import Finding, TopologyLocation
from netdiag.linux.netns import Netns, NetnsSource
from netdiag.linux.procfs import Process
from netdiag.linux.rtnetlink import (
    IFF_LOOPBACK,
    IFF_LOWER_UP,
    IFF_RUNNING,
    IFF_UP,
    BridgeVlan,
    FdbEntry,
    InterfaceAddress,
    KernelSettings,
    Link,
    Neighbour,
    NextHop,
    Route,
)
from netdiag.linux.ruleset import Chain, FilterRule, Origin, Ruleset, Table
from netdiag.linux.sockets import Listener, Protocol
from netdiag.topology.graph import KafkaListener, Member, NetworkView, Place, PlaceKind, Published, Topology
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts


def route(
    destination: str, gateway: str, ifindex: int | None, *, protocol: int, scope: int = 0, source: str = ""
) -> Route:
    return Route(
        family=6 if ":" in destination else 4,
        destination=destination,
        table=254,
        type="unicast",
        scope=scope,
        protocol=protocol,
        source=source,
        hops=(NextHop(gateway=gateway, ifindex=ifindex),),
    )


def listening(told: Mapping[str, Any]) -> Listener:
    address = told.get("address", "0.0.0.0")
    return Listener(
        protocol=Protocol(told.get("protocol", "tcp")),
        family=6 if ":" in address else 4,
        address=address,
        port=told["port"],
        inode=1,
        pids=(told["by"],) if "by" in told else (),
    )


def ruleset(texts: Any) -> Ruleset:
    """The nat table as `iptables-save` prints it; only the text counts."""
    if not texts:
        return Ruleset()
    chains: dict[str, list[FilterRule]] = {}
    for text in texts:
        rules = chains.setdefault(str(text).split(" ")[1], [])
        rules.append(FilterRule(number=len(rules) + 1, handle=None, expressions=(), text=str(text)))
    made = tuple(Chain(name=name, rules=tuple(rules), type="nat") for name, rules in chains.items())
    return Ruleset(tables=(Table(family="ip", name="nat", origin=Origin.IPTABLES_NFT, chains=made),))


def within(address: str, prefix: str) -> bool:
    return ipaddress.ip_address(address) in ipaddress.ip_network(prefix, strict=False)


HOST = "host"
_GOOD = {"ip_forward": True, "ipv6_forwarding": True, "bridge_nf_call_iptables": True}
_SECTIONS = {"places", "networks", "published", "brokers", "processes", "complete", "userland_proxy"}
_LINK = {"kind", "master", "peer", "parent", "addresses", "mac", "mtu", "up", "carrier", "state", "details", "pvid"}


def container_id(name: str) -> str:
    """The id of the container of that name."""
    return hashlib.sha256(name.encode()).hexdigest()


class Recorded:
    """A topology that a YAML text tells, and the line of everything in it."""

    def __init__(self, text: str) -> None:
        self._document = YAML(typ="rt", pure=True).load(text)
        assert set(self._document) <= _SECTIONS, self._document
        self._places: Any = self._document.get("places", {})
        self._inodes = {name: 100 + number for number, name in enumerate(self._places)}
        self._indexes = {
            name: {device: 2 + number for number, device in enumerate(self._links_of(name))} for name in self._places
        }
        self._ends = dict(self._both_ways())
        self.lines: dict[tuple[str, str], int] = {}
        self._note_lines()
        self.topology = self._topology()

    def line(self, finding: Finding) -> int:
        """The line that a finding is about: that of its part, of its device or of its place."""
        location = finding.location
        assert isinstance(location, TopologyLocation), finding
        keys = [(location.place, part) for part in (location.part or location.device, location.device, "")]
        return next((self.lines[key] for key in keys if key in self.lines), 0) or self._fail(finding)

    def _fail(self, finding: Finding) -> int:
        raise AssertionError(f"no line for {finding.location}")

    def _links_of(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._places[name].get("links") or {}
        return found

    def _at(self, place: str, device: str) -> LinkId:
        return LinkId(netns=self._inodes[place], ifindex=self._indexes[place][device])

    def _both_ways(self) -> Iterator[tuple[LinkId, LinkId]]:
        for name in self._places:
            for device, told in self._links_of(name).items():
                assert set(told) <= _LINK, told
                for word in ("peer", "parent"):
                    if word in told:
                        other = self._at(*str(told[word]).split(" "))
                        yield self._at(name, device), other
                        if word == "peer":
                            yield other, self._at(name, device)

    def _note_lines(self) -> None:
        for name, told in self._places.items():
            self.lines[name, ""] = self._places.lc.key(name)[0] + 1
            links: Any = self._links_of(name)
            for device in links:
                self.lines[name, device] = links.lc.key(device)[0] + 1
            for section, key in (("nat", None), ("routes", "to"), ("neighbours", "address"), ("listeners", "port")):
                entries: Any = told.get(section) or []
                for number, entry in enumerate(entries):
                    self.lines[name, str(entry if key is None else entry[key])] = entries.lc.item(number)[0] + 1
        for section, place in (("published", None), ("brokers", "container")):
            entries = self._document.get(section) or []
            for number, entry in enumerate(entries):
                self.lines[str(entry[place]) if place else HOST, str(entry["key"])] = entries.lc.item(number)[0] + 1
        for section, form in (("processes", "process {}"), ("networks", "network {}")):
            entries = self._document.get(section) or {}
            for name in entries:
                self.lines[HOST, form.format(name)] = entries.lc.key(name)[0] + 1

    def _topology(self) -> Topology:
        document = self._document
        namespaces = {self._inodes[name]: self._facts(name, told) for name, told in self._places.items()}
        processes = {pid: self._process(pid, told) for pid, told in (document.get("processes") or {}).items()}
        inventory = Inventory(
            namespaces=namespaces,
            own=self._inodes.get(HOST, 0),
            root=self._inodes.get(HOST),
            processes=processes,
            complete=document.get("complete", True),
        )
        networks = tuple(self._network(name, told) for name, told in (document.get("networks") or {}).items())
        topology = Topology(
            inventory=inventory,
            places=tuple(self._place(name, told) for name, told in self._places.items()),
            networks=networks,
            published=tuple(self._published(told) for told in document.get("published") or ()),
            listeners=tuple(self._listener(told) for told in document.get("brokers") or ()),
            host=HOST if HOST in self._places else "",
            userland_proxy=document.get("userland_proxy"),
        )
        engine = {name: told for name, told in self._places.items() if name != HOST and told.get("kind") != "netns"}
        containers = {container_id(name): self._container(name, told, networks) for name, told in engine.items()}
        return replace(topology, containers=containers)

    def _place(self, name: str, told: Mapping[str, Any]) -> Place:
        kind = PlaceKind.HOST if name == HOST else PlaceKind(told.get("kind", "container"))
        containers = (container_id(name),) if kind is PlaceKind.CONTAINER else ()
        return Place(netns=self._inodes[name], kind=kind, name=name, label=name, containers=containers)

    def _container(self, name: str, told: Mapping[str, Any], networks: tuple[NetworkView, ...]) -> Container:
        identifier = container_id(name)
        status = Status(told.get("status", "running"))
        return Container(
            id=identifier,
            name=name,
            image="kafka",
            image_id="",
            state=ContainerState(
                status=status,
                pid=1000 + self._inodes[name],
                exit_code=0,
                oom_killed=False,
                error=told.get("error", ""),
            ),
            entrypoint=(),
            command=(),
            environment={},
            labels={PROJECT_LABEL: told["project"]} if "project" in told else {},
            hostname=name,
            domainname="",
            network_mode=told.get("mode", "kafka"),
            extra_hosts=(),
            networks=tuple(
                EndpointSettings(
                    network=view.network.name,
                    network_id=view.network.id,
                    aliases=tuple(told.get("aliases", ())),
                    ipv4_address=member.address,
                    ipv6_address="",
                    gateway="",
                )
                for view in networks
                for member in view.members
                if member.container == identifier
            ),
            ports=(),
            requested_ports=(),
            restart_count=0,
        )

    def _facts(self, name: str, told: Mapping[str, Any]) -> NamespaceFacts:
        inode = self._inodes[name]
        links = tuple(self._link(name, device, each) for device, each in self._links_of(name).items())
        addresses = tuple(
            InterfaceAddress(
                ifindex=self._indexes[name][device],
                address=str(each).partition("/")[0],
                prefix_length=int(str(each).partition("/")[2]),
                scope=0,
            )
            for device, link in self._links_of(name).items()
            for each in link.get("addresses", ())
        )
        loopback = Link(ifindex=1, ifname="lo", type=772, flags=IFF_UP | IFF_LOOPBACK | IFF_LOWER_UP, mtu=65536)
        return NamespaceFacts(
            netns=Netns(inode=inode, process_count=1, sources=(NetnsSource.PROCESS,)),
            links=(loopback, *links),
            addresses=addresses,
            routes=tuple(self._routes(name, told, addresses)),
            neighbours=tuple(self._neighbour(name, each) for each in told.get("neighbours") or ()),
            fdb=tuple(self._fdb(name, each) for each in told.get("fdb") or ()),
            vlans=tuple(
                BridgeVlan(
                    ifindex=self._indexes[name][device], vlan=each["pvid"], vlan_end=each["pvid"], flags=("PVID",)
                )
                for device, each in self._links_of(name).items()
                if "pvid" in each
            ),
            listeners=tuple(listening(each) for each in told.get("listeners") or ()),
            ruleset=ruleset(told.get("nat") or ()),
            settings=KernelSettings(**{**_GOOD, **(told.get("settings") or {})}),
            ends={at.ifindex: end for at, end in self._ends.items() if at.netns == inode},
        )

    def _link(self, name: str, device: str, told: Mapping[str, Any]) -> Link:
        at = self._at(name, device)
        end = self._ends.get(at)
        up, carrier = told.get("up", True), told.get("carrier", True)
        master = told.get("master")
        kind = told.get("kind", "veth" if end is not None and "parent" not in told else "")
        bridged = master is not None and self._links_of(name)[master].get("kind") == "bridge"
        return Link(
            ifindex=at.ifindex,
            ifname=device,
            kind=kind,
            flags=(IFF_UP if up else 0) | (IFF_LOWER_UP | IFF_RUNNING if up and carrier else 0),
            mtu=told.get("mtu", 1500),
            address=told.get("mac", f"02:00:00:00:{at.netns % 256:02x}:{at.ifindex:02x}"),
            operstate="UP" if up and carrier else "DOWN",
            master=None if master is None else self._indexes[name][master],
            link=None if end is None else end.ifindex,
            link_netnsid=None if end is None or end.netns == at.netns else 0,
            details=told.get("details", {}),
            port_kind="bridge" if bridged else "",
            port={"state": told.get("state", "forwarding")} if bridged else {},
        )

    def _routes(self, name: str, told: Mapping[str, Any], addresses: tuple[InterfaceAddress, ...]) -> Iterator[Route]:
        for each in addresses:
            prefix = ipaddress.ip_network(f"{each.address}/{each.prefix_length}", strict=False)
            yield route(str(prefix), "", each.ifindex, protocol=2, scope=253, source=each.address)
        gateway = told.get("gateway")
        if gateway:
            near = [a for a in addresses if within(gateway, f"{a.address}/{a.prefix_length}")]
            yield route("0.0.0.0/0", gateway, near[0].ifindex if near else None, protocol=3)
        for each in told.get("routes") or ():
            yield route(each["to"], each.get("via", ""), self._indexes[name][each["dev"]], protocol=3)

    def _neighbour(self, name: str, told: Mapping[str, Any]) -> Neighbour:
        return Neighbour(
            ifindex=self._indexes[name][told["dev"]],
            address=told["address"],
            lladdr=told["mac"],
            states=(told.get("state", "REACHABLE"),),
        )

    def _fdb(self, name: str, told: Mapping[str, Any]) -> FdbEntry:
        device = told["dev"]
        master = self._links_of(name)[device].get("master")
        return FdbEntry(
            ifindex=self._indexes[name][device],
            lladdr=told["mac"],
            master=None if master is None else self._indexes[name][master],
            state=told.get("state", ""),
        )

    def _network(self, name: str, told: Mapping[str, Any]) -> NetworkView:
        bridge = told.get("bridge")
        network = EngineNetwork(
            id=container_id(f"network {name}"),
            name=name,
            driver=told.get("driver", "bridge"),
            internal=told.get("internal", False),
            subnets=(told["subnet"],),
            gateways=(told["gateway"],) if "gateway" in told else (),
            default_bridge=False,
            bridge_name=bridge or "",
            **({"icc": told["icc"]} if "icc" in told else {}),
        )
        members = [
            self._member(place, device, str(address).partition("/")[0])
            for place in self._places
            if place != HOST
            for device, link in self._links_of(place).items()
            for address in link.get("addresses", ())
            if within(str(address).partition("/")[0], told["subnet"])
        ]
        for place, address in (told.get("members") or {}).items():
            members.append(Member(container=container_id(place), address=address, inside=None, port=None))
        return NetworkView(
            network=network,
            bridge=self._at(HOST, bridge) if bridge is not None and bridge in self._links_of(HOST) else None,
            members=tuple(members),
        )

    def _member(self, place: str, device: str, address: str) -> Member:
        inside = self._at(place, device)
        return Member(container=container_id(place), address=address, inside=inside, port=self._ends.get(inside))

    def _published(self, told: Mapping[str, Any]) -> Published:
        where, _, protocol = told["key"].partition("/")
        host_ip, _, port = where.rpartition(":")
        return Published(
            key=told["key"],
            host_ip=host_ip.strip("[]"),
            published=int(port),
            protocol=protocol,
            container=container_id(told["container"]),
            target=told["target"],
            asked=told.get("asked", True),
            in_force=told.get("in_force", True),
            dnat=tuple(told.get("dnat", ("-A DOCKER ...",) if told.get("in_force", True) else ())),
            proxies=tuple(told.get("proxies", ())),
            to_address=told.get("to", ""),
            pids=tuple(told["pids"]) if "pids" in told else None,
        )

    def _listener(self, told: Mapping[str, Any]) -> KafkaListener:
        host, port = told["bind"]
        return KafkaListener(
            key=told["key"],
            broker=told["container"],
            container=container_id(told["container"]),
            node_id=1,
            listener=told["key"].partition("/")[2],
            security_protocol="PLAINTEXT",
            bind=(host, port),
            advertised=(told["container"], port),
            bound=tuple(told["bound"]) if "bound" in told else None,
            published=tuple(told.get("published", ())),
        )

    def _process(self, pid: int, told: Mapping[str, Any]) -> Process:
        return Process(
            pid=pid,
            comm=told["comm"],
            started=pid,
            netns=self._inodes.get(told.get("place", HOST)),
            argv=tuple(str(word) for word in told.get("argv", ())),
        )
