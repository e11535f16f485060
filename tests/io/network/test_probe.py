"""Probes of scripted brokers on loopback: every step is told, nobody else is contacted, nothing is left behind."""

import asyncio
import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from netdiag.deployment.model.verdict import Address, Answered, Failed, Reason
from netdiag.deployment.observation.probe import BootstrapReport, ProbeReport, StepKind, next_step
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.network.client_identity import read_client
from netdiag.io.network.probe import Question, probe
from netdiag.linux.netns import NamedNamespace, OwnNamespace
from netdiag.render.probe import probe_document
from tests.cli.shell import process
from tests.io.namespaces import FAR, joined_namespaces
from tests.io.network import hostile
from tests.io.network.authorities import issue
from tests.io.network.hostile import ScriptedBroker, serving
from tests.io.network.secured_servers import PASSWORD, SaslBroker, World, behind_tls, context_for


def ask(*addresses: tuple[str, int], timeout: float = 10) -> ProbeReport:
    bootstraps = tuple(Address(host=host, port=port) for host, port in addresses)
    return probe("host", OwnNamespace(), Question(bootstraps=bootstraps, group="shop", timeout=timeout))


def only(story: ProbeReport) -> BootstrapReport:
    (one,) = story.bootstraps
    return one


def test_the_steps_of_a_conversation_that_goes_well() -> None:
    broker = ScriptedBroker(node_id=7, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(7, "127.0.0.1", port)]
        story = ask(("127.0.0.1", port))
    one = only(story)
    assert story.usable
    assert str(one.verdict) == "ok"
    (attempt,) = one.dialogue.attempts
    assert isinstance(attempt.contact, Answered)
    assert [step.act for step in attempt.steps] == [StepKind.CONNECT, *[StepKind.ASK] * 4]
    assert all(step.well and step.seconds >= 0 for step in attempt.steps)
    assert "Metadata: cluster without ID, controller 7, brokers 7" in attempt.steps[3].said
    assert "broker 7 answers" in attempt.steps[4].said
    assert one.group is not None
    assert one.group.harmless
    assert broker.connections == 1


def test_every_endpoint_is_contacted_once_and_nobody_else_is() -> None:
    first, second, stranger = (ScriptedBroker(node_id=n, brokers=[]) for n in (1, 2, 3))
    with serving(first) as one, serving(second) as two, serving(stranger) as three, serving(hostile.reset) as four:
        first.brokers = [(1, "127.0.0.1", one), (2, "127.0.0.1", two), (3, "127.0.0.1", two), (4, "127.0.0.1", four)]
        first.brokers += [(5, "no..name", 9092), (6, "127.0.0.1", 1)]
        second.brokers = first.brokers
        found = only(ask(("127.0.0.1", one)))
        outcomes = {o.endpoint.node_id: o.outcome for o in found.verdict.endpoints}
        assert outcomes == {1: "ok", 2: "ok", 3: "wrong-broker", 4: "closed", 5: "unresolved", 6: "refused"}
        assert str(found.verdict) == "partial 2/6"
        assert [dialogue.address.port for dialogue in found.endpoints] == [one, two, two, four, 9092, 1]
        assert three
    assert (first.connections, second.connections, stranger.connections) == (1, 1, 0)


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (hostile.immediate_close, Reason.CLOSED),
        (hostile.tls_alert, Reason.TLS),
        (hostile.tls_that_closes, Reason.TLS),
        (hostile.http, Reason.NOT_KAFKA),
        (hostile.garbage, Reason.NOT_KAFKA),
        (hostile.silence, Reason.TIMEOUT),
        (hostile.one_byte_a_second, Reason.TIMEOUT),
        (hostile.two_gigabytes, Reason.NOT_KAFKA),
    ],
)
def test_strangers(behaviour: Callable[..., None], reason: Reason) -> None:
    with serving(behaviour) as port:
        one = only(ask(("127.0.0.1", port), timeout=3))
    assert isinstance(one.dialogue.contact, Failed)
    assert one.dialogue.contact.reason is reason
    assert not one.usable
    last = one.dialogue.attempts[0].steps[-1]
    assert not last.well
    assert last.said.startswith(reason.value)


def test_every_address_of_a_name_is_told() -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(1, "127.0.0.1", port)]
        one = only(ask(("localhost", port)))
    assert one.usable
    assert one.dialogue.resolve.well
    assert one.dialogue.resolve.said.startswith("localhost is 127.0.0.1")
    assert one.dialogue.attempts[0].ip == "127.0.0.1"


def test_several_bootstraps_are_told_in_their_order() -> None:
    brokers = [ScriptedBroker(node_id=n, brokers=[]) for n in (1, 2)]
    with serving(brokers[0]) as one, serving(brokers[1]) as two:
        for broker in brokers:
            broker.brokers = [(1, "127.0.0.1", one), (2, "127.0.0.1", two)]
        story = ask(("127.0.0.1", two), ("127.0.0.1", one), ("127.0.0.1", two), ("127.0.0.1", 1))
    assert [s.dialogue.address.port for s in story.bootstraps] == [two, one, 1]
    assert [s.usable for s in story.bootstraps] == [True, True, False]
    assert not story.usable
    assert [broker.connections for broker in brokers] == [1, 1]


def test_the_deadline_holds_for_all_together() -> None:
    with serving(hostile.silence) as port:
        begin = time.monotonic()
        story = ask(*(("127.0.0.1", port) for _ in range(3)), ("127.0.0.2", port), timeout=1)
        # Not a measure: without a deadline the silent server holds on for thirty seconds.
        assert time.monotonic() - begin < 20
    assert not story.usable


