"""The archive of Java's classes: used where it is whole, passed over where it is not, and made only once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.java import java_home
from netdiag.io.spark.class_archive import ASKING, options, place_of
from netdiag.io.spark.warm_up import make, sample_pcap
from tests.native.reading import rows_of_bytes

LIFE = """
from netdiag.io.spark.session import spark_session
with spark_session("local[1]") as spark:
    print(spark.range(3).count())
"""
_SESSION = "org.apache.spark.sql.classic.SparkSession source: "
_MAPPED = "shared objects file (top)"


def origins(cache: Path, logs: Path) -> set[str]:
    """Where Java says that it took the class of sessions from, in a process of its own."""
    told = f"-Xlog:class+load:file={logs}/%p.log"
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(cache),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "JAVA_TOOL_OPTIONS": told,
    }
    done = subprocess.run([sys.executable, "-c", LIFE], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("3\n", "")
    lines = [line for log in logs.glob("*.log") for line in log.read_text().splitlines() if _SESSION in line]
    return {line.partition(_SESSION)[2] for line in lines}


@pytest.fixture(scope="module")
def archive(java: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive in a cache of its own."""
    cache = tmp_path_factory.mktemp("cache")
    old, new = Path(cache, "netdiag", ".classes-old"), Path(cache, "netdiag", "classes-new.1.jsa")
    old.mkdir(parents=True)
    new.touch()
    os.utime(old, (0, 0))
    was_ready, path = made_ahead(cache)
    assert not was_ready
    assert {each.name for each in path.parent.iterdir()} == {path.name, new.name}
    return path


@pytest.mark.bar("spark-classes", long=True)
def test_it_is_made_once_and_used(archive: Path, tmp_path: Path) -> None:
    cache = archive.parent.parent
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    assert made_ahead(cache) == (True, archive)
    assert options(environment, java_home(environment))[0] == f"-XX:SharedArchiveFile={archive}"
    assert origins(cache, tmp_path) == {_MAPPED}


@pytest.mark.bar("spark-classes", long=True)
def test_what_is_damaged_does_no_harm(archive: Path, tmp_path: Path) -> None:
    data = bytearray(archive.read_bytes())
    for begin in (0, 4096, len(data) // 2):
        data[begin : begin + 4096] = os.urandom(4096)
    folder = tmp_path / "netdiag"
    folder.mkdir()
    Path(folder, archive.name).write_bytes(data)
    (origin,) = origins(tmp_path, tmp_path)
    assert origin.startswith("file:")
    # Java dies of one that is cut short, so it is never told of it.
    os.truncate(Path(folder, archive.name), len(data) // 2)
    assert options({**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, java_home(os.environ)) == ()


# A process of its own, as there can be one session only in each.
MAKE = """
from netdiag.io.spark.warm_up import make
from netdiag.io.spark.warm_up import sample_pcap
from tests.native.reading import rows_of_bytes
made = make()
print(made.was_ready, made.path)
"""


def made_ahead(cache: Path) -> tuple[bool, Path]:
    """Whether there was an archive in this cache, and where it lies."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run([sys.executable, "-c", MAKE], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    was_ready, _, path = done.stdout.strip().partition(" ")
    return was_ready == "True", Path(path)


@pytest.mark.usefixtures("java")
def test_names_that_options_cannot_hold(tmp_path: Path) -> None:
    cache = tmp_path / "my cache"
    with pytest.raises(NetdiagError, match="cannot be kept under such a name"):
        make({**os.environ, "XDG_CACHE_HOME": str(cache)})
    assert not cache.exists()


def test_the_archive_of_other_code_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "package_that_asks" / "__init__.py"
    source.parent.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("netdiag.io.spark.class_archive.ASKING", (source.parent.name,))
    places = []
    for code in ("asked = 1\n", "asked = 2\n", "asked = 1\n"):
        source.write_text(code)
        places.append(place_of({}, str(tmp_path)))
    assert places[0] == places[2] != places[1]


def test_all_that_the_sample_asks_is_in_the_name_of_the_archive() -> None:
    asked = {name for name in sys.modules if name.startswith(("netdiag.io.spark.", "netdiag.traffic."))}
    packages = {name for name in asked if hasattr(sys.modules[name], "__path__")}
    assert packages <= set(ASKING)


def test_everything_usual_is_in_the_sample() -> None:
    rows = rows_of_bytes(sample_pcap())
    assert rows["losses"] == []
    (connection,) = rows["connections"]
    assert (connection.opening, connection.ending, connection.client_software) == ("complete", "fin", "netdiag 1")
    assert {row.decoded for row in rows["exchanges"]} == {"full"}
    outcomes = [row.outcome for row in rows["exchanges"]]
    assert outcomes.count("no-response") == 1
    assert outcomes.count("answered") == len(outcomes) - 1 > 10
    assert rows["batches"]
    assert rows["endpoints"]
    assert [row.request_offset for row in rows["partitions"] if row.api_key == 1] == [3, 3]
