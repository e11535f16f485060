"""S17 and S25 as their readers run them: the command, and Java's client, with the client.properties of the scenario."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of, files_beside
from tests.figures import Report
from tests.lab.engine import HOST_ADDRESS
from tests.lab.java_tools import JavaTools
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.lab.vantages import Vantage, docker_host
from tests.live.stacks import SCENARIOS

S17 = SCENARIOS / "S17-tls-and-sasl"
S25 = SCENARIOS / "S25-certificate-without-name"
SECRETS = ("s17-app", "s17-truststore", "s17-keystore")


@pytest.mark.bar("tls-before-up", long=True)
@pytest.mark.parametrize("kind", ["broken", "repaired"])
def test_what_a_key_store_lacks_is_what_javas_client_prints(lab: Lab, kind: str, figure: Report) -> None:
    file = S25 / f"kraft.{kind}.yml"
    command = [sys.executable, "-m", "netdiag", "check-listeners", str(file), "--format", "json", "--exit-zero"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    (why,) = [one["why"] for one in json.loads(done.stdout)["findings"] if one["severity"] == "error"] or [""]
    sentence, others = (why.split('"')[1::2] or ["", ""])[:2]
    with lab.up(file) as stack:
        words = ["--bootstrap-server", "localhost:9093", "--command-config", _client_of_s25(lab)]
        java = JavaTools(lab.client_root, lab.engine.record.run_id)
        try:
            printed = java.call(docker_host(stack).place, "kafka.admin.BrokerApiVersionsCommand", words, 60).text
        finally:
            java.close()
        kcat = _kcat(lab, docker_host(stack))
    assert others in kcat if kind == "broken" else " broker 1" in kcat, kcat
    assert bool(sentence) is (kind == "broken")
    assert sentence in printed, printed[-3000:]
    assert ("(id: 1 rack:" in printed) is (kind == "repaired"), printed[-3000:]
    figure(f"S25 {kind}, Java on the docker host", sentence or "ok")


_CONTROLLER = """
services:
  kafka:
    image: apache/kafka:3.9.1
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:SSL
      KAFKA_SSL_KEYSTORE_TYPE: PEM
      KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.pem
      KAFKA_SSL_TRUSTSTORE_TYPE: PEM
      KAFKA_SSL_TRUSTSTORE_LOCATION: /secrets/authority.pem
      KAFKA_HEAP_OPTS: -Xmx350m
    volumes: ["./secrets:/secrets:ro"]
x-certificates:
  secrets/kafka.pem: {names: [controller.example], by: Authority}
  secrets/authority.pem: {trusts: [Authority]}
