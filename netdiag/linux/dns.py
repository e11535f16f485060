"""What a name server's answer means for the name that was asked."""

from dataclasses import dataclass
from enum import Enum

NOERROR = 0
NXDOMAIN = 3

# RFC 1035 section 4.1.1 and RFC 6895; others are shown by number.
_RCODE_NAMES = {1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}


class Lookup(Enum):
    """What one question for one name came to."""

    FOUND = "found"
    NO_SUCH_NAME = "no such name"
    NO_ADDRESS = "no address"
    SERVER_FAILED = "server failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsAnswer:
    """A decoded answer: its response code and the addresses in it."""

    rcode: int
    addresses: tuple[str, ...] = ()

    @property
    def lookup(self) -> Lookup:
        """What it means: no name or no address sends the client to the next candidate, an error to the next server."""
        if self.rcode == NXDOMAIN:
            return Lookup.NO_SUCH_NAME
        if self.rcode != NOERROR:
            return Lookup.SERVER_FAILED
        return Lookup.FOUND if self.addresses else Lookup.NO_ADDRESS

    @property
    def word(self) -> str:
        """The answer in the words of DNS tools."""
        if self.rcode == NOERROR:
            return "no address record"
        return _RCODE_NAMES.get(self.rcode, f"RCODE {self.rcode}")
