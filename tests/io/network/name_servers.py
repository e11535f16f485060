"""A name server in a namespace, that answers as a table says."""

import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from netdiag.io.kernel.netns import Namespace

Records = Mapping[str, tuple[str, ...] | int | None]
"""A name's addresses, or a response code, or None for silence; other names are NXDOMAIN."""
# A name that the server knows, and is silent about when asked for its IPv6 addresses.
HALF_SILENT = "half-silent"


class NameServer:
    """What was asked, in order."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.asked: list[str] = []

    def answer(self, data: bytes) -> bytes | None:
        """The answer to one query; None for silence."""
        query = dns.message.from_wire(data)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True)
        kind = question.rdtype
        self.asked.append(f"{name} {dns.rdatatype.to_text(kind)}")
        found = self.records.get(name, dns.rcode.NXDOMAIN)
        if found is None or (name == HALF_SILENT and kind == dns.rdatatype.AAAA):
            return None
        response = dns.message.make_response(query)
        if isinstance(found, int):
            response.set_rcode(dns.rcode.Rcode(found))
            return response.to_wire()
        addresses = [a for a in found if (":" in a) == (kind == dns.rdatatype.AAAA)]
        if addresses:
            response.answer.append(
                dns.rrset.from_text(question.name, 60, "IN", dns.rdatatype.to_text(kind), *addresses)
            )
        return response.to_wire()


@contextlib.contextmanager
def name_server(namespace: Namespace, address: str, records: Records) -> Iterator[NameServer]:
    """Serve on port 53 of an address in a namespace for the block."""
    server = NameServer(records)
    channel = namespace.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    channel.bind((address, 53))
    channel.settimeout(0.1)
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            try:
                data, client = channel.recvfrom(4096)
            except TimeoutError:
                continue
            answer = server.answer(data)
            # First what any bystander could send.
            channel.sendto(b"\0\0garbage", client)
            channel.sendto(bytes([data[0] ^ 255]) + (answer or data)[1:], client)
            if answer is not None:
                channel.sendto(answer, client)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        over.set()
        thread.join()
        channel.close()
