"""A machine and its engine looked at together, and every way in which there may be no engine to look at."""

import contextlib
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import netdiag.io.topology
from netdiag.errors import EngineError, InputError, MissingExtra
from netdiag.io.engine.same_kernel import SameKernel
from netdiag.io.topology import read_topology
from netdiag.linux.procfs import Process
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import Inventory, LinkId
from tests.engine.test_documents import BROKER
from tests.io.engine.fake_engine import VERSION, fake_engine
from tests.io.namespaces import needs_root
from tests.topology.five_brokers import machine

OWN = os.stat("/proc/self/ns/net").st_ino


def answers(*, pid: int = 1, **state: object) -> dict[str, Any]:
    document = BROKER | {"State": BROKER["State"] | {"Pid": pid} | state}
    identifier = BROKER["Id"]
    return {
        "/version": VERSION,
        "/containers/json": [{"Id": identifier}],
        f"/containers/{identifier}/json": document,
        "/networks": [{"Name": "held_kafka", "Id": "n1", "Driver": "bridge"}],
    }


def looked(tmp_path: Path, documents: Mapping[str, object], **how: Any) -> Topology:
    with fake_engine(tmp_path / "s", documents) as url:
        return read_topology(environment={"DOCKER_HOST": url}, home=tmp_path, **how)


def here() -> Inventory:
    """A machine whose only namespace is the one that this process is really in."""
    made = machine().inventory()
    host = made.namespaces[made.own]
    return replace(
        made, namespaces={OWN: replace(host, netns=replace(host.netns, inode=OWN))}, own=OWN, root=OWN, processes={}
    )


def test_no_engine_was_asked(tmp_path: Path) -> None:
    topology = read_topology(engine=False, environment={"DOCKER_HOST": "nonsense://"}, home=tmp_path, inventory=here())
    assert (topology.engine, topology.host, topology.containers) == ("no engine was asked", "", {})
    assert [place.name for place in topology.places] == ["host"]


def test_a_machine_without_an_engine_is_normal(tmp_path: Path) -> None:
    where = f"unix://{tmp_path}/none"
    topology = read_topology(environment={"DOCKER_HOST": where}, home=tmp_path, inventory=here())
    assert topology.engine == f"no engine: {where}: no engine answers there: No such file or directory"
    assert topology.host == ""
    assert [place.name for place in topology.places] == ["host"]


def test_an_engine_that_was_named_must_answer(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no engine answers there"):
        read_topology(host=f"unix://{tmp_path}/none", environment={}, home=tmp_path, inventory=here())


def test_a_way_to_an_engine_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a known scheme"):
        read_topology(environment={"DOCKER_HOST": "gopher://x"}, home=tmp_path, inventory=here())


def test_an_engine_by_tcp_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
        topology = read_topology(environment={"DOCKER_HOST": url}, home=tmp_path, inventory=here())
    assert topology.engine.startswith(f"no engine: {url}: no engine answers there")
    assert topology.places


def test_an_engine_by_tcp_without_the_library_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "netdiag.io.engine.docker_sdk", None)
    how: dict[str, Any] = {"environment": {"DOCKER_HOST": "tcp://127.0.0.1:1"}, "home": tmp_path, "inventory": here()}
    assert "reached by no unix socket needs docker" in read_topology(**how).engine
    with pytest.raises(MissingExtra):
        read_topology(host="tcp://127.0.0.1:1", **how)


def test_an_engine_that_hangs_is_left_out(tmp_path: Path) -> None:
    topology = looked(tmp_path, {**answers(), "/networks": None}, timeout=0.5, inventory=here())
    assert "does not answer in time" in topology.engine
    assert topology.containers == {}
    assert topology.places


def test_an_engine_on_another_machine_is_not_joined_with_this_kernel(tmp_path: Path) -> None:
    """Process 1 is there, as everywhere, and is not the container's."""
    topology = looked(tmp_path, answers(), inventory=here())
    assert "only what its API tells: the engine runs on another machine" in topology.engine
    assert topology.engine.startswith("engine 20.10.24 at unix://")
    assert (topology.places, topology.host) == ((), "")
    assert [unread.what for unread in topology.inventory.unread] == ["the kernel of the docker host"]
    assert not topology.inventory.complete
    assert [view.bridge for view in topology.networks] == [None]
    assert {port.key for port in topology.published} >= {"0.0.0.0:9091/tcp"}
    assert topology.deployment is not None
    assert [broker.name for broker in topology.deployment.brokers] == ["broker-1"]
    assert topology.unmatched == ()


def test_an_engine_of_which_nothing_proves_that_it_is_here(tmp_path: Path) -> None:
    """No container runs, and the process behind the socket, this one, is called like no engine."""
    topology = looked(tmp_path, answers(pid=0, Status="exited"), inventory=here())
    assert "nothing proves that the engine runs on this machine" in topology.engine


