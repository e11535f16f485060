"""Resolving a name as a client at another place would: hosts file first, then that place's own name servers.

Never through the C library, which reads the files of the caller. Questions for both address families go out side by
side, candidates of the search list one after another; NXDOMAIN and "no address" go on to the next candidate, errors
and silence to the next server, as in the GNU C library. Everything ends by the deadline that is given. Questions that
wait for a server at the same time share a socket.
"""

import asyncio
import ipaddress
import re
import secrets
import socket
from dataclasses import field

from netdiag.io.kernel.netns import Namespace
from netdiag.io.network.name_service import NameService
from netdiag.linux.dns_messages import (
    AAAA,
    MOST_ADDRESSES,
    A,
    decode_answer,
    encode_name,
    encode_question,
    identifier_of,
)
from netdiag.linux.resolver import DnsAnswer, Lookup
from netdiag.values import dataclass

_PORT = 53
_LARGEST = 4096
# On one socket: their answers fit into what a socket may hold.
_MOST_TOGETHER = 64
_SHORTEST_TRY = 0.5
_NUMERIC = re.compile(r"\d{1,10}(\.\d{1,10}){0,3}")
_LOOPBACK = ("127.0.0.1",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The addresses in the order a client tries them; `not_tried` are those that the place has no use for.

    `by` tells who knew them: "the hosts file", "name server 127.0.0.11"; empty for what is an address itself.
    """

    addresses: tuple[str, ...]
    not_tried: tuple[str, ...] = ()
    by: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """Nobody gave an address, and who said what."""

    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Silence:
    """No server gave an answer that could be used."""

    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a server answered."""

    answer: DnsAnswer
    server: str


class Resolver:
    """Resolves names at one place, in one loop."""

    def __init__(self, namespace: Namespace, names: NameService) -> None:
        self._namespace = namespace
        self._names = names
        self._asked: dict[str, _AskedServer] = {}

    async def resolve(self, host: str, deadline: float) -> Resolved | Unresolved:
        """The addresses of `host`; `deadline` is in the time of the running loop."""
        literal = _literal(host)
        if literal is not None:
            return Resolved(addresses=(literal,))
        if not host:
            return Unresolved(because="the host is empty")
        known = self._names.hosts.lookup(host)
        if known:
            return self._usable(known, "the hosts file")
        if host.lower().rstrip(".") == "localhost":
            return self._usable(_LOOPBACK, "convention")
        return await self._ask_servers(host, deadline)

    def _usable(self, addresses: tuple[str, ...], by: str) -> Resolved | Unresolved:
        """IPv4 first, as the JVM tries them, and IPv6 only where the place has any."""
        ordered = sorted(dict.fromkeys(addresses), key=lambda address: ":" in address)[:MOST_ADDRESSES]
        usable = tuple(address for address in ordered if ":" not in address or self._has_ipv6(address))
        not_tried = tuple(address for address in ordered if address not in usable)
        if not usable:
            return Unresolved(because=f"only {', '.join(not_tried)} is known, and there is no IPv6 here")
        return Resolved(addresses=usable, not_tried=not_tried, by=by)

    def _has_ipv6(self, address: str) -> bool:
        loopback = ipaddress.ip_address(address).is_loopback
        return any(loopback == ipaddress.ip_address(own).is_loopback for own in self._namespace.ipv6)

    async def _ask_servers(self, host: str, deadline: float) -> Resolved | Unresolved:
        said: dict[str, None] = {}
        for candidate in self._names.resolv_conf.candidates(host):
            try:
                name = encode_name(candidate)
            except ValueError:
                said[f'"{candidate}" is not a host name'] = None
                continue
            results = await asyncio.gather(*(self._ask_all(name, kind, deadline) for kind in (A, AAAA)))
            addresses = tuple(a for r in results if isinstance(r, _Said) for a in r.answer.addresses)
            if addresses:
                knowing = (r.server for r in results if isinstance(r, _Said) and r.answer.addresses)
                return self._usable(addresses, f"name server {next(knowing)}")
            answers = [r.answer for r in results if isinstance(r, _Said)]
            silences = [r for r in results if isinstance(r, _Silence)]
            if silences and not any(a.lookup is Lookup.NO_SUCH_NAME for a in answers):
                # The C library gives up here: the server may know, the name may exist.
                said[silences[0].because] = None
                break
            said[f"name server {self._servers} says {answers[0].word}" if answers else silences[0].because] = None
        return Unresolved(because=f'"{host}" has no address here: {"; ".join(said)}')

    @property
    def _servers(self) -> str:
        return " or ".join(self._names.resolv_conf.nameservers)

    async def _ask_all(self, name: bytes, kind: int, deadline: float) -> _Said | _Silence:
        """The first usable answer of the servers, each asked as often as the configuration says."""
        configuration = self._names.resolv_conf
        tries = [server for _ in range(configuration.attempts) for server in configuration.nameservers]
        loop = asyncio.get_running_loop()
        share = max((deadline - loop.time()) / len(tries), _SHORTEST_TRY)
        failure = _Silence(because=f"no answer from name server {self._servers}")
        dead: set[str] = set()
        for server in tries:
            if server in dead or loop.time() >= deadline:
                continue
            until = min(deadline, loop.time() + min(configuration.timeout, share))
            try:
                async with asyncio.timeout_at(until):
                    answer = await self._ask(server, name, kind)
            except TimeoutError:
                continue
            except OSError as error:
                dead.add(server)
                failure = _Silence(because=f"name server {server}: {error.strerror or error}")
                continue
            if answer.lookup is not Lookup.SERVER_FAILED:
                return _Said(answer=answer, server=server)
            dead.add(server)
            failure = _Silence(because=f"name server {server} says {answer.word}")
        return failure

    async def _ask(self, server: str, name: bytes, kind: int) -> DnsAnswer:
        asked = self._asked.get(server)
        if asked is None or not asked.has_room:
            family = socket.AF_INET6 if ":" in server else socket.AF_INET
            channel = self._namespace.socket(family, socket.SOCK_DGRAM)
            try:
                # Connected: the kernel drops other senders' datagrams and reports a closed port.
                channel.connect((server, _PORT))
            except OSError:
                channel.close()
                raise
            asked = self._asked[server] = _AskedServer(channel)
        return await asked.ask(name, kind)


class _AskedServer:
    """A socket to one server, which is there as long as a question on it waits."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, tuple[bytes, asyncio.Future[DnsAnswer]]] = {}
        self._loop.add_reader(channel, self._read)

    @property
    def has_room(self) -> bool:
        """Whether one more question can be asked."""
        return 0 < len(self._waiting) < _MOST_TOGETHER

    async def ask(self, name: bytes, kind: int) -> DnsAnswer:
        """The answer to one question; OSError where the server's machine or the network says no."""
        identifier = secrets.randbelow(1 << 16)
        while identifier in self._waiting:
            identifier = secrets.randbelow(1 << 16)
        question = encode_question(identifier, name, kind)
        answer: asyncio.Future[DnsAnswer] = self._loop.create_future()
        self._waiting[identifier] = question, answer
        try:
            try:
                await self._loop.sock_sendall(self._channel, question)
            except OSError as error:
                # That of a question before; the kernel tells it once.
                self._fail(error)
            return await answer
        finally:
            del self._waiting[identifier]
            if not self._waiting:
                self._loop.remove_reader(self._channel)
                self._channel.close()

    def _read(self) -> None:
        """Give every answer that has come to its question."""
        try:
            for _ in range(_MOST_TOGETHER):
                data = self._channel.recv(_LARGEST)
                waiting = self._waiting.get(identifier_of(data))
                answer = decode_answer(data, waiting[0]) if waiting else None
                if waiting and answer and not waiting[1].done():
                    waiting[1].set_result(answer)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """An error of the socket is an answer to all that wait."""
        for _, answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)


def _literal(host: str) -> str | None:
    """The address that `host` is, if it is one; like the C library, also in the short forms of IPv4 ("127.1")."""
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        pass
    if _NUMERIC.fullmatch(host) is None:
        return None
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return None
