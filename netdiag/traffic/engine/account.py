"""Where the bytes of a capture file went: packets, headers, packets outside the wanted time, damage."""

from netdiag.traffic.engine.packet import Undecoded

# Nobody else reads larger packets either (MAXIMUM_SNAPLEN of libpcap, WTAP_MAX_PACKET_SIZE_STANDARD of Wireshark).
LARGEST_PACKET = 262_144
# Times are kept in 64 bits with a sign everywhere behind the reader.
LAST_TIME = 2**63 - 1
_MOST_LOSSES = 1000


class Account:
    """Sums of one file; `packet_bytes + header_bytes + filtered_bytes + lost_bytes` is what was fed.

    `packets` counts all of them, as Wireshark numbers them; `filtered` those outside the wanted time (from `since`
    on, before `until`). `header_bytes`: headers, padding, options and blocks without a packet. `dropped`: packets
    that were not written, as the file itself says.
    """

    def __init__(self, *, since: int | None = None, until: int | None = None) -> None:
        self.since = -1 if since is None else since
        self.until = LAST_TIME + 1 if until is None else until
        self.packets = 0
        self.filtered = 0
        self.dropped = 0
        self.packet_bytes = 0
        self.header_bytes = 0
        self.filtered_bytes = 0
        self.lost_bytes = 0
        self.losses: list[Undecoded] = []
        # How far reading was at the last loss.
        self._place = (-1, -1)

    def add(self, following: "Account") -> None:
        """Count what another reader found in the bytes that follow."""
        for name in ("packets", "filtered", "dropped", "packet_bytes", "header_bytes", "filtered_bytes", "lost_bytes"):
            setattr(self, name, getattr(self, name) + getattr(following, name))
        for loss in following.losses:
            if len(self.losses) < _MOST_LOSSES:
                self.losses.append(loss)
            else:
                self.losses[-1] = Undecoded("damage", "further damage", self.losses[-1].bytes + loss.bytes)

    def lose(self, kind: str, detail: str, count: int) -> None:
        """Count bytes that belong to no packet; what follows a loss of the same kind at once belongs to it."""
        if count <= 0:
            return
        self.lost_bytes += count
        last, place = self.losses[-1] if self.losses else None, (self.packets, self.header_bytes)
        if last is not None and place == self._place and (last.kind, last.detail) == (kind, detail):
            self.losses[-1] = last._replace(bytes=last.bytes + count)
        elif last is not None and len(self.losses) >= _MOST_LOSSES:
            self.losses[-1] = Undecoded("damage", "further damage", last.bytes + count)
        else:
            self.losses.append(Undecoded(kind, detail, count))
        self._place = place
