"""Looking at TLS from outside: versions, chains, the wish for a client's certificate; openssl's own server, too."""

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from netdiag.io.tls import SeenTls, look_at_tls
from tests.io import hostile
from tests.io.authorities import Issued, authority, issue
from tests.io.hostile import serving
from tests.tools import tool

LONG = 30.0


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Issued, Path]:
    leaf = issue("kafka", by=authority("Sub", by=authority()), names=["kafka"])
    folder = tmp_path_factory.mktemp("tls")
    assert leaf.issuer is not None
    (folder / "sub.pem").write_bytes(leaf.issuer.pem)
    return leaf, leaf.write(folder / "kafka.pem", with_issuers=False)


def look(port: int, *, limit: float = LONG) -> SeenTls | None:
    @contextlib.asynccontextmanager
    async def dial() -> AsyncIterator[socket.socket | None]:
        with socket.socket() as channel:
            channel.setblocking(False)
            connected = False
            with contextlib.suppress(OSError):
                await asyncio.get_running_loop().sock_connect(channel, ("127.0.0.1", port))
                connected = True
            yield channel if connected else None

    async def run() -> SeenTls | None:
        return await look_at_tls(dial, "kafka", asyncio.get_running_loop().time() + limit)

    return asyncio.run(run())


@contextlib.contextmanager
def s_server(path: Path, *options: str) -> Iterator[int]:
    """`openssl s_server`; it says where it listens."""
    words = [tool("openssl"), "s_server", "-accept", "127.0.0.1:0", "-cert", str(path), "-key", str(path)]
    words += ["-cert_chain", str(path.parent / "sub.pem"), "-naccept", "100", *options]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("ACCEPT"):
                    yield int(line.rstrip().rpartition(":")[2])
                    return
            raise AssertionError("openssl did not listen")
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("options", "versions", "wants"),
    [
        ((), {"TLSv1.2", "TLSv1.3"}, False),
        (("-tls1_2",), {"TLSv1.2"}, False),
        (("-tls1_3",), {"TLSv1.3"}, False),
        (("-tls1_2", "-verify", "1"), {"TLSv1.2"}, True),
        (("-tls1_2", "-Verify", "1"), {"TLSv1.2"}, True),
    ],
)
def test_the_server_of_openssl(
    chain: tuple[Issued, Path], options: tuple[str, ...], versions: set[str], wants: bool
) -> None:
    leaf, path = chain
    assert leaf.issuer is not None
    with s_server(path, *options) as port:
        seen = look(port)
    assert seen is not None
    assert set(seen.versions) == versions
    assert seen.chain == (leaf.der, leaf.issuer.der)
    assert seen.wants_client is wants
    assert seen.cipher.startswith("TLS_")


@pytest.mark.parametrize("behaviour", [hostile.garbage, hostile.http, hostile.immediate_close, hostile.reset])
def test_who_speaks_no_tls(behaviour: hostile.Behaviour) -> None:
    with serving(behaviour) as port:
        assert look(port) is None


def test_who_says_only_that_it_is_tls() -> None:
    with serving(hostile.tls_alert) as port:
        assert look(port) == SeenTls(versions=(), cipher="", chain=(), wants_client=False)


def test_silence_is_given_up() -> None:
    with serving(hostile.silence) as port:
        assert look(port, limit=0.5) is None
