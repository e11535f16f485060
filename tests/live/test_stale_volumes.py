"""Data directories before `up`: what is predicted of a volume or folder is what the real broker does, and prints.

Each stack lives twice. It comes up and goes without its volumes; then its file changes, netdiag reads the file and the
volumes, and the stack comes up again.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from netdiag.app.check import check
from netdiag.app.configuration import CheckOptions, LiveOptions
from netdiag.app.live_check import check_live
from netdiag.app.storage import StorageQuery, read_storage
from netdiag.errors import InputError
from netdiag.io.files.projects import ReadOptions
from netdiag.rules.declared import (
    data_directory_not_writable,
    data_not_kept,
    stale_data_directory,
    zookeeper_data_not_kept,
)
from tests.figures import Report
from tests.lab.image_set import APACHE_3, APACHE_4, CP_KAFKA, CP_ZOOKEEPER
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.live.side_by_side import SideBySide

_ENDS_WITHIN = 120.0
A, B = "5L6g3nShT-eMCtK--X86sw", "MkU3OEVBNTcwNTJENDM2Qg"
DATA = "/var/lib/kafka/data"


def kraft(
    image: str,
    *,
    node: int = 1,
    cluster: str = A,
    mount: str = f"data:{DATA}",
    directory: str = DATA,
    name: str = "kafka",
) -> str:
    """One broker that is its own controller."""
    return f"""
  {name}:
    image: {image}
    volumes: ["{mount}"]
    environment:
      CLUSTER_ID: {cluster}
      KAFKA_NODE_ID: {node}
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: {node}@{name}:9093
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://{name}:9092
      KAFKA_LOG_DIRS: {directory}
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      KAFKA_HEAP_OPTS: -Xmx256m -Xms256m
"""


def with_zookeeper(*, node: int = 1, keeps: bool = True) -> str:
    """One broker and the ZooKeeper that it uses."""
    volumes = 'volumes: ["zookeeper:/var/lib/zookeeper/data", "zookeeper-log:/var/lib/zookeeper/log"]'
    return f"""
  zookeeper:
    image: {CP_ZOOKEEPER}
    {volumes if keeps else ""}
    environment:
      ZOOKEEPER_CLIENT_PORT: 2181
  kafka:
    image: {CP_KAFKA}
    volumes: ["data:{DATA}"]
    environment:
      KAFKA_BROKER_ID: {node}
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ZOOKEEPER_CONNECTION_TIMEOUT_MS: 90000
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      KAFKA_HEAP_OPTS: -Xmx256m -Xms256m
"""


VOLUMES = "volumes: {data: {}, other: {}, zookeeper: {}, zookeeper-log: {}}\n"


def file_of(*services: str) -> str:
    """A compose file."""
    return f"services:{''.join(services)}\n{VOLUMES}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Two lives of one project, and of which brokers of the second one the rule says that they end."""

    name: str
    first: str
    second: str
    ending: tuple[str, ...] = ("kafka",)


