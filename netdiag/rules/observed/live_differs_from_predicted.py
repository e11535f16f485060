"""An observation differs from the prediction.

Why: Something that the running configuration does not show is in play: a firewall, a hosts file, another process on the
port, or a broker that has not joined yet. If none of these applies, netdiag's model is wrong; please report it.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      cells:
        - {vantage: docker host, bootstrap: "kafka:9092", predicted: "bootstrap: unresolved", observed: ok}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      cells:
        - {vantage: docker host, bootstrap: "kafka:9092", predicted: "bootstrap: unresolved",
           observed: "bootstrap: unresolved"}

Seen: predicted≠observed in a cell of the matrix

Sources: docs/architecture.md, section 3.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Cell
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity

ID = "live-differs-from-predicted"
SEVERITY = Severity.WARNING


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every vantage and kind of difference, with the first address and their number."""
    kinds: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in view.cells:
        if cell.agrees is False:
            kinds.setdefault((cell.vantage, str(cell.predicted), str(cell.observed)), []).append(cell)
    for (vantage, predicted, observed), cells in kinds.items():
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{vantage} → {cells[0].bootstrap}{more}: predicted {predicted}, observed {observed}",
            location=ContainerLocation(container=vantage, part=str(cells[0].bootstrap)),
            why="something that the configuration does not show decides",
            hint="look for a firewall, a hosts file or another process on the port, and check again once all brokers "
            "are up",
        )
