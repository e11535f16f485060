"""Resolving a name as a client at another place would: hosts file first, then that place's own name servers.

Never through the C library, which reads the files of the caller. Questions for both address families go out side by
side, candidates of the search list one after another; NXDOMAIN and "no address" go on to the next candidate, errors
and silence to the next server, as in the GNU C library. Everything ends by the deadline that is given.
"""

import asyncio
import ipaddress
import re
import secrets
import socket
from dataclasses import field

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rdatatype

from netdiag.io.kernel.netns import Namespace
from netdiag.io.network.name_service import NameService
from netdiag.linux.resolver import DnsAnswer, Lookup
from netdiag.values import dataclass

_PORT = 53
_LARGEST = 4096
_SHORTEST_TRY = 0.5
_MOST_ADDRESSES = 16
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
    """Resolves names at one place."""

    def __init__(self, namespace: Namespace, names: NameService) -> None:
        self._namespace = namespace
        self._names = names

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
        ordered = sorted(dict.fromkeys(addresses), key=lambda address: ":" in address)[:_MOST_ADDRESSES]
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
                name = dns.name.from_text(candidate)
            except (dns.exception.DNSException, UnicodeError):
                said[f'"{candidate}" is not a host name'] = None
                continue
            results = await asyncio.gather(
                *(self._ask_all(name, kind, deadline) for kind in (dns.rdatatype.A, dns.rdatatype.AAAA))
            )
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

    async def _ask_all(self, name: dns.name.Name, kind: dns.rdatatype.RdataType, deadline: float) -> _Said | _Silence:
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

    async def _ask(self, server: str, name: dns.name.Name, kind: dns.rdatatype.RdataType) -> DnsAnswer:
        query = dns.message.make_query(name, kind, id=secrets.randbelow(1 << 16))
        loop = asyncio.get_running_loop()
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        with self._namespace.socket(family, socket.SOCK_DGRAM) as channel:
            # Connected: the kernel drops other senders' datagrams and reports a closed port.
            channel.connect((server, _PORT))
            await loop.sock_sendall(channel, query.to_wire())
            while True:
                answer = _read_answer(await loop.sock_recv(channel, _LARGEST), query)
                if answer is not None:
                    return answer


def _read_answer(data: bytes, query: dns.message.Message) -> DnsAnswer | None:
    """The decoded answer to the query; None for a datagram that is none."""
    try:
        message = dns.message.from_wire(data, ignore_trailing=True, raise_on_truncation=False)
    except (dns.exception.DNSException, ValueError, IndexError):
        return None
    if not query.is_response(message):
        return None
    records = (record for rrset in message.answer for record in rrset)
    addresses = [r.address for r in records if r.rdtype in (dns.rdatatype.A, dns.rdatatype.AAAA)]
    return DnsAnswer(rcode=int(message.rcode()), addresses=tuple(addresses[:_MOST_ADDRESSES]))


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
