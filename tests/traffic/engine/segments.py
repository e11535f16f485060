"""Segments from few words, for tests."""

from ipaddress import ip_address

from netdiag.traffic.engine.packet import ACK, Segment

MILLISECOND = 1_000_000


def segment(
    source: str = "10.0.0.1:40000",
    destination: str = "10.0.0.2:9092",
    *,
    sequence: int = 0,
    acknowledgement: int = 0,
    flags: int = ACK,
    payload: bytes = b"",
    length: int | None = None,
    time: int = 0,
    interface: str = "eth0",
    number: int = 1,
    file: int = 0,
    window: int = 64_000,
    identification: int = -1,
) -> Segment:
    """A segment; `time` in milliseconds, `length` where the capture cut the payload off."""
    source_host, _, source_port = source.rpartition(":")
    host, _, port = destination.rpartition(":")
    return Segment(
        time=time * MILLISECOND,
        source=ip_address(source_host.strip("[]")).packed,
        destination=ip_address(host.strip("[]")).packed,
        source_port=int(source_port),
        destination_port=int(port),
        sequence=sequence,
        acknowledgement=acknowledgement,
        flags=flags,
        window=window,
        payload=memoryview(payload),
        length=len(payload) if length is None else length,
        identification=identification,
        window_scale=-1,
        context=b"",
        interface=interface,
        number=number,
        file=file,
    )
