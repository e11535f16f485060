"""Which file of the project a broker finds at a path."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.project import Service
from netdiag.compose.values import no_files
from netdiag.deployment.sources.startup import mounted_file

FILES = {
    "conf/server.properties": b"in the folder",
    "one.properties": b"the file",
    "data/config/server.properties": b"x",
}
PATH = "/mnt/shared/config/server.properties"


def service(*volumes: str) -> Service:
    text = "services:\n  a:\n    image: x\n    volumes:\n" + "".join(f"      - {volume}\n" for volume in volumes)
    return load(Source("compose.yml", text + "volumes:\n  named:\n")).services["a"]


@pytest.mark.parametrize(
    ("volumes", "expected"),
    [
        (("./conf:/mnt/shared/config",), b"in the folder"),
        (("./conf/:/mnt/shared/config/:ro",), b"in the folder"),
        (("./one.properties:/mnt/shared/config/server.properties",), b"the file"),
        # the nearer mount stands above the other
        (("./conf:/mnt/shared/config", "./one.properties:/mnt/shared/config/server.properties"), b"the file"),
        (("./data:/mnt/shared",), b"x"),
        # nobody can read these
        (("/etc/kafka:/mnt/shared/config",), None),
        (("../conf:/mnt/shared/config",), None),
        (("named:/mnt/shared/config",), None),
        (("./empty:/mnt/shared/config",), None),
        # and these say nothing of the file
        (("./empty:/mnt/shared",), "absent"),
        (("named:/mnt",), "absent"),
        (("./conf:/mnt/shared/config/other",), "absent"),
        (("./conf:/mnt/shared/config2",), "absent"),
        (("named:/var/lib/kafka",), "absent"),
    ],
)
def test_mounted_files(volumes: tuple[str, ...], expected: object) -> None:
    found = mounted_file(service(*volumes), PATH, FILES.get)
    if expected == "absent":
        assert found is None
    else:
        assert found is not None
        assert (found.source.data if found.source else None) == expected


def test_without_a_reader_everything_is_unread() -> None:
    found = mounted_file(service("./conf:/mnt/shared/config"), PATH, no_files)
    assert found is not None
    assert found.source is None