def test_from_inside_another_namespace_and_nothing_is_left_behind() -> None:
    with joined_namespaces() as pair, open_namespace(NamedNamespace(name=pair.far)) as far:
        broker = ScriptedBroker(node_id=1, brokers=[])
        with serving(broker, address=FAR, namespace=far) as port:
            broker.brokers = [(1, FAR, port)]
            question = Question(bootstraps=(Address(host=FAR, port=port),), group="shop")
            near = NamedNamespace(name=pair.near)
            probe("netns", near, question)
            gc.collect()
            before = (len(os.listdir("/proc/self/fd")), netns_threads())
            for _ in range(5):
                assert probe("netns", near, question).usable
            gc.collect()
            assert netns_threads() == before[1] == 0
            assert len(os.listdir("/proc/self/fd")) <= before[0] + broker_side_slack()
        # Not from here: the far network is not ours.
        assert not only(ask((FAR, port), timeout=1)).usable


def netns_threads() -> int:
    return sum(thread.name == "netns" for thread in threading.enumerate())


def broker_side_slack() -> int:
    """The scripted broker lives in this process and may still be closing its ends."""
    return 10


def test_a_probe_can_run_beside_a_loop_of_somebody_else() -> None:
    async def scene() -> ProbeReport:
        return await asyncio.to_thread(ask, ("127.0.0.1", 1))

    assert not asyncio.run(scene()).usable


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(folder=tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def good(world: World) -> Path:
    return world.server(issue("kafka", by=world.root, names=["localhost"], addresses=["127.0.0.1"]))


def ask_with_settings(port: int, properties: Path) -> ProbeReport:
    question = Question(
        bootstraps=(Address(host="127.0.0.1", port=port),),
        group="shop",
        timeout=20.0,
        client=read_client(str(properties)),
    )
    story = probe("host", OwnNamespace(), question)
    assert PASSWORD not in repr(story)
    return story


def entries(story: ProbeReport) -> list[str]:
    steps = [step for attempt in story.bootstraps[0].dialogue.attempts for step in attempt.steps]
    return [step.said for step in steps if step.act is StepKind.ENTER]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_tls_then_the_login_then_the_questions(world: World, good: Path, mechanism: str) -> None:
    ports: list[int] = []
    broker = SaslBroker(mechanisms=(mechanism,), port=lambda: ports[0])
    with serving(behind_tls(context_for(good), broker)) as port:
        ports.append(port)
        story = ask_with_settings(port, world.properties("SASL_SSL", mechanism=mechanism))
    assert story.usable
    assert story.speaks == "SASL_SSL"
    tls, login = entries(story)
    assert tls.startswith("TLSv1.")
    assert tls.endswith("its certificate is trusted for 127.0.0.1")
    assert login == f"logged in with {mechanism}"
    acts = [step.act for step in story.bootstraps[0].dialogue.attempts[0].steps]
    assert acts[:4] == [StepKind.CONNECT, StepKind.ENTER, StepKind.ENTER, StepKind.ASK]


def test_the_coordinator_is_asked_by_the_same_client(world: World, good: Path) -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(behind_tls(context_for(good), broker)) as port:
        broker.brokers = [(1, "127.0.0.1", port)]
        group = ask_with_settings(port, world.properties("SSL")).bootstraps[0].group
    assert group is not None
    assert group.harmless, group


def test_wrong_credentials_are_no_way_in(world: World, good: Path) -> None:
    broker = SaslBroker(mechanisms=("PLAIN",), port=lambda: 1)
    with serving(behind_tls(context_for(good), broker)) as port:
        story = ask_with_settings(port, world.properties("SASL_SSL", mechanism="PLAIN", password="not it"))
    assert str(story.bootstraps[0].verdict) == "sasl"
    last = story.bootstraps[0].dialogue.attempts[0].steps[-1]
    assert (last.act, last.well) == (StepKind.ENTER, False)
    assert len(broker.tokens) == 1
    advice = next_step(story.place, story.bootstraps[0], speaks=story.speaks)
    assert advice is not None
    assert "credentials" in advice
    assert "not it" not in str(probe_document(story))


def test_an_untrusted_certificate_and_plaintext_instead(world: World, good: Path) -> None:
    with serving(behind_tls(context_for(good), ScriptedBroker(node_id=1, brokers=[]))) as port:
        contact = ask_with_settings(port, world.properties("SSL", trust="other.pem")).bootstraps[0].verdict.bootstrap
    assert isinstance(contact, Failed)
    assert contact.reason is Reason.TLS
    assert "certificate" in contact.because
    with serving(ScriptedBroker(node_id=1, brokers=[])) as port:
        plain = ask_with_settings(port, world.properties("SSL")).bootstraps[0].verdict.bootstrap
    assert isinstance(plain, Failed)
    assert plain.reason is Reason.TLS, plain
    assert "TLS" in plain.because


def test_the_command(world: World, good: Path, tmp_path: Path) -> None:
    ports: list[int] = []
    broker = SaslBroker(mechanisms=("PLAIN",), port=lambda: ports[0])
    properties = str(world.properties("SASL_SSL", mechanism="PLAIN"))
    with serving(behind_tls(context_for(good), broker)) as port:
        ports.append(port)
        done = process("probe", f"127.0.0.1:{port}", "--client-properties", properties, cwd=tmp_path)
    assert done.returncode == 0, done
    said = done.stdout.decode()
    assert f"127.0.0.1:{port} from host, in SASL_SSL" in said
    assert "logged in with PLAIN" in said
    assert PASSWORD not in said
    none = process("probe", "127.0.0.1:1", "--client-properties", "nowhere.properties", cwd=tmp_path)
    assert none.returncode not in (0, 1), none
    assert b"nowhere.properties" in none.stderr
