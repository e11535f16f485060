"""Short ways to write findings, verdicts and matrices as literals."""

from collections.abc import Mapping, Sequence

from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    Failed,
    NodeEndpoint,
    Reason,
    Unknown,
    Verdict,
    judge,
)
from netdiag.findings import FileLocation
from netdiag.render.report import Matrix

HOST = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")
LAN = Vantage(kind=VantageKind.LAN, label="LAN machine")
CLIENT = Vantage(kind=VantageKind.CONTAINER, label="container on kafka", networks=("kafka",))


def inside(name: str) -> Vantage:
    """The vantage of a broker's container."""
    return Vantage(kind=VantageKind.BROKER, label=f"inside {name}", member=name)


def address(text: str) -> Address:
    """host:port."""
    host, _, port = text.rpartition(":")
    return Address(host=host.strip("[]"), port=int(port))


def failed(reason: str = "refused", because: str = "nothing listens there") -> Verdict:
    """A verdict whose first hop fails."""
    return judge(Failed(reason=Reason(reason), because=because), lambda endpoint: Unknown(because=""))


def answered(*endpoints: str, node_id: int = 1, listener: str = "EXTERNAL", because: str = "out of reach") -> Verdict:
    """A verdict whose first hop is answered; `NODE host:port outcome`, the outcome `ok`, a reason or a node id.

    The node's own id stands for a broker of another cluster that has the same.
    """
    words = {int(text.split()[0]): text.split()[1:] for text in endpoints}

    def contact(endpoint: NodeEndpoint) -> Answered | Failed | Unknown:
        outcome = words[endpoint.node_id][1]
        if outcome == "ok":
            return Answered(node_id=endpoint.node_id, cluster_id="c")
        if outcome == "unknown":
            return Unknown(because=because)
        if outcome.isdigit():
            cluster = "another" if int(outcome) == endpoint.node_id else "c"
            return Answered(node_id=int(outcome), cluster_id=cluster)
        return Failed(reason=Reason(outcome), because=because)

    nodes = tuple(
        NodeEndpoint(node_id=node, host=address(where).host, port=address(where).port)
        for node, (where, _) in words.items()
    )
    return judge(Answered(node_id=node_id, cluster_id="c", brokers=nodes, listener=listener), contact)


OK = answered("1 localhost:9091 ok")
REFUSED = failed()
UNRESOLVED = failed("unresolved", "nobody knows the name")
SENT_AWAY = answered("1 localhost:9091 refused", because="localhost is the client itself")
PARTIAL = answered("1 localhost:9091 ok", "2 localhost:9092 refused")
UNKNOWN = judge(Unknown(because="an external network is in the way"), lambda endpoint: Unknown(because=""))


def matrix(vantages: Sequence[Vantage], rows: Mapping[str, Sequence[Verdict]], name: str = "compose.yml") -> Matrix:
    """A predicted matrix: for each address the verdict at each vantage."""
    cells = tuple(
        Cell(vantage=vantage.label, bootstrap=address(text), predicted=verdict)
        for text, verdicts in rows.items()
        for vantage, verdict in zip(vantages, verdicts, strict=True)
    )
    return Matrix(input=name, vantages=tuple(vantages), cells=cells)


def five_brokers() -> Matrix:
    """The matrix of the reference cluster, in the small."""
    brokers = [inside(f"broker-{n}") for n in range(1, 6)]
    own = answered("1 localhost:9091 ok", *(f"{n} localhost:909{n} refused" for n in range(2, 6)))
    rows: dict[str, Sequence[Verdict]] = {}
    for n in range(1, 6):
        rows[f"broker-{n}:29092"] = [UNRESOLVED, *[OK] * 5, OK, UNRESOLVED]
    for n in range(1, 6):
        mine = [own if m == n else REFUSED for m in range(1, 6)]
        rows[f"localhost:909{n}"] = [OK, *mine, REFUSED, REFUSED]
    rows["localhost:29092"] = [REFUSED, *[OK] * 5, REFUSED, REFUSED]
    return matrix([HOST, *brokers, CLIENT, LAN], rows)


def place(data: bytes, text: str, path: str = "compose.yml", after: str = "") -> FileLocation:
    """The location of the first occurrence of a text in a file, after another one if need be."""
    start = data.index(text.encode(), data.index(after.encode()))
    end = start + len(text.encode())

    def line_and_column(offset: int) -> tuple[int, int]:
        before = data[:offset].replace(b"\r\n", b"\n").decode().removeprefix("\ufeff")
        return before.count("\n") + 1, len(before) - before.rfind("\n")

    (line, column), (end_line, end_column) = line_and_column(start), line_and_column(end)
    return FileLocation(
        path=path, line=line, column=column, end_line=end_line, end_column=end_column, start=start, end=end
    )
