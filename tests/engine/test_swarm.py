"""What a manager tells of its swarm, as containers: those of other nodes, and more about its own."""

from typing import Any

from netdiag.deployment.model.deployment import Deployment, Platform
from netdiag.deployment.model.vantage import Vantage, VantageKind, broker_vantage, docker_host
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.observation.recording import Look, from_json, to_json
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.container import Container, parse_container, parse_network
from netdiag.engine.swarm import MOST_TASKS, SwarmView, parse_swarm

_ENVIRONMENT = {
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@tasks.one:9093,2@tasks.two:9093",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093,EXT://:9094",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,EXT:PLAINTEXT",
}
_OWN, _OTHER = "n1", "n2"
_ADDRESSES = {_OWN: "192.168.8.133", _OTHER: "192.168.8.134"}
_OVERLAY = {"Id": "net1", "Name": "shop_ov", "Driver": "overlay", "IPAM": {"Config": [{"Subnet": "10.0.1.0/24"}]}}
_GATEWAY = {"Id": "gw", "Name": "docker_gwbridge", "Driver": "bridge", "IPAM": {"Config": [{"Gateway": "172.18.0.1"}]}}


def _variables(number: int, node: str) -> list[str]:
    own = {
        "KAFKA_NODE_ID": str(number),
        "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://tasks.{{{{.Service.Name}}}}:9092,EXT://{_ADDRESSES[node]}:9094",
    }
    return [f"{name}={value}" for name, value in {**_ENVIRONMENT, **own}.items()]


def _service(name: str, mode: str = "dnsrr", **more: Any) -> dict[str, Any]:
    labels = {"com.docker.stack.namespace": "shop"}
    return {
        "ID": f"s-{name}",
        "Spec": {"Name": f"shop_{name}", "Labels": labels, "EndpointSpec": {"Mode": mode}},
        **more,
    }


def _task(name: str, number: int, node: str, state: str = "running") -> dict[str, Any]:
    port = {"Protocol": "tcp", "TargetPort": 9094, "PublishedPort": 9094, "PublishMode": "host"}
    return {
        "ID": f"t{number}",
        "ServiceID": f"s-{name}",
        "NodeID": node,
        "Slot": 1,
        "Spec": {
            "ContainerSpec": {"Image": "apache/kafka:3.9.1@sha256:0", "Env": _variables(number, node)},
            "Networks": [{"Target": "net1", "Aliases": [name]}],
        },
        "Status": {
            "State": state,
            "ContainerStatus": {"ContainerID": str(number) * 64, "PID": 1},
            "PortStatus": {"Ports": [port, port]},
        },
        "NetworksAttachments": [
            {"Network": {"ID": "net1", "Spec": {"Name": "shop_ov"}}, "Addresses": [f"10.0.1.{number}/24"]}
        ],
    }


_NODES = [
    {"ID": node, "Description": {"Hostname": f"host-{node}"}, "Status": {"Addr": address}}
    for node, address in _ADDRESSES.items()
]


def _view(*, mode: str = "dnsrr") -> SwarmView:
    services = [_service("one", mode), _service("two", mode)]
    tasks = [_task("one", 1, _OWN), _task("two", 2, _OTHER), _task("two", 3, _OTHER, "shutdown")]
    found = parse_swarm(services, tasks, _NODES, _OWN)
    assert found is not None
    return found


def _local() -> Container:
    return parse_container(
        {
            "Id": "1" * 64,
            "Name": "/shop_one.1.t1",
            "State": {"Status": "running", "Pid": 7},
            "Config": {
                "Image": "apache/kafka:3.9.1",
                "Cmd": ["/etc/kafka/docker/run"],
                "Hostname": "1" * 12,
                "Env": [line.replace("{{.Service.Name}}", "shop_one") for line in _variables(1, _OWN)],
                "Labels": {
                    "com.docker.stack.namespace": "shop",
                    "com.docker.swarm.service.name": "shop_one",
                    "com.docker.swarm.task.id": "t1",
                },
            },
            "HostConfig": {"NetworkMode": "default"},
            "NetworkSettings": {
                "Networks": {"shop_ov": {"NetworkID": "net1", "IPAddress": "10.0.1.1"}},
                "Ports": {"9094/tcp": [{"HostIp": "0.0.0.0", "HostPort": "9094"}]},
            },
        }
    )


def _deployment(view: SwarmView | None) -> Deployment:
    containers = (_local(),) if view is None else view.joined([_local()])
    ports = None if view is None else view.ingress_ports
    networks = [parse_network(_OVERLAY), parse_network(_GATEWAY)]
    platform = Platform(ingress_ports=ports)
    return from_engine(containers, networks, host_addresses=(_ADDRESSES[_OWN],), platform=platform)


def _said(deployment: Deployment, vantage: Vantage, host: str, port: int = 9092) -> str:
    (cell,) = predict(deployment, [vantage], [Address(host=host, port=port)])
    return str(cell.predicted)


