"""Making the archive of Java's classes; that it is of use is seen in test_class_archive."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.spark.class_making import make
from netdiag.io.spark.sample_capture import sample_pcap
from tests.native.reading import rows_of_bytes

# A process of its own, as there can be one session only in each.
MAKE = """
from netdiag.io.spark.class_making import make
from netdiag.io.spark.sample_capture import sample_pcap
from tests.native.reading import rows_of_bytes
made = make()
print(made.was_ready, made.path)
"""


def made_ahead(cache: Path | None = None) -> tuple[bool, Path]:
    """Whether there was an archive, and where it lies; in the cache of whoever runs the tests, or another one."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
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
