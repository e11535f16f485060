"""The records of a capture file, whatever its format: bytes in pieces of any size in, packets out."""

from typing import Protocol

from netdiag.errors import InputError
from netdiag.traffic.engine import pcap, pcapng
from netdiag.traffic.engine.account import Account
from netdiag.traffic.engine.packet import Packet, Undecoded

MAGICS = pcap.MAGICS | {pcapng.MAGIC}


class _Format(Protocol):
    @property
    def standing(self) -> object: ...

    def feed(self, chunk: bytes) -> list[Packet]: ...

    def finish(self) -> list[Packet]: ...


class CaptureReader:
    """Eats one capture file and tells its format from its first bytes.

    `file` is what the packets name as their file. Packets before `since` or from `until` on (nanoseconds since 1970
    UTC) are counted and not given. Packets are views of the pieces: who keeps one keeps the piece, so copy.
    """

    def __init__(self, *, file: int = 0, since: int | None = None, until: int | None = None) -> None:
        self.account = Account(since=since, until=until)
        self._file = file
        self._begun = b""
        self._format: _Format | None = None

    @property
    def losses(self) -> list[Undecoded]:
        """What could not be read so far."""
        return self.account.losses

    @property
    def standing(self) -> object:
        """All that reading on depends on, when what was fed ends with a packet; else None."""
        return None if self._format is None else self._format.standing

    def feed(self, chunk: bytes) -> list[Packet]:
        """The packets that are complete with this piece; InputError where the file is no capture."""
        if self._format is None:
            self._begun += chunk
            if len(self._begun) < 4:
                return []
            self._format = self._recognised(self._begun[:4])
            chunk, self._begun = self._begun, b""
        return self._format.feed(chunk)

    def finish(self) -> list[Packet]:
        """The packets that only the end of the file makes sure of; InputError where there was no capture."""
        if self._format is None:
            raise InputError("is empty" if not self._begun else "is not a packet capture")
        return self._format.finish()

    def _recognised(self, magic: bytes) -> _Format:
        if magic in pcap.MAGICS:
            return pcap.PcapReader(file=self._file, account=self.account)
        if magic == pcapng.MAGIC:
            return pcapng.PcapngReader(file=self._file, account=self.account)
        raise not_a_capture(magic)


def not_a_capture(magic: bytes) -> InputError:
    """Of a file that begins like this."""
    return InputError(
        f"is not a packet capture: it begins with {magic.hex(' ')}", hint="give a file in the format pcap or pcapng"
    )
