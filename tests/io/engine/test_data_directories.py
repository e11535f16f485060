"""Data directories in containers and volumes: the engine's own folder, or a copy out of its archive."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

from netdiag.app.storage import StorageQuery, read_storage
from netdiag.errors import InputError
from netdiag.io.engine.data_directories import opened, volume_files
from netdiag.kafka.storage import MetaProperties
from tests.engine.test_documents import BROKER
from tests.io.engine.fake_engine import VERSION, fake_engine

ID = BROKER["Id"]
NAME = "held-broker-1-1"
META = "version=1\ncluster.id=5L6g3nShT-eMCtK--X86sw\nnode.id=1\n"


def archive(members: Mapping[str, str | None], **links: str) -> bytes:
    """An engine's answer with these files; None is a folder, links are soft links."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            data = (content or "").encode()
            member.size = len(data)
            member.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            tar.addfile(member, io.BytesIO(data))
        # A file that is larger than its bytes: it could be a terabyte.
        sparse = tarfile.TarInfo("data/orders-0/00000000000000000009.log")
        sparse.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(10**6)}
        tar.addfile(sparse)
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    body = packed.getvalue()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def answers(files: Mapping[str, bytes], mounts: list[dict[str, str]] | None = None) -> dict[str, object]:
    """An engine with one stopped container that has these paths."""
    document = {**BROKER, "Mounts": mounts or [], "State": {"Status": "exited", "Pid": 0}}
    return {
        "/version": VERSION,
        "/containers/json": [{"Id": ID}],
        f"/containers/{ID}/json": document,
        f"/containers/{ID}/archive": 404,
        **{f"/containers/{ID}/archive?path={quote(path, safe='')}": answer for path, answer in files.items()},
    }


def test_a_copy_of_a_container_s_directory(tmp_path: Path) -> None:
    members = {
        "data": None,
        "data/orders-0": None,
        "data/orders-0/00000000000000000000.log": "",
        "data/orders-1": None,
        "data/meta.properties": META,
        "data/../../escaped": "x",
        "/data/absolute": "x",
        "data/a/b/deep": "x",
    }
    given = answers({"/data": archive(members, **{"data/orders-2": "/etc"})})
    with fake_engine(tmp_path / "s", given) as url:
        (found,) = read_storage(StorageQuery(names=(f"container:{NAME}:/data",), host=url), reads_logs=False)
        assert isinstance(found.meta, MetaProperties)
        assert (found.path, found.meta.node_id, found.is_cut) == (f"container:{NAME}:/data", 1, False)
        assert [one.folder for one in found.partitions] == ["orders-0", "orders-1"]
        assert [segment.offset for segment in found.partitions[0].segments] == [0]
    assert not list(tmp_path.parent.glob("escaped"))


def test_what_tells_whose_it_is_comes_first_where_a_copy_is_cut(tmp_path: Path) -> None:
    large = archive({"data": None, "data/a-0": None, "data/a-0/00000000000000000000.log": "x" * 100_000})
    given = answers({"/data": large, "/data/meta.properties": archive({"meta.properties": META})})
    with (
        fake_engine(tmp_path / "s", given) as url,
        opened(f"container:{ID[:12]}:/data", url, most_bytes=50_000) as directory,
    ):
        assert directory.is_cut
        assert (Path(directory.path) / "meta.properties").read_text() == META


def test_a_volume_through_a_container_that_mounts_it(tmp_path: Path) -> None:
    mounts = [{"Type": "volume", "Name": "kafka", "Source": "/nonexistent/_data", "Destination": "/data"}]
    given = answers({"/data": archive({"data": None, "data/meta.properties": META})}, mounts)
    given["/volumes/kafka"] = {"Name": "kafka", "Mountpoint": "/nonexistent/_data"}
    with fake_engine(tmp_path / "s", given) as url, opened("volume:kafka", url) as directory:
        assert (Path(directory.path) / "meta.properties").read_text() == META


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("container:other:/data", "no container has this name"),
        ("container:", "no container has this name"),
        (f"container:{NAME}:/none", f"container {NAME} has no directory /none"),
        ("volume:other", "no volume has this name"),
        ("volume:../events", "no volume has this name"),
        ("volume:", "no volume has this name"),
        ("volume:alone", "netdiag cannot read the volume, and no container mounts it"),
    ],
)
def test_what_is_not_there_is_one_line(tmp_path: Path, name: str, says: str) -> None:
    kept = {"Name": "alone", "Mountpoint": "/nonexistent/_data"}
    given = {**answers({}), **dict.fromkeys(("/volumes/alone", "/volumes/../events", "/events"), kept)}
    with (
        fake_engine(tmp_path / "s", given) as url,
        pytest.raises(InputError) as raised,
        opened(name, url),
    ):
        pass
    assert (raised.value.message, raised.value.where) == (says, name)


def test_a_file_of_a_volume_through_a_container(tmp_path: Path) -> None:
    mounts = [{"Type": "volume", "Name": "kafka", "Source": "/nonexistent/_data", "Destination": "/data"}]
    files = {
        "/data/meta.properties": archive({"meta.properties": META}),
        "/data/large": archive({"large": "x" * 100_000}),
        "/data/folder": archive({"folder": None}),
    }
    given = answers(files, mounts)
    for name in ("kafka", "alone"):
        given[f"/volumes/{name}"] = {"Name": name, "Mountpoint": "/nonexistent/_data"}
    # It was in the list, and has gone when it is asked about.
    given["/containers/json"] = [{"Id": "0" * 64}, {"Id": ID}]
    with fake_engine(tmp_path / "s", given) as url, volume_files(url) as volumes:
        assert volumes.read("kafka", "meta.properties") == META.encode()
        assert [volumes.read("kafka", path) for path in ("none", "folder", "large")] == [None] * 3
        assert [volumes.read(name, "meta.properties") for name in ("alone", "none")] == [None] * 2
        assert volumes.unread == {
            "alone": "netdiag cannot read volume alone, and no container mounts it: run it as root"
        }
