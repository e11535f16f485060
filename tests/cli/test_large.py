"""Files of hundreds of brokers and lists of thousands of entries: time that grows with the size, and bounded output."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from netdiag.cli.main import app
from netdiag.render.report import Report
from tests.app.checks import report_of
from tests.deployment.stacks import five_brokers
from tests.growth import grows_linearly

pytestmark = pytest.mark.slow


def looked_at(folder: Path, count: int) -> tuple[Report, float]:
    """The report on a file of `count` brokers, and the CPU seconds that it took."""
    (head, first, *_) = five_brokers(bind="127.0.0.1").replace("networks:\n  kafka:\n", "").split("  broker-")
    block = "  broker-" + first
    many = "".join(
        block.replace("broker-1", f"broker-{n}").replace("BROKER_ID: 1\n", f"BROKER_ID: {n}\n")
        for n in range(1, count + 1)
    )
    file = folder / "compose.yml"
    file.write_text(head + many + "networks:\n  kafka:\n", encoding="utf-8")
    begin = time.process_time()
    report = report_of(file)
    return report, time.process_time() - begin


def test_a_matrix_that_nobody_could_read_is_left_out(tmp_path: Path) -> None:
    _, fewer = looked_at(tmp_path, 100)
    report, more = looked_at(tmp_path, 400)
    assert more / fewer < 30  # 4 with the number of brokers, 16 with its square, 64 with its cube
    assert len(report.inputs[0].brokers) == 400
    assert sum(f.rule == "listener-bound-to-loopback" for f in report.findings) == 400
    assert report.matrices == ()
    (note,) = report.notes
    assert "too large to read" in note


HEAD = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: EXTERNAL://0.0.0.0:9092
"""
LISTS: dict[str, Callable[[int], str]] = {
    "listeners": lambda n: listed(f"L{i}://h{i}:{9000 + i % 1000}" for i in range(n)),
    "one listener again and again": lambda n: listed("A://h:1" for _ in range(n)),
    "variables with defaults": lambda n: listed(f"A://${{H{i}:-h}}:9092" for i in range(n)),
    "unset variables": lambda n: listed(f"${{H{i}}}" for i in range(n)),
    "expressions that are none": lambda n: f'{HEAD}      X: "{"${ " * n}"\n',
    "expressions that nobody closes": lambda n: f'{HEAD}      X: "{"${A:-" * n}"\n',
    "letters beyond ASCII": lambda n: listed(f"Ä{i}://ü{i}:9092" for i in range(n)),
    "a line of letters beyond ASCII": lambda n: (
        f"services: {{k: {{environment: {{{', '.join(f'Ä{i}: ü' for i in range(n))}}}}}}}"
    ),
    "ports": lambda n: f"{HEAD}    ports: [{', '.join(map(ports_from, range(1000, 1000 + 5 * n, 1000)))}]\n",
    "ports at one number": lambda n: (
        f"{HEAD}    ports: [{', '.join(f'127.0.{i // 250}.{i % 250}:80:80' for i in range(n))}]\n"
    ),
    "comments": lambda n: HEAD + "# netdiag: ignore[all]\n" * (5 * n),
}


def ports_from(first: int) -> str:
    """A range of a thousand ports."""
    return f'"{first}-{first + 999}:1000-1999"'


def listed(entries: Iterable[str]) -> str:
    """A file with a broker that advertises these entries."""
    return f'{HEAD}      KAFKA_ADVERTISED_LISTENERS: "{",".join(entries)}"\n'


def seconds(folder: Path, text: str) -> float:
    """The CPU seconds of the whole command with a format that shows everything."""
    (folder / "compose.yml").write_text(text, encoding="utf-8")
    begin = time.process_time()
    CliRunner().invoke(app, ["check-listeners", "--format", "sarif", str(folder / "compose.yml")])
    return time.process_time() - begin


@pytest.mark.parametrize("name", LISTS)
def test_a_list_four_times_as_long_takes_no_sixteen_times_as_long(tmp_path: Path, name: str) -> None:
    make = LISTS[name]
    seconds(tmp_path, make(10))  # what is imported once
    assert grows_linearly(lambda count: seconds(tmp_path, make(count)), 750, least=0.05)