"""


@pytest.mark.bar("tls-before-up", long=True)
def test_what_a_controllers_key_store_lacks_is_what_its_node_prints(lab: Lab, tmp_path: Path, figure: Report) -> None:
    (finding,) = (one for one in check_deployment(deployment_of(_CONTROLLER)) if one.rule.startswith("keystore"))
    sentence = finding.why.split('"')[1]
    (tmp_path / "compose.yml").write_text(_CONTROLLER, encoding="utf-8")
    (tmp_path / "secrets").mkdir()
    for name, data in files_beside(_CONTROLLER).items():
        (tmp_path / name).write_bytes(data)
        (tmp_path / name).chmod(0o644)
    tmp_path.chmod(0o755)
    with lab.up(tmp_path / "compose.yml", wait="none") as stack:
        deadline = time.monotonic() + 120
        while sentence not in (log := stack.logs("kafka")) and time.monotonic() < deadline:
            time.sleep(1)
    assert sentence in log, log[-3000:]
    figure("a controller's certificate without the voter's name", sentence)


def _kcat(lab: Lab, vantage: Vantage) -> str:
    """What librdkafka prints that verifies the certificate."""
    words = ["kcat", "-L", "-m", "10", "-b", "localhost:9093", "-X", "security.protocol=SSL"]
    words += ["-X", "ssl.ca.location=/var/tmp/s25/secrets/authority.pem"]
    words += ["-X", "ssl.endpoint.identification.algorithm=https"]
    done = run(vantage.place.argv_in_root(lab.client_root, words), check=False, timeout=60)
    return done.stdout + done.stderr


def _client_of_s25(lab: Lab) -> str:
    """The scenario's client.properties, with the authority's certificate where Java runs."""
    folder = Path(lab.client_root) / "var/tmp/s25"
    shutil.copytree(S25 / "secrets", folder / "secrets", dirs_exist_ok=True)
    text = (S25 / "client.properties").read_text(encoding="utf-8")
    (folder / "client.properties").write_text(text.replace("=secrets/", "=/var/tmp/s25/secrets/"), encoding="utf-8")
    return "/var/tmp/s25/client.properties"


def told(stack: Stack, folder: Path) -> dict[str, Any]:
    """What --live says in JSON with the client of the scenario; neither format shows a secret."""
    made = stack.container("certificates")
    for name in ("client.properties", "trust.p12"):
        stack.engine.docker("cp", f"{made}:/secrets/{name}", str(folder / name))
    command = [sys.executable, "-m", "netdiag", "check-listeners", "--live", "--host", stack.engine.docker_host]
    command += ["--container", stack.container("kafka"), "--client-properties", "client.properties", "--timeout", "20"]
    said = ""
    for form in ("text", "json"):
        done = subprocess.run(
            [*command, "--format", form], cwd=folder, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        assert not [secret for secret in SECRETS if secret in done.stdout + done.stderr]
        said = done.stdout
    value = json.loads(said)
    assert isinstance(value, dict)
    return value


def cell(value: dict[str, Any], bootstrap: str) -> str:
    """The verdict on the docker host."""
    (found,) = (c for c in value["matrix"] if c["vantage"] == "docker host" and c["bootstrap"] == bootstrap)
    return str(found["observed"]["verdict"])


def port(value: dict[str, Any], address: str) -> dict[str, Any]:
    """What one address told about its security."""
    found: dict[str, Any] = next(one for one in value["security"] if one["address"] == address)
    return found


@pytest.mark.bar("tls-sasl", long=True)
def test_broken_and_repaired(lab: Lab, tmp_path: Path, figure: Report) -> None:
    with lab.up(S17 / "kraft.broken.yml") as stack:
        (tmp_path / "broken").mkdir()
        broken = told(stack, tmp_path / "broken")
    with lab.up(S17 / "kraft.repaired.yml") as stack:
        (tmp_path / "repaired").mkdir()
        repaired = told(stack, tmp_path / "repaired")
    assert cell(broken, "localhost:9094") == "tls"
    login = port(broken, "localhost:9094")
    assert (login["spoken"], login["broker"], login["listener"]) == ("SASL_SSL", "kafka", "LOGIN")
    assert login["sasl"]["mechanisms"] == ["SCRAM-SHA-512"]
    assert {fault["fault"] for fault in login["tls"]["faults"]} == {"name not covered"}
    assert "tls-name-not-covered" in {finding["rule"] for finding in broken["findings"]}
    assert cell(repaired, "localhost:9094") == "ok"
    login = port(repaired, "localhost:9094")
    assert (login["sasl"]["mechanism"], login["sasl"]["authenticated"]) == ("PLAIN", True)
    assert login["tls"]["faults"] == []
    assert port(repaired, "localhost:9093")["spoken"] == "SSL"
    # The docker host's address on its LAN is tried as well and is in neither certificate, but nobody is sent there.
    assert port(repaired, f"{HOST_ADDRESS}:9094")["tls"]["faults"] != []
    assert not [finding["why"] for finding in repaired["findings"] if finding["rule"].startswith("tls-")]
    figure("localhost:9094, broken and repaired", f"{cell(broken, 'localhost:9094')} and ok")