@contextlib.contextmanager
def called(name: str) -> Iterator[None]:
    """This process under the name of another program, which is how an engine is known."""
    comm = Path("/proc/self/comm")
    before = comm.read_text().removesuffix("\n")
    comm.write_text(name)
    try:
        yield
    finally:
        comm.write_text(before)


DOCKER0 = {
    "Name": "bridge",
    "Id": "b0" * 32,
    "Driver": "bridge",
    "Options": {"com.docker.network.bridge.default_bridge": "true", "com.docker.network.bridge.name": "docker0"},
}


def test_an_engine_on_this_kernel(tmp_path: Path) -> None:
    """Nothing runs on it; the process behind its socket, this one, is in the docker host's namespace."""
    documents = {**answers(pid=0, Status="exited"), "/networks": [DOCKER0]}
    with called("dockerd"):
        topology = looked(tmp_path, documents, inventory=here())
    assert topology.engine.startswith("engine 20.10.24 at unix://")
    assert (topology.host, topology.userland_proxy) == ("host", None)
    (view,) = topology.networks
    assert view.bridge == LinkId(netns=OWN, ifindex=3)
    assert topology.deployment is not None
    assert topology.deployment.host_addresses == ("192.168.8.133", "172.18.0.1", "172.19.0.1")
    assert {(port.asked, port.in_force) for port in topology.published} >= {(True, False)}


class Changing(dict[str, object]):
    """The networks of an engine where one goes away after the first question."""

    def get(self, key: str, default: object = None) -> object:
        """The document at a path."""
        found = super().get(key, default)
        if key == "/networks" and isinstance(found, list):
            self[key] = [DOCKER0]
        return found


def test_what_has_changed_meanwhile_is_looked_at_once_more(tmp_path: Path) -> None:
    gone = {"Name": "gone", "Id": "ee" * 32, "Driver": "bridge"}
    documents = {**answers(pid=0, Status="exited"), "/networks": [DOCKER0, gone]}
    with called("dockerd"):
        steady = looked(tmp_path, documents, inventory=here())
    assert "network gone" in {one.subject for one in steady.unmatched}
    (tmp_path / "s").unlink()
    with called("dockerd"):
        topology = looked(tmp_path, Changing(documents), inventory=here())
    assert [view.network.name for view in topology.networks] == ["bridge"]
    assert "network gone" not in {one.subject for one in topology.unmatched}


def test_an_engine_whose_namespace_is_known_by_its_process(tmp_path: Path) -> None:
    """The inventory says where the engine's process is: not where this one is."""
    lan = next(inode for inode, facts in machine().inventory().namespaces.items() if "lan" in facts.netns.names)
    made = machine().inventory()
    engine = Process(pid=os.getpid(), comm="dockerd", started=1, netns=lan)
    inventory = replace(made, processes={os.getpid(): engine})
    with called("dockerd"):
        topology = looked(tmp_path, {**answers(pid=0, Status="exited"), "/networks": []}, inventory=inventory)
    place = topology.named("host")
    assert place is not None
    assert place.netns == lan


def test_an_engine_on_this_kernel_whose_namespace_nobody_can_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(netdiag.io.topology, "locate", lambda *_: SameKernel(docker_host=None))
    topology = looked(tmp_path, answers(), inventory=here())
    assert "netdiag cannot tell the network namespace of its docker host from here" in topology.engine
    assert (topology.host, [place.name for place in topology.places]) == ("", ["host"])
    assert all(not place.containers for place in topology.places)


def test_a_project(tmp_path: Path) -> None:
    topology = looked(tmp_path, answers(), project="held", inventory=here())
    assert topology.deployment is not None
    assert topology.deployment.name == "held"
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InputError, match="no container of this compose project"):
        looked(other, answers(), project="shop", inventory=here())


def test_this_machine(tmp_path: Path) -> None:
    """What the kernel of whoever runs the tests has, whatever it is."""
    topology = read_topology(environment={"DOCKER_HOST": f"unix://{tmp_path}/none"}, home=tmp_path)
    assert OWN in {place.netns for place in topology.places}
    assert {place.netns for place in topology.places} == set(topology.inventory.namespaces)


def test_without_rights_it_is_partial(tmp_path: Path) -> None:
    """Nobody's process, that may not even knock at the engine: its own namespace, and no traceback."""
    needs_root()
    with fake_engine(tmp_path / "s", answers()) as url:
        os.chmod(tmp_path / "s", 0o600)
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            status = 1
            try:
                topology = read_topology(environment={"DOCKER_HOST": url}, home=tmp_path)
                own = topology.inventory.namespaces[topology.inventory.own]
                said = ["permission denied" in topology.engine, not topology.inventory.complete]
                said += [own.entered, bool(own.links), topology.host == ""]
                status = 0 if all(said) else 2 + said.index(False)
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended) == 0
