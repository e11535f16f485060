"""A docker host put together from literals: bridges, containers, published ports, with all that the kernel would say.

A `Machine` is filled by its methods; what it has then is handed to `join` by `topology`. Inodes, indexes and addresses
are given in order, so that the same calls make the same values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network

from netdiag.deployment.model.deployment import Platform
from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.container import Container, ContainerState, EndpointSettings, EngineNetwork, PortBinding, Status
from netdiag.linux.procfs import Process
from netdiag.linux.rtnetlink import IFF_UP, Detail, FdbEntry, KernelSettings, Link, Neighbour
from netdiag.linux.ruleset import Chain, Expression, FilterRule, Origin, Ruleset, Table
from netdiag.linux.sockets import Protocol
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import Inventory
from netdiag.topology.join import join
from tests.topology.namespaces import ROOT, UP, Space

DOCKERD = 800
_BRIDGE: Mapping[str, Detail] = {"stp_state": 0, "vlan_filtering": 0, "vlan_default_pvid": 1, "nf_call_iptables": 0}
_FORWARDING: Mapping[str, Detail] = {
    "state": "forwarding",
    "priority": 32,
    "cost": 2,
    "hairpin": False,
    "isolated": False,
    "learning": True,
}


@dataclass(slots=True, kw_only=True)
class Machine:
    """A docker host that is being filled."""

    userland_proxy: bool = True
    spaces: dict[int, Space] = field(default_factory=dict)
    processes: dict[int, Process] = field(default_factory=dict)
    containers: dict[str, Container] = field(default_factory=dict)
    networks: dict[str, EngineNetwork] = field(default_factory=dict)
    nat: list[str] = field(default_factory=list)
    filter: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        host = self.space()
        host.loopback()
        host.add(
            Link(ifindex=2, ifname="eth0", flags=UP, mtu=1500, address="52:54:00:00:08:85", operstate="UP", qdisc="fq")
        )
        host.address(2, "192.168.8.133", 24)
        host.default_route(2, "192.168.8.1")
        host.neighbours.append(
            Neighbour(ifindex=2, address="192.168.8.1", lladdr="52:54:00:00:08:01", states=("REACHABLE",))
        )
        host.settings = KernelSettings(
            ip_forward=True,
            ipv6_forwarding=False,
            ipv6_disabled=False,
            bridge_nf_call_iptables=True,
            bridge_nf_call_ip6tables=True,
            route_localnet=(("all", 0), ("default", 0)),
            rp_filter=(("all", 0), ("default", 0)),
            local_port_range=(32768, 60999),
        )
        self.process(1, "systemd", host)
        self.process(DOCKERD, "dockerd", host)

    @property
    def host(self) -> Space:
        """The docker host's namespace."""
        return self.spaces[ROOT]

    def space(self, *, names: tuple[str, ...] = (), mounts: tuple[str, ...] = ()) -> Space:
        """A new namespace."""
        inode = ROOT if not self.spaces else 4026532200 + 80 * len(self.spaces)
        self.spaces[inode] = Space(inode=inode, names=names, mounts=mounts)
        return self.spaces[inode]

    def process(self, pid: int, comm: str, space: Space, *, argv: tuple[str, ...] = (), container: str = "") -> None:
        """A process in a namespace."""
        space.pids.append(pid)
        self.processes[pid] = Process(
            pid=pid, comm=comm, started=100 * pid, netns=space.inode, parent=1, argv=argv, container_id=container
        )

    def network(
        self, name: str, subnet: str, *, bridge: str = "", internal: bool = False, default: bool = False
    ) -> str:
        """A bridge network of the engine, with its bridge; its name."""
        number = len(self.networks) + 1
        identifier = f"{number:02x}" * 32
        net = ip_network(subnet)
        gateway = str(net[1])
        self.networks[name] = EngineNetwork(
            id=identifier,
            name=name,
            driver="bridge",
            internal=internal,
            subnets=(subnet,),
            gateways=(gateway,),
            default_bridge=default,
            bridge_name=bridge or f"br-{identifier[:12]}",
        )
        index = self.host.free_index()
        self.host.add(
            Link(
                ifindex=index,
                ifname=self.networks[name].bridge_name,
                kind="bridge",
                flags=IFF_UP,
                mtu=1500,
                address=f"02:42:00:00:00:{number:02x}",
                operstate="DOWN",
                qdisc="noqueue",
                details=dict(_BRIDGE),
            )
        )
        self.host.address(index, gateway, net.prefixlen)
        self.nat.append(f"-A POSTROUTING -s {subnet} ! -o {self.networks[name].bridge_name} -j MASQUERADE")
        return name

    def container(
        self,
        name: str,
        *,
        image: str = "netdiag-lab/client:1",
        networks: Sequence[str] = (),
        service: str = "",
        project: str = "shop",
        comm: str = "java",
        environment: Mapping[str, str] | None = None,
        ports: Sequence[tuple[str, int, int]] = (),
        listens: Sequence[int] = (),
        command: Sequence[str] = ("/etc/kafka/docker/run",),
        status: Status = Status.RUNNING,
    ) -> Container:
        """A container; `ports` are (host address, published, target). What does not run has no namespace."""
        number = len(self.containers) + 1
        identifier = f"{number:04x}" * 16
        pid = 5000 + 10 * number if status is Status.RUNNING else 0
        space = None
        if pid:
            space = self.space(mounts=(f"/run/docker/netns/{identifier[:12]}",))
            space.loopback()
            space.settings = self.host.settings
            self.process(pid, comm, space, container=identifier)
            for port in listens:
                space.listen(port, pids=[pid], address="::")
        endpoints = tuple(self._attach(space, network, name, service, identifier) for network in networks)
        container = Container(
            id=identifier,
            name=name,
            image=image,
            image_id=f"sha256:{number:064x}",
            state=ContainerState(status=status, pid=pid, exit_code=0, oom_killed=False, error=""),
            entrypoint=(),
            command=tuple(command),
            environment=dict(environment or {}),
            labels={"com.docker.compose.project": project, "com.docker.compose.service": service} if service else {},
            hostname=identifier[:12],
            domainname="",
            network_mode=networks[0] if networks else "none",
            extra_hosts=(),
            networks=endpoints,
            ports=tuple(self._in_force(ports, endpoints)) if pid else (),
            requested_ports=tuple(PortBinding(target=t, protocol="tcp", host_ip=ip, published=p) for ip, p, t in ports),
            restart_count=0,
        )
        self.containers[identifier] = container
        if space is not None and endpoints:
            space.listen(36000 + number, pids=[DOCKERD], address="127.0.0.11")
            space.listen(46000 + number, pids=[DOCKERD], address="127.0.0.11", protocol=Protocol.UDP)
        return container

    def inventory(self) -> Inventory:
        """What the kernel of this machine says."""
        self.host.ruleset = Ruleset(
            tables=(
                _table("nat", {"POSTROUTING": ("postrouting", 100), "DOCKER": ("", 0)}, self.nat),
                _table("filter", {"FORWARD": ("forward", 0), "DOCKER": ("", 0)}, self.filter),
            )
        )
        return Inventory(
            namespaces={inode: space.facts() for inode, space in self.spaces.items()},
            own=ROOT,
            root=ROOT,
            processes=dict(self.processes),
            hostname="kafka-host",
            kernel="6.18.44",
        )

    def topology(self) -> Topology:
        """Everything joined."""
        containers, networks = tuple(self.containers.values()), tuple(self.networks.values())
        return join(
            self.inventory(),
            containers=containers,
            networks=networks,
            deployment=from_engine(
                containers,
                networks,
                name="shop",
                host_addresses=("192.168.8.133",),
                platform=Platform(userland_proxy=self.userland_proxy),
            ),
            docker_host=ROOT,
            engine="engine 28.5.2 at unix:///var/run/docker.sock",
            userland_proxy=self.userland_proxy,
        )

    def _attach(self, space: Space | None, network: str, name: str, service: str, identifier: str) -> EndpointSettings:
        known = self.networks[network]
        aliases = (service,) if service else ()
        address = "" if space is None else self._cable(space, known)
        return EndpointSettings(
            network=network,
            network_id=known.id,
            aliases=(name, *aliases, identifier[:12]),
            ipv4_address=address,
            ipv6_address="",
            gateway=known.gateways[0] if space is not None else "",
        )

    def _cable(self, space: Space, network: EngineNetwork) -> str:
        """A veth pair from a namespace to a bridge; the address inside."""
        bridge = next(link for link in self.host.links.values() if link.ifname == network.bridge_name)
        taken = sum(link.master == bridge.ifindex for link in self.host.links.values())
        net = ip_network(network.subnets[0])
        address = str(net[taken + 2])
        inside, outside = space.free_index(), self.host.free_index()
        mac = "02:42:" + ":".join(f"{int(octet):02x}" for octet in address.split("."))
        # As in the kernel: the first reference to another namespace gives it a number.
        number = len(self.host.ends) if inside == 2 else self._number(space)
        at_bridge = self.host.add(
            Link(
                ifindex=outside,
                ifname=f"veth{outside:04x}{space.inode % 4096:03x}",
                kind="veth",
                flags=UP,
                mtu=1500,
                address=f"5e:00:00:00:{outside // 256:02x}:{outside % 256:02x}",
                operstate="UP",
                qdisc="noqueue",
                master=bridge.ifindex,
                link=inside,
                link_netnsid=number,
                port_kind="bridge",
                port=dict(_FORWARDING),
            )
        )
        in_space = space.add(
            Link(
                ifindex=inside,
                ifname=f"eth{inside - 2}",
                kind="veth",
                flags=UP,
                mtu=1500,
                address=mac,
                operstate="UP",
                qdisc="noqueue",
                link=outside,
                link_netnsid=0,
            )
        )
        self.host.ends[outside], space.ends[inside] = in_space, at_bridge
        self.host.fdb.append(FdbEntry(ifindex=outside, lladdr=mac, master=bridge.ifindex, state="reachable"))
        self.host.neighbours.append(
            Neighbour(ifindex=bridge.ifindex, address=address, lladdr=mac, states=("REACHABLE",))
        )
        self._switch_on(bridge)
        space.address(inside, address, net.prefixlen)
        if inside == 2:
            space.default_route(inside, network.gateways[0])
        return address

    def _number(self, space: Space) -> int | None:
        first = space.ends[min(space.ends)]
        return self.host.links[first.ifindex].link_netnsid

    def _switch_on(self, bridge: Link) -> None:
        self.host.links[bridge.ifindex] = Link(
            ifindex=bridge.ifindex,
            ifname=bridge.ifname,
            kind=bridge.kind,
            flags=UP,
            mtu=bridge.mtu,
            address=bridge.address,
            operstate="UP",
            qdisc=bridge.qdisc,
            details=bridge.details,
        )

    def _in_force(
        self, ports: Sequence[tuple[str, int, int]], endpoints: Sequence[EndpointSettings]
    ) -> list[PortBinding]:
        found = []
        for host_ip, published, target in ports:
            address = endpoints[0].ipv4_address
            bridge = self.networks[endpoints[0].network].bridge_name
            leaves_out = f"! -i {bridge} " if self.userland_proxy else ""
            at = f"-d {host_ip}/32 " if host_ip else ""
            match = f"-p tcp -m tcp --dport {published}"
            self.nat.append(f"-A DOCKER {at}{leaves_out}{match} -j DNAT --to-destination {address}:{target}")
            way = f"-d {address}/32 ! -i {bridge} -o {bridge}"
            self.filter.append(f"-A DOCKER {way} -p tcp -m tcp --dport {target} -j ACCEPT")
            for at_ip in (host_ip,) if host_ip else ("0.0.0.0", "::"):
                if at_ip == "::" and not self.userland_proxy:
                    continue
                found.append(PortBinding(target=target, protocol="tcp", host_ip=at_ip, published=published))
                if self.userland_proxy:
                    self._proxy(at_ip, published, address, target)
        return found

    def _proxy(self, host_ip: str, published: int, address: str, target: int) -> None:
        pid = 900 + sum(process.comm == "docker-proxy" for process in self.processes.values())
        listens = ("/usr/bin/docker-proxy", "-proto", "tcp", "-host-ip", host_ip, "-host-port", str(published))
        argv = (*listens, "-container-ip", address, "-container-port", str(target))
        self.process(pid, "docker-proxy", self.host, argv=argv)
        self.host.listen(published, pids=[pid], address=host_ip)


def _table(name: str, chains: Mapping[str, tuple[str, int]], lines: Sequence[str]) -> Table:
    made = []
    for chain, (hook, priority) in chains.items():
        own = [line for line in lines if line.startswith(f"-A {chain} ")]
        rules = tuple(
            # The text only: whoever evaluates rules finds that this one cannot be.
            FilterRule(
                number=number,
                handle=10 + number,
                expressions=(Expression(name="text", understood=False),),
                text=line,
                packets=0,
                bytes=0,
            )
            for number, line in enumerate(own, 1)
        )
        made.append(
            Chain(
                name=chain,
                rules=rules,
                hook=hook,
                type=("nat" if name == "nat" else "filter") if hook else "",
                priority=priority,
                policy="accept" if hook else "",
            )
        )
    return Table(family="ip", name=name, origin=Origin.IPTABLES_NFT, chains=tuple(made))
