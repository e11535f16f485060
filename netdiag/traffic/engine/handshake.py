"""How a TCP connection was opened, as far as the capture shows it."""

from netdiag.traffic.engine.packet import ACK, RST, SYN, Segment


class Handshake:
    """Watches the first segments of both sides; `opener` is the side of the SYN, None before one was seen."""

    __slots__ = ("_acknowledged", "_answered", "_sent", "_unreachable", "opener", "refused", "saw_data")

    def __init__(self) -> None:
        self.opener: int | None = None
        self.refused = False
        self.saw_data = False
        self._sent: int | None = None
        self._answered: int | None = None
        self._acknowledged: int | None = None
        self._unreachable = False

    @property
    def is_over(self) -> bool:
        """Whether no later segment can tell anything new."""
        return self._acknowledged is not None or (self.saw_data and self.opener is None)

    @property
    def is_settled(self) -> bool:
        """Whether no later segment without SYN or RST can tell anything new."""
        return self.is_over or (self.saw_data and self._answered is None)

    def push(self, side: int, segment: Segment) -> None:
        """Look at a segment, in the order of the capture."""
        flags = segment.flags
        if flags & SYN:
            self._push_syn(side, segment)
        elif flags & RST:
            if self.opener is not None and side != self.opener and self._answered is None:
                self.refused = True
        elif flags & ACK and side == self.opener and self._answered is not None and self._acknowledged is None:
            self._acknowledged = segment.time
        if segment.length and not flags & SYN:
            self.saw_data = True

    def _push_syn(self, side: int, segment: Segment) -> None:
        if segment.flags & ACK:
            if self.opener is None:
                self.opener = 1 - side
            if self._answered is None:
                self._answered = segment.time
        elif self._sent is None:
            self._sent = segment.time
            self.opener = side

    def went(self, sent: int, answered: int | None = None, acknowledged: int | None = None) -> None:
        """The times of its packets, of which the first is by side 0."""
        self.opener = 0
        self._sent, self._answered, self._acknowledged = sent, answered, acknowledged

    def unreachable(self) -> None:
        """An ICMP error came back for it."""
        self._unreachable = True

    @property
    def opening(self) -> str:
        """The word of the column `opening`."""
        if self._acknowledged is not None or (self.opener is not None and self.saw_data):
            return "complete"
        if self.opener is None:
            return "unseen"
        if self.refused:
            return "refused"
        if self._answered is not None:
            return "half"
        return "unreachable" if self._unreachable else "unanswered"

    @property
    def milliseconds(self) -> float | None:
        """From SYN to the ACK of the SYN-ACK; None unless all three were captured."""
        if self._sent is None or self._acknowledged is None:
            return None
        return (self._acknowledged - self._sent) / 1e6
