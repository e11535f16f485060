"""Bundles of a stack that is full of secrets: none is in what is saved or said, and elsewhere it leads to the same."""

import base64
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

from tests.cli.shell import environment, process
from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.live.stacks import SCENARIOS

S17 = SCENARIOS / "S17-tls-and-sasl"
PASSWORDS = (b"s17-app", b"s17-truststore", b"s17-keystore")
# Every action that there is, so that whatever any of them sees is saved.
EVERYTHING = """\
playbook: 1
title: All that can be looked at
means: Nothing; it is to see whether something leaks.
symptoms:
  - {who: nobody, line: "a line that nobody writes", example: a line that nobody writes}
steps:
  - {id: files, title: files, action: lint, with: {files: "{files}"}}
  - {id: live, title: live, action: matrix}
  - {id: mesh, title: mesh, action: mesh}
  - {id: machine, title: machine, action: topology}
  - {id: brokers, title: logs, action: log}
  - {id: maker, title: log, action: log, with: {container: CERTIFICATES}}
  - {id: one, title: probe, action: probe, with: {bootstrap: "localhost:9094"}}
  - {id: way, title: trace, action: trace, with: {to: "localhost:9094"}}
conclusions:
  - id: seen
    when: {step: way, of: ends, where: {end: "*"}}
    confidence: possible
    cause: It was looked at.
    repair: None is needed.
"""
# No socket of an engine, no network, no rights: what a colleague's machine has.
ALONE = ("unshare", "--map-root-user", "--net", "--mount", "sh", "-c")
WITHOUT = 'mount -t tmpfs none /run && mount -t tmpfs none /var/run && exec unshare --user -- "$@"'


def key_material(stack: Stack, folder: Path) -> list[bytes]:
    """What the stack's private key looks like in a text or in bytes, in pieces that nothing else has."""
    path = folder / "kafka.p12"
    stack.engine.docker("cp", f"{stack.container('certificates')}:/secrets/kafka.p12", str(path))
    key, _, _ = pkcs12.load_key_and_certificates(path.read_bytes(), b"s17-keystore")
    assert key is not None
    der = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    lines = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).splitlines()[1:-1]
    store = path.read_bytes()
    return [*lines, der[40:72], store[:32], base64.b64encode(store)[:40]]


def found_in(secrets: list[bytes], data: bytes) -> list[bytes]:
    """The secrets that are there."""
    return [secret for secret in secrets if secret in data]


def concluded(document: bytes) -> list[tuple[str, list[str]]]:
    """How each run ended, and with what."""
    return [(run["end"], [one["name"] for one in run["conclusions"]]) for run in json.loads(document)["runs"]]


@pytest.mark.bar("playbooks", long=True)
def test_no_secret_is_in_a_bundle_and_elsewhere_it_leads_to_the_same(lab: Lab, tmp_path: Path, figure: Report) -> None:
    looked = 0
    for kind in ("broken", "repaired"):
        folder = tmp_path / kind
        folder.mkdir()
        file = S17 / f"kraft.{kind}.yml"
        with lab.up(file) as stack:
            secrets = [*PASSWORDS, *key_material(stack, folder)]
            book = EVERYTHING.replace("CERTIFICATES", f"{stack.project}-certificates-1")
            (folder / "everything.yml").write_text(book)
            for name in ("client.properties", "trust.p12"):
                stack.engine.docker("cp", f"{stack.container('certificates')}:/secrets/{name}", str(folder / name))
            live = ["--live", "--host", stack.engine.docker_host, "--file", str(file)]
            live += ["--client-properties", "client.properties", "--timeout", "20"]
            for name in ("everything.yml", "tls-name-not-covered", "sasl-expected"):
                bundle = folder / f"{Path(name).stem}.zip"
                said = {}
                for form in ("json", "text", "markdown", "html"):
                    done = process("playbook", "run", name, *live, "-f", form, "--bundle", bundle, cwd=folder)
                    assert done.returncode in (0, 1, 3), done
                    said[form] = done.stdout
                    assert found_in(secrets, done.stdout + done.stderr) == []
                with zipfile.ZipFile(bundle) as archive:
                    members = {member: archive.read(member) for member in archive.namelist()}
                assert found_in(secrets, bundle.read_bytes() + b"".join(members.values())) == []
                looked += sum(map(len, members.values())) + sum(map(len, said.values()))
                assert concluded(replayed(bundle, folder)) == concluded(said["json"])
    figure("bundles and runs of S17 searched for its secrets", f"{looked:,} bytes, none found")


def replayed(bundle: Path, folder: Path) -> bytes:
    """The bundle judged where there is no engine, no network and nothing that may be looked at."""
    command = [sys.executable, "-m", "netdiag", "playbook", "run", "--replay", str(bundle), "--format", "json"]
    done = subprocess.run(
        [*ALONE, WITHOUT, "sh", *command], cwd=folder, env=environment(), capture_output=True, timeout=120, check=False
    )
    assert done.returncode in (0, 1, 3), done
    assert found_in(list(PASSWORDS), done.stdout + done.stderr) == []
    return done.stdout
