"""A report with one of everything, as a literal."""

from dataclasses import replace

from netdiag.deployment.model.verdict import Cell
from netdiag.findings import ContainerLocation, Edit, Finding, Overlooked, Related, Severity, Suppressed
from netdiag.render.report import Input, Matrix, Problem, Report, Skipped
from tests.render.literals import HOST, OK, REFUSED, UNKNOWN, address, five_brokers, inside, place

COMPOSE = b"""services:
  broker-1:
    image: apache/kafka:3.9.1
    ports: ["9091:9091"]
    environment:
      KAFKA_LISTENERS: INTERNAL://127.0.0.1:29092,EXTERNAL://0.0.0.0:9091
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://broker-1:29092,EXTERNAL://localhost:9091
  broker-2:
    image: apache/kafka:3.9.1
    environment:
      KAFKA_LISTENERS: INTERNAL://127.0.0.1:29092,EXTERNAL://0.0.0.0:9092
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://broker-2:29092,EXTERNAL://localhost:9092
"""
OTHER = b"# a different file\nKAFKA_NODE_ID=2\n"


def loopback(broker: str) -> Finding:
    """The finding about the INTERNAL listener of a broker of COMPOSE."""
    where = place(COMPOSE, "127.0.0.1", after=f"  {broker}:")
    return Finding(
        rule="listener-bound-to-loopback",
        severity=Severity.ERROR,
        message=f"INTERNAL of {broker} is bound to 127.0.0.1: the other brokers cannot reach it",
        location=where,
        why="loopback inside a container is that container alone",
        hint="bind every address: INTERNAL://0.0.0.0:29092",
        related=(Related(location=place(COMPOSE, f"{broker}:29092"), message="where others are sent"),),
        service=broker,
        listener="INTERNAL",
        edits=(Edit(path="compose.yml", start=where.start, end=where.end, replacement="0.0.0.0"),),
    )


FOREIGN = Finding(
    rule="port-owner-differs",
    severity=Severity.WARNING,
    message="two brokers want port 9091",
    location=place(COMPOSE, '"9091:9091"'),
    related=(
        Related(location=place(OTHER, "2", "other.env"), message="the other broker"),
        Related(location=ContainerLocation(container="kafka-9", part="EXTERNAL"), message="holds it already"),
    ),
    broker_prints="Configured end points localhost:9091 in use",
)
RUNNING = Finding(
    rule="broker-not-running",
    severity=Severity.NOTE,
    message="restarts again and again",
    location=ContainerLocation(container="kafka-9"),
    service="kafka-9",
)
EVERYTHING = Report(
    inputs=(
        Input(name="compose.yml", brokers=("broker-1", "broker-2"), also_read=("other.env",)),
        Input(name="web.yml"),
        Input(name="gone.yml", error=Problem(message="no such file or directory", where="gone.yml", hint="check it")),
    ),
    findings=(RUNNING, FOREIGN, loopback("broker-2"), loopback("broker-1")),
    matrices=(
        five_brokers(),
        Matrix(
            input="engine",
            vantages=(HOST, inside("kafka-9")),
            cells=(
                Cell(vantage=HOST.label, bootstrap=address("localhost:9092"), predicted=OK, observed=REFUSED),
                Cell(vantage=HOST.label, bootstrap=address("kafka-9:9092"), predicted=REFUSED, observed=REFUSED),
                Cell(vantage="inside kafka-9", bootstrap=address("localhost:9092"), predicted=OK),
                Cell(vantage="inside kafka-9", bootstrap=address("kafka-9:9092"), predicted=UNKNOWN, observed=OK),
            ),
            not_running={"kafka-7": "exited (1): Socket server failed to bind to 1.2.3.4:9092"},
        ),
    ),
    skipped=(
        Skipped(
            vantage="inside kafka-9",
            reason="entering its network namespace takes CAP_SYS_ADMIN",
            command="sudo netdiag check-listeners --live",
        ),
    ),
    notes=("inside kafka-9: cannot read /etc/hosts: no such file",),
    sources={"compose.yml": COMPOSE, "other.env": OTHER},
)

# What somebody may write into a file, a name or a log to be taken for something else.
HOSTILE = (
    "\x1b[2J\x1b]8;;http://evil\x07",
    "\u202eevil",
    "\x00\x0b\x0c\x7f\x85\u2028",
    "\r\n::error::evil",
    "%0A::error::evil, file=a:b",
    "]]> <script>alert(1)</script> &amp; </failure>",
    "a | b\n| c | `d` ``` </details> **e** [f](http://evil) <!-- --> @team #1 http://evil www.evil.com",
    "\ud800 \udcff \ufffe \uffff \U0001f600 日本",
    "'\"\\{0}",
)


def hostile(text: str) -> Report:
    """A report whose one finding holds the text wherever there is foreign text."""
    finding = replace(
        loopback("broker-1"),
        message=f"says {text}",
        why=text,
        hint=text,
        service=text,
        listener=text,
        location=place(COMPOSE, "127.0.0.1", f"a{text}.yml"),
        related=(Related(location=ContainerLocation(container=text, part=text), message=text),),
        broker_prints=text,
    )
    return Report(
        findings=(finding,),
        suppressed=(Suppressed(finding=RUNNING, by=Overlooked.COMMENT, reason=text),),
        notes=(text,),
        skipped=(Skipped(vantage=text, reason=text, command=text),),
    )


def _secret() -> Report:
    text = 'bad password="hunter2"'
    finding = replace(RUNNING, message=text, why=text, hint=text, broker_prints=text)
    finding = replace(finding, related=tuple(Related(location=at.location, message=text) for at in (RUNNING, FOREIGN)))
    problem = Problem(message=text, hint=text)
    return Report(
        inputs=(Input(name="x", error=problem),),
        findings=(finding,),
        suppressed=(Suppressed(finding=finding, by=Overlooked.COMMENT, reason=text),),
        notes=(text,),
    )


SECRET = _secret()
