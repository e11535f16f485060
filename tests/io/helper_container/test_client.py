"""Helpers on an engine whose containers are processes: what comes back, what is told, and that none is left."""

import sys
from pathlib import Path

import pytest

import netdiag
from netdiag.engine.helper_container import Hello, Helper, Kind, Order, Right, encode_hello, frame
from netdiag.errors import EngineError
from netdiag.io.engine.address import EngineAddress
from netdiag.io.helper_container.client import Setting, carry_out
from tests.cli.shell import CLEAN, environment
from tests.io.engine.fake_containers import ID, FakeContainers, fake_containers
from tests.io.namespaces import needs_root

REMOVED = [f"/containers/{ID}"]


def setting(fake: FakeContainers) -> Setting:
    path = fake.url.removeprefix("unix://")
    helper = Helper(image="netdiag:test", socket=path, shown_as=path, rights=[Right.ENTER])
    return Setting(address=EngineAddress(url=fake.url, said_by="--host"), helper=helper, timeout=30)


def order(fake: FakeContainers, folder: Path, *words: str, **more: object) -> Order:
    socket = fake.url.removeprefix("unix://")
    return Order(words=words, folder=str(folder), container="", socket=socket, **more)  # type: ignore[arg-type]


def done(fake: FakeContainers, asked: Order) -> tuple[int, dict[Kind, bytes]]:
    said: dict[Kind, bytes] = {}

    def tell(kind: Kind, data: bytes) -> None:
        said[kind] = said.get(kind, b"") + data

    return carry_out(setting(fake), asked, tell), said


def saying(code: str) -> FakeContainers:
    """A container that is a program of ours instead of a helper."""
    return FakeContainers(argv=(sys.executable, "-c", code))


def greeting(*, version: str = netdiag.__version__, rights: tuple[str, ...] = ("SYS_ADMIN",)) -> bytes:
    return frame(Kind.HELLO, encode_hello(Hello(protocol=1, version=version, rights=rights)))


def refused(tmp_path: Path, fake: FakeContainers) -> str:
    with fake_containers(tmp_path / "s", fake), pytest.raises(EngineError) as caught:
        done(fake, order(fake, tmp_path, "rules"))
    assert "\n" not in str(caught.value)
    return f"{caught.value} | {caught.value.hint}"


_LAST_FRAMES = f"""
import os, sys
os.write(1, {greeting()!r})
size = int.from_bytes(sys.stdin.buffer.read(8), "big")
sys.stdin.buffer.read(size)
os.write(1, {frame(Kind.OUT, b"one") + frame(Kind.ALIVE) + frame(Kind.ERRORS, b"two")!r})
os.write(1, {frame(Kind.STATUS, bytes([4]))!r})
"""


def test_what_a_helper_says_comes_back_and_nothing_of_it_stays(tmp_path: Path) -> None:
    with fake_containers(tmp_path / "s", saying(_LAST_FRAMES)) as fake:
        assert done(fake, order(fake, tmp_path, "rules")) == (4, {Kind.OUT: b"one", Kind.ERRORS: b"two"})
        assert fake.removed == REMOVED


def test_what_is_not_where_it_was_thought_is_looked_for_elsewhere(tmp_path: Path) -> None:
    fake = saying(_LAST_FRAMES)
    missing = 'invalid mount config for type "bind": bind source path does not exist: '
    fake.refusals = [(400, missing + "/run/netns"), (400, missing + "/elsewhere/s")]
    with fake_containers(tmp_path / "s", fake):
        assert done(fake, order(fake, tmp_path, "rules"))[0] == 4
    sources = [[one["Source"] for one in each["HostConfig"]["Mounts"]] for each in fake.created]
    own = str(tmp_path / "s")
    assert sources == [[own, "/run/netns"], [own], ["/var/run/docker.sock"]]


def test_no_socket_anywhere(tmp_path: Path) -> None:
    missing = "bind source path does not exist: /x"
    assert "the engine's socket is not at '/var/run/docker.sock'" in refused(
        tmp_path, FakeContainers(refusals=[(400, missing)] * 2)
    )


def test_without_the_image_the_command_that_builds_it(tmp_path: Path) -> None:
    fake = FakeContainers(image=None)
    said = refused(tmp_path, fake)
    assert "the engine has no image 'netdiag:test'" in said
    assert "docker build --tag netdiag:test ." in said
    assert not fake.created


def test_an_engine_of_windows(tmp_path: Path) -> None:
    fake = FakeContainers()
    fake.version["Os"] = "windows"
    assert "the engine runs containers of windows" in refused(tmp_path, fake)


def test_an_engine_that_allows_no_such_container(tmp_path: Path) -> None:
    said = refused(tmp_path, FakeContainers(refusals=[(403, "authorization denied by plugin")]))
    assert "the engine refuses the helper container: authorization denied by plugin" in said


def test_an_engine_that_does_not_start_it(tmp_path: Path) -> None:
    fake = FakeContainers(start_refusal="OCI runtime create failed:\noperation not permitted")
    assert "OCI runtime create failed: operation not permitted" in refused(tmp_path, fake)
    assert fake.removed == REMOVED


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys; sys.exit('No module named netdiag.cli.in_helper')", "failed: No module named netdiag"),
        ("pass", "ended before its work was done"),
        (f"import os; os.write(1, {greeting(version='0.0.9')!r})", "the image holds netdiag 0.0.9, and this is"),
        (f"import os; os.write(1, {greeting(rights=())!r})", "CAP_SYS_ADMIN"),
        (f"import os; os.write(1, {greeting(rights=('NET_RAW',))!r})", "CAP_SYS_ADMIN"),
        ("print('Usage: something else')", "its output is not netdiag's"),
        (f"import os; os.write(1, {greeting()!r})", "ended before its work was done"),
    ],
)
def test_images_that_do_not_help(tmp_path: Path, code: str, says: str) -> None:
    fake = saying(code)
    assert says in refused(tmp_path, fake)
    assert fake.removed == REMOVED


def test_netdiag_itself_there_and_back(tmp_path: Path) -> None:
    """The inner end is the real one, with the rights of this test."""
    needs_root()
    (tmp_path / "s.d").mkdir()
    with fake_containers(tmp_path / "s", FakeContainers(environment=environment())) as fake:
        asked = order(
            fake,
            tmp_path / "s.d",
            *("check-listeners", "compose.yml", "--format", "json", "--output", "out.json", "--format", "concise"),
            files={str(tmp_path / "s.d" / "compose.yml"): CLEAN.encode()},
            results=(str(tmp_path / "s.d" / "out.json"),),
        )
        status, said = done(fake, asked)
    assert status == 0, said
    assert b'"version": 1' in said[Kind.FILE]
    assert Kind.ERRORS not in said