IMAGES = {"apache-3.9": APACHE_3, "apache-4": APACHE_4, "cp": CP_KAFKA}
CASES = (
    *(
        Case(name=f"other-cluster-{name}", first=file_of(kraft(image)), second=file_of(kraft(image, cluster=B)))
        for name, image in IMAGES.items()
    ),
    *(
        Case(name=f"other-node-{name}", first=file_of(kraft(image)), second=file_of(kraft(image, node=2)))
        for name, image in IMAGES.items()
    ),
    Case(
        name="volumes-swapped",
        first=file_of(kraft(APACHE_3, name="one"), kraft(APACHE_3, node=2, mount=f"other:{DATA}", name="two")),
        second=file_of(
            kraft(APACHE_3, mount=f"other:{DATA}", name="one"),
            kraft(APACHE_3, node=2, mount=f"data:{DATA}", name="two"),
        ),
        ending=("one", "two"),
    ),
    Case(
        name="mounted-above-the-directory",
        first=file_of(kraft(CP_KAFKA, directory=f"{DATA}/logs")),
        second=file_of(kraft(CP_KAFKA, directory=f"{DATA}/logs", cluster=B)),
    ),
    Case(name="other-id-with-zookeeper", first=file_of(with_zookeeper()), second=file_of(with_zookeeper(node=2))),
    Case(name="kraft-then-zookeeper", first=file_of(kraft(CP_KAFKA)), second=file_of(with_zookeeper())),
)
# What `make test` starts.
QUICK = ("other-cluster-apache-3.9", "kraft-then-zookeeper")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What was said before the second life, what each broker then printed, and what a live check said of it."""

    predicted: dict[str, str]
    notes: tuple[str, ...]
    logs: dict[str, str]
    is_ended: dict[str, bool]
    explained: str


def live_twice(lab: Lab, case: Case, folder: Path) -> Lived:
    """Start, take down without the volumes, change the file, look, start again."""
    file = folder / "compose.yml"
    file.write_text(case.first)
    # Brokers of several clusters do not wait for one another.
    with lab.up(file, wait="ready" if len(case.ending) == 1 else "settled") as stack:
        stack.run_compose("down")
        file.write_text(case.second)
        options = CheckOptions(
            files=(str(file),),
            read=ReadOptions(project_name=stack.project),
            isolated=True,
            volumes=True,
            host=stack.engine.docker_host,
        )
        report = check(options).report
        found = [f for f in report.findings if f.rule == stale_data_directory.ID]
        stack.run_compose("up", "--detach", "--pull", "never")
        deadline = time.monotonic() + _ENDS_WITHIN
        while any(stack.state(name).is_running for name in case.ending) and time.monotonic() < deadline:
            time.sleep(0.3)
        live = LiveOptions(host=stack.engine.docker_host, timeout=1.0)
        crashed = [f for f in check_live(options, live).report.findings if f.rule == "live-config-crash"]
        return Lived(
            predicted={f.service or "": f.broker_prints or "" for f in found},
            notes=(*report.notes, *(str(one.error) for one in report.inputs if one.error)),
            logs={name: stack.logs(name) for name in case.ending},
            is_ended={name: not stack.state(name).is_running for name in case.ending},
            explained=" ".join(f.why for f in crashed),
        )


@pytest.fixture(scope="module")
def lived(lab: Lab, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """What became of a case; those of all chosen tests live some at a time."""
    chosen = [one for one in request.session.items if isinstance(one, pytest.Function) and "lived" in one.fixturenames]
    jobs: SideBySide[Lived] = SideBySide()
    for item in chosen:
        case: Case = item.callspec.params["case"]  # type: ignore[assignment]
        jobs.start(case.name, partial(live_twice, lab, case, tmp_path_factory.mktemp("lives")), is_alone=False)
    yield lambda case: jobs.result(case.name)
    jobs.close()


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=pytest.mark.bar("stale-volumes", long=case.name not in QUICK))
        for case in CASES
    ],
)
def test_the_broker_prints_what_its_volume_foretells(
    lived: Callable[[Case], Lived], case: Case, figure: Report
) -> None:
    found = lived(case)
    assert set(found.predicted) == set(case.ending), found.notes
    for name, sentence in found.predicted.items():
        assert found.is_ended[name], found.logs[name][-2000:]
        assert sentence
        assert sentence in found.logs[name], found.logs[name][-3000:]
    assert found.explained.count(stale_data_directory.ID) == len(case.ending)
    figure(f"{case.name}: sentences found in the log of a real broker", len(case.ending))


def ended(stack: Stack, service: str) -> bool:
    """Whether a service ends before it is late."""
    deadline = time.monotonic() + _ENDS_WITHIN
    while stack.state(service).is_running and time.monotonic() < deadline:
        time.sleep(0.3)
    return not stack.state(service).is_running


@pytest.mark.bar("stale-volumes", long=True)
@pytest.mark.parametrize(
    ("image", "says"),
    [(CP_KAFKA, f"dub path {DATA} writable] FAILED !"), (APACHE_3, "AccessDenied"), (APACHE_4, "AccessDenied")],
    ids=["cp", "apache-3.9", "apache-4"],
)
def test_a_broker_that_may_not_write_ends(lab: Lab, tmp_path: Path, image: str, says: str, figure: Report) -> None:
    file = tmp_path / "compose.yml"
    file.write_text(file_of(kraft(image, mount=f"./folder:{DATA}")))
    options = CheckOptions(files=(str(file),), isolated=True)
    with lab.up(file, wait="none") as stack:
        assert ended(stack, "kafka")
        assert says in stack.logs("kafka"), stack.logs("kafka")[-2000:]
        folder = tmp_path / "folder"
        assert folder.stat().st_uid == 0
        rules = [one.rule for one in check(options).report.findings]
        folder.rmdir()
        assert data_directory_not_writable.ID in rules
        assert data_directory_not_writable.ID in [one.rule for one in check(options).report.findings]
        folder.mkdir()
        os.chown(folder, 1000, 1000)
        assert data_directory_not_writable.ID not in [one.rule for one in check(options).report.findings]
        stack.run_compose("up", "--detach", "--pull", "never", "--force-recreate")
        stack.wait_ready()
    figure(f"brokers of {image} that end because they may not write", 1)


@pytest.mark.bar("stale-volumes", long=True)
def test_a_broker_whose_zookeeper_lost_its_data_ends(lab: Lab, tmp_path: Path, figure: Report) -> None:
    file = tmp_path / "compose.yml"
    file.write_text(file_of(with_zookeeper(keeps=False)))
    found = check(CheckOptions(files=(str(file),), isolated=True)).report.findings
    assert zookeeper_data_not_kept.ID in [one.rule for one in found]
    with lab.up(file) as stack:
        stack.run_compose("down")
        stack.run_compose("up", "--detach", "--pull", "never")
        assert ended(stack, "kafka")
        assert f"Invalid cluster.id in: {DATA}/meta.properties" in stack.logs("kafka")
        figure("brokers that end because ZooKeeper lost the cluster ID", 1)


@pytest.mark.bar("stale-volumes", long=True)
def test_a_broker_whose_zookeeper_keeps_its_data_starts_again(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "compose.yml"
    file.write_text(file_of(with_zookeeper()))
    found = check(CheckOptions(files=(str(file),), isolated=True)).report.findings
    assert zookeeper_data_not_kept.ID not in [one.rule for one in found]
    with lab.up(file) as stack:
        # A broker that is killed stays registered until its session expires.
        stack.run_compose("stop", "kafka")
        stack.run_compose("down")
        stack.run_compose("up", "--detach", "--pull", "never")
        stack.wait_ready()


def identity(stack: Stack) -> str | None:
    """The directory ID that the broker wrote when it formatted what it keeps its data in."""
    deadline = time.monotonic() + _ENDS_WITHIN
    name = f"container:{stack.container('kafka')}"
    while True:
        try:
            (found,) = read_storage(StorageQuery(names=(name,), host=stack.engine.docker_host), reads_logs=False)
            return found.meta.directory_id if found.meta is not None else None
        except InputError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)


@pytest.mark.bar("stale-volumes", long=True)
@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        (kraft(CP_KAFKA, mount="data:/var/lib/kafka"), kraft(CP_KAFKA)),
        (kraft(APACHE_4, mount="data:/var/lib/kafka"), kraft(APACHE_4)),
        (kraft(APACHE_4).replace(f"KAFKA_LOG_DIRS: {DATA}", ""), kraft(APACHE_4)),
    ],
    ids=["cp-above", "apache-above", "apache-without-log-dirs"],
)
def test_data_that_no_mount_holds_are_gone(
    lab: Lab, tmp_path: Path, broken: str, repaired: str, figure: Report
) -> None:
    file = tmp_path / "compose.yml"
    for service, is_kept in ((broken, False), (repaired, True)):
        file.write_text(file_of(service))
        found = check(CheckOptions(files=(str(file),), isolated=True)).report.findings
        assert [one.rule for one in found].count(data_not_kept.ID) == (not is_kept)
        with lab.up(file) as stack:
            query = StorageQuery(names=(f"volume:{stack.project}_data",), host=stack.engine.docker_host)
            first = identity(stack)
            assert first is not None
            if is_kept:
                (one,) = read_storage(query, reads_logs=False)
                assert one.meta is not None
                assert one.meta.directory_id == first
            else:
                with pytest.raises(InputError, match="is not a data directory of a broker"):
                    read_storage(query, reads_logs=False)
            stack.run_compose("down")
            stack.run_compose("up", "--detach", "--pull", "never")
            assert (identity(stack) == first) is is_kept
    figure("brokers that begin anew because no mount holds their data", 1)
