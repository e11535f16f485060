"""Probes by a client with settings against brokers on loopback: how it enters is told, its secrets are not."""

from pathlib import Path

import pytest

from netdiag.deployment.model.contact import Address, Failed, Reason
from netdiag.deployment.observation.probe import ProbeReport, StepKind, next_step
from netdiag.io.client_identity import read_client
from netdiag.io.probing import Question, probe
from netdiag.linux.netns import OwnNamespace
from netdiag.render.probe import probe_document
from tests.cli.shell import process
from tests.io.authorities import issue
from tests.io.hostile import ScriptedBroker, serving
from tests.io.secured_servers import PASSWORD, SaslBroker, behind_tls, context_for
from tests.io.secured_world import World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(folder=tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def good(world: World) -> Path:
    return world.server(issue("kafka", by=world.root, names=["localhost"], addresses=["127.0.0.1"]))


def ask(port: int, properties: Path) -> ProbeReport:
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
        story = ask(port, world.properties("SASL_SSL", mechanism=mechanism))
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
        group = ask(port, world.properties("SSL")).bootstraps[0].group
    assert group is not None
    assert group.harmless, group


def test_wrong_credentials_are_no_way_in(world: World, good: Path) -> None:
    broker = SaslBroker(mechanisms=("PLAIN",), port=lambda: 1)
    with serving(behind_tls(context_for(good), broker)) as port:
        story = ask(port, world.properties("SASL_SSL", mechanism="PLAIN", password="not it"))
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
        contact = ask(port, world.properties("SSL", trust="other.pem")).bootstraps[0].verdict.bootstrap
    assert isinstance(contact, Failed)
    assert contact.reason is Reason.TLS
    assert "certificate" in contact.because
    with serving(ScriptedBroker(node_id=1, brokers=[])) as port:
        plain = ask(port, world.properties("SSL")).bootstraps[0].verdict.bootstrap
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
