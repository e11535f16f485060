"""A capture inside a real container and on its docker host at once, of ports that the engine tells."""

import subprocess
import sys
import time
from pathlib import Path

from tests.cli.shell import NETDIAG, environment
from tests.io.packets.traffic import fields
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.live.stacks import SCENARIOS

ASK = """
from confluent_kafka.admin import AdminClient
print(AdminClient({"bootstrap.servers": "localhost:9092"}).list_topics(timeout=20).brokers)
"""


def test_the_same_conversation_in_the_container_and_on_its_host(lab: Lab, tmp_path: Path) -> None:
    with lab.up(SCENARIOS / "S07-single-listener-container-name" / "kraft.repaired.yml") as stack:
        host = stack.engine.record.host_netns
        places = ("--from", "container:kafka", "--from", f"netns:{host}")
        command = [*NETDIAG, "capture", "--host", stack.engine.docker_host, *places, "-o", "x.pcapng"]
        with subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            first = process.stderr.readline()
            assert first.startswith("netdiag: capturing TCP 9092")
            assert f"from kafka, {host}" in first
            process.stderr.readline()
            time.sleep(0.5)
            run(["nsenter", f"--net=/run/netns/{host}", sys.executable, "-c", ASK])
            time.sleep(0.5)
            process.terminate()
            said = process.communicate(timeout=30)[1]
        assert process.returncode == 0, said
        assert ", 0 lost" in said
    rows = fields(tmp_path / "x.pcapng", "frame.interface_name", "tcp.port", "frame.time_epoch")
    inside = [row for row in rows if row[0] == "kafka:eth0"]
    outside = [row for row in rows if row[0].startswith(f"{host}:")]
    assert inside
    assert outside
    assert all("9092" in row[1] for row in inside)
    assert [row[2] for row in rows] == sorted(row[2] for row in rows)
    # The published port is served by the host, the container's by the container: both belong to the same talk.
    assert len(outside) >= len(inside)