def test_a_container_of_a_stack_is_called_as_in_its_file() -> None:
    local = _local()
    assert (local.project, local.service, local.is_elsewhere) == ("shop", "one", False)
    assert local.task is not None
    assert local.task.endpoint_mode == ""


def test_a_task_on_another_node_is_a_container_that_runs_there() -> None:
    (other,) = _view().elsewhere
    assert other.name == "shop_two.1.t2"
    assert (other.project, other.service, other.is_elsewhere) == ("shop", "two", True)
    assert other.image == "apache/kafka:3.9.1"
    assert not other.state.has_process, "its process id is another machine's"
    assert other.environment["KAFKA_ADVERTISED_LISTENERS"].startswith("PLAINTEXT://tasks.shop_two:9092")
    assert other.ports == ()
    assert other.task is not None
    assert [port.published for port in other.task.node_ports] == [9094]


def test_brokers_of_both_nodes_are_one_cluster() -> None:
    deployment = _deployment(_view())
    one, two = deployment.brokers
    assert (one.name, two.name) == ("one", "two")
    assert two.member.elsewhere is not None
    assert (two.member.elsewhere.name, two.member.elsewhere.address) == ("host-n2", _ADDRESSES[_OTHER])
    inside = broker_vantage(one)
    for name in ("one", "tasks.one", "shop_two", "tasks.shop_two", "shop_two.1.t2", "2" * 12):
        assert _said(deployment, inside, name) == "ok", name


def test_the_port_of_another_node_is_not_this_hosts() -> None:
    deployment = _deployment(_view())
    lan = Vantage(kind=VantageKind.LAN, label="L")
    for vantage in (docker_host(), lan, broker_vantage(deployment.brokers[0])):
        assert _said(deployment, vantage, _ADDRESSES[_OTHER], 9094) == "ok", vantage
        assert _said(deployment, vantage, _ADDRESSES[_OWN], 9094) == "ok", vantage
        assert _said(deployment, vantage, _ADDRESSES[_OTHER], 9095) == "unknown", vantage
    assert len(deployment.publishers_by_port[9094]) == 1


def test_a_worker_does_not_know_who_else_there_is() -> None:
    deployment = _deployment(None)
    (one,) = deployment.brokers
    for name in ("one", "tasks.shop_one", "two"):
        assert _said(deployment, broker_vantage(one), name) == "unknown", name
    assert _said(deployment, docker_host(), "tasks.shop_one") == "bootstrap: unresolved"
    assert _said(deployment, docker_host(), "localhost", 9095) == "unknown", "it may be a port in ingress mode"


def test_a_virtual_address_is_not_that_of_the_task() -> None:
    (one, _) = _deployment(_view(mode="vip")).brokers
    assert {"one", "shop_one"} <= one.member.virtual_names
    assert not one.member.virtual_names & {"tasks.one", "shop_one.1.t1"}
    assert _deployment(_view()).brokers[0].member.virtual_names == frozenset()


def test_ports_in_ingress_mode_are_told_and_not_guessed() -> None:
    ports = [{"PublishedPort": 9095, "PublishMode": "ingress"}, {"PublishedPort": 9094, "PublishMode": "host"}]
    view = parse_swarm([_service("one", Endpoint={"Ports": ports})], [], _NODES, _OWN)
    assert view is not None
    assert view.ingress_ports == (9095,)
    deployment = _deployment(view)
    assert _said(deployment, docker_host(), "localhost", 9095) == "unknown"
    assert _said(deployment, docker_host(), "localhost", 9096) == "bootstrap: refused"


def test_a_recording_keeps_what_the_swarm_says() -> None:
    containers = _view().joined([_local()])
    look = Look(name="shop", kind="project", containers=containers, platform=Platform(ingress_ports=None))
    (read,) = from_json(to_json((look,)).encode())
    assert [c.task for c in read.containers] == [c.task for c in containers]
    assert [c.project for c in read.containers] == ["shop", "shop"]
    assert read.platform.ingress_ports is None


def test_more_tasks_than_can_be_looked_at_are_not_told() -> None:
    tasks = [_task("one", number, _OTHER) for number in range(MOST_TASKS + 1)]
    assert parse_swarm([_service("one")], tasks, _NODES, _OWN) is None


def test_documents_of_another_shape_are_no_tasks() -> None:
    for odd in (None, [], "x", {"a": 1}, [None, 7, "x", {"Status": "running"}], [{"Status": {"State": "running"}}]):
        view = parse_swarm(odd, odd, odd, _OWN)
        assert view is not None
        assert view.elsewhere == ()
    broken = _task("one", 1, _OTHER) | {"NetworksAttachments": [None, {}, {"Network": 7}], "Slot": "x", "Spec": []}
    view = parse_swarm([_service("one")], [broken], [], _OWN)
    assert view is not None
    (bare,) = view.elsewhere
    assert (bare.name, bare.networks, bare.environment) == ("shop_one.n2.t1", (), {})
