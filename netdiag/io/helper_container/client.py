"""The outer end of `--via container`: a helper container made, talked to, and removed whatever happens.

The order goes in through the standard input of the container, the answer comes out of its standard output, on one
connection with the engine; so nothing is copied, nothing mounted but the engine's socket, and no port opened. When this
process ends, however it does, that connection ends, which ends the helper; the engine then removes it.
"""

import secrets
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import docker
import requests

import netdiag
from netdiag.engine.container import number, text
from netdiag.engine.helper_container import (
    ALIVE,
    EVERY,
    INTERRUPT,
    LABEL,
    NAME,
    NAMED_NAMESPACES,
    PROTOCOL,
    SILENCE,
    SOCKET,
    Frames,
    Garbled,
    Hello,
    Helper,
    Kind,
    Order,
    Right,
    decode_hello,
    encode_order,
)
from netdiag.errors import EngineError, NetdiagError
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.docker_sdk import failure, open_client
from netdiag.values import dataclass

Pass = Callable[[Kind, bytes], None]
_FAILURES = (requests.RequestException, docker.errors.DockerException, OSError)
_MUX = struct.Struct(">BxxxI")
_OUT = 1
_CHUNK = 64 * 1024
_LARGEST_PIECE = 64 * 1024 * 1024
_TO_BEGIN = 120.0
_TO_END = 10.0
_FORGOTTEN = 600.0
_SAID = 2000
_NO_SOCKET = "bind source path does not exist"
_NOBODY = Hello(protocol=0, version="of another kind", rights=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is needed to make helpers: the engine, and a helper with what may be there and may not."""

    address: EngineAddress
    helper: Helper
    timeout: float = 60.0


def carry_out(setting: Setting, order: Order, tell: Pass) -> int:
    """Have a helper carry out an order; `tell` gets its frames OUT, ERRORS and FILE as they come. Its exit status.

    The order's `container` is filled in. Ctrl-C is passed on; a second one does not wait. EngineError of one line where
    there can be no helper.
    """
    client = open_client(setting.address, timeout=setting.timeout)
    try:
        _check(client, setting)
        with _helper(client, setting) as identifier:
            talk = _Talk(client, setting.address, identifier)
            try:
                return talk.have_done(replace(order, container=identifier), tell)
            finally:
                talk.close()
    except _FAILURES as error:
        raise failure(error, setting.address) from error
    finally:
        client.close()


def _check(client: Any, setting: Setting) -> None:
    """Before anything is made: an engine with Linux containers, which has the image."""
    where = setting.address.url
    system = text(client.version(api_version=False), "Os")
    if system and system != "linux":
        hint = "switch it to Linux containers"
        raise EngineError(
            f"the engine runs containers of {system}, but a helper container needs Linux", where=where, hint=hint
        )
    try:
        image = client.inspect_image(setting.helper.image)
    except docker.errors.NotFound:
        build = f"build it there, in a checkout of netdiag {netdiag.__version__}: docker build --tag"
        raise EngineError(
            f"the engine has no image '{setting.helper.image}'", where=where, hint=f"{build} {setting.helper.image} ."
        ) from None
    system = text(image, "Os")
    if system and system != "linux":
        raise EngineError(f"the image '{setting.helper.image}' is one of {system}", where=where)


@contextmanager
def _helper(client: docker.APIClient, setting: Setting) -> Iterator[str]:
    """A helper that is not started yet, for the block; it is gone afterwards."""
    _remove_forgotten(client)
    identifier = ""
    try:
        identifier = _created(client, setting)
        yield identifier
    finally:
        if identifier:
            _remove(client, identifier)


def _created(client: Any, setting: Setting) -> str:
    """Of the places where the socket may be on the engine's machine, and of what may be missing there, what fits."""
    helper = setting.helper
    sockets = list(dict.fromkeys([helper.socket, SOCKET]))
    while True:
        trial = replace(helper, socket=sockets[0])
        try:
            name = NAME + secrets.token_hex(4)
            made = client.create_container_from_config(trial.document(), name)
            return text(made, "Id")
        except docker.errors.APIError as error:
            said = " ".join(str(error.explanation or error).split())
            if _NO_SOCKET in said and helper.named and NAMED_NAMESPACES in said:
                helper = replace(helper, named=False)
            elif _NO_SOCKET in said and len(sockets) > 1:
                del sockets[0]
            elif _NO_SOCKET in said:
                where = setting.address.url
                raise EngineError(
                    f"the engine's socket is not at '{sockets[0]}' on its machine", where=where
                ) from error
            else:
                raise _refused(error, setting.address) from error


class _Talk:
    """The connection with a helper."""

    def __init__(self, client: docker.APIClient, address: EngineAddress, identifier: str) -> None:
        self._client = client
        self._address = address
        self._identifier = identifier
        attached = client.attach_socket(identifier, {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        self._attached: Any = attached
        self._socket: Any = getattr(attached, "_sock", attached)
        self._sending = threading.Lock()
        self._over = threading.Event()
        self._errors = bytearray()
        self._give_up_at = float("inf")

    def close(self) -> None:
        """End the connection, which ends the helper if it is still there."""
        self._over.set()
        for one in (self._socket, self._attached):
            with suppress(OSError, AttributeError):
                one.close()

    def have_done(self, order: Order, tell: Pass) -> int:
        """Start the helper, give the order, pass on until there is a status."""
        try:
            self._client.start(self._identifier)
        except docker.errors.APIError as error:
            raise _refused(error, self._address) from error
        self._patience(_TO_BEGIN)
        frames = self._frames()
        self._greeted(next(frames, None))
        self._send(encode_order(order))
        threading.Thread(target=self._tell_alive, name="alive", daemon=True).start()
        self._patience(SILENCE)
        with _heeding(self._interrupted):
            for kind, data in frames:
                if kind is Kind.STATUS and data:
                    return data[0]
                if kind in (Kind.OUT, Kind.ERRORS, Kind.FILE):
                    tell(kind, data)
                if time.monotonic() > self._give_up_at:
                    raise KeyboardInterrupt
        raise self._ended()

    def _greeted(self, first: tuple[Kind, bytes] | None) -> None:
        if first is None:
            raise self._ended()
        kind, data = first
        hello = _NOBODY
        with suppress(Garbled):
            hello = decode_hello(data) if kind is Kind.HELLO else _NOBODY
        if hello.protocol != PROTOCOL or hello.version != netdiag.__version__:
            raise EngineError(
                f"the image holds netdiag {hello.version}, and this is {netdiag.__version__}",
                hint=f"rebuild the image from a checkout of netdiag {netdiag.__version__}",
            )
        if Right.ENTER.value not in hello.rights:
            raise EngineError(
                "the engine does not let the helper container enter network namespaces (CAP_SYS_ADMIN)",
                where=self._address.url,
            )

    def _interrupted(self) -> None:
        """Ctrl-C: the command there ends as it would here; whoever presses it twice does not wait for that."""
        if self._give_up_at < float("inf"):
            raise KeyboardInterrupt
        self._give_up_at = time.monotonic() + _TO_END
        self._send(INTERRUPT)

    def _tell_alive(self) -> None:
        while not self._over.wait(EVERY):
            try:
                self._send(ALIVE)
            except OSError:
                return

    def _send(self, data: bytes) -> None:
        with self._sending:
            self._socket.sendall(data)

    def _frames(self) -> Iterator[tuple[Kind, bytes]]:
        """What the helper says, until it ends; what it says besides (a Python that fails) is kept for later."""
        parts = Frames()
        while (head := self._exactly(_MUX.size)) is not None:
            stream, length = _MUX.unpack(head)
            data = self._exactly(length) if length <= _LARGEST_PIECE else None
            if data is None:
                return
            if stream != _OUT:
                self._errors += data
                del self._errors[:-_SAID]
                continue
            try:
                yield from parts.feed(data)
            except Garbled as error:
                raise EngineError("its output is not netdiag's", where="the image", hint="name another") from error

    def _exactly(self, size: int) -> bytes | None:
        kept = bytearray()
        while len(kept) < size:
            try:
                piece = self._socket.recv(min(_CHUNK, size - len(kept)))
            except TimeoutError as error:
                said = f"the helper container has sent nothing for {self._seconds:.0f} s"
                raise EngineError(said, where=self._address.url) from error
            if not piece:
                return None
            kept += piece
        return bytes(kept)

    def _patience(self, seconds: float) -> None:
        """So long silence is borne; a connection through ssh has no such limit."""
        self._seconds = seconds
        if hasattr(self._socket, "settimeout"):
            self._socket.settimeout(seconds)

    def _ended(self) -> NetdiagError:
        """Why a helper may have ended without a status: its last words, else what the engine knows."""
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        if lines:
            said = " ".join(lines[-1].split())[:300]
            hint = f"rebuild the image from a checkout of netdiag {netdiag.__version__}"
            return EngineError(f"the helper container failed: {said}", where=self._address.url, hint=hint)
        return EngineError("the helper container ended before its work was done", where=self._address.url)


@contextmanager
def _heeding(handler: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C calls `handler` in this block; in another thread than the first it is none of our business."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: handler())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _refused(error: docker.errors.APIError, address: EngineAddress) -> EngineError:
    said = " ".join(str(error.explanation or error).split())[:300]
    hint = "its policy must allow the docker host's network and processes, CAP_SYS_ADMIN and CAP_SYS_PTRACE"
    return EngineError(f"the engine refuses the helper container: {said}", where=address.url, hint=hint)


def _remove(client: docker.APIClient, identifier: str) -> None:
    """Whatever state it is in; the engine may be about it already."""
    with suppress(*_FAILURES):
        client.remove_container(identifier, v=True, force=True)
    end = time.monotonic() + _TO_END
    with suppress(*_FAILURES):
        while time.monotonic() < end:
            client.inspect_container(identifier)  # NotFound ends this
            time.sleep(0.05)


def _remove_forgotten(client: docker.APIClient) -> None:
    """Helpers of clients that ended between making one and starting it, which no engine removes by itself."""
    with suppress(*_FAILURES):
        filters = {"label": LABEL, "status": ["created", "exited", "dead"]}
        for one in client.containers(all=True, filters=filters):
            if time.time() - number(one, "Created") > _FORGOTTEN:
                client.remove_container(text(one, "Id"), v=True, force=True)
