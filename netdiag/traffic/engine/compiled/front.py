"""The bytes of a capture file in, arrays of packets out: what CaptureReader and decode_packet say, in one go.

The readers in plain Python stay in charge: kernels run over what is in order, and come back for the rest. So pieces,
damage, joined files and the account are the same for both, by construction.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netdiag.errors import InputError
from netdiag.traffic.engine import pcap, pcapng
from netdiag.traffic.engine.account import Account
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.front_pcap import CompiledPcap
from netdiag.traffic.engine.compiled.front_pcapng import CompiledPcapng
from netdiag.traffic.engine.compiled.front_rows import Names, Rows
from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.engine.records import not_a_capture

Array = np.ndarray[Any, Any]

BUFFERS = 3
_LEAST = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Packets of one file whose bytes have come; `packets` are of dtype PACKET, `keys` of dtype KEY.

    Good until the front was fed three times more (`BUFFERS`). `epoch` tells when the numbers of pairs began anew:
    `keys` are those that were known when the chunk was made, of which there are `pairs`. `interfaces` only grows;
    `strange` are those of packets by index that found no room there. Of several files `file` is NOTHING, and `files`
    tells for each of the interfaces whose it is.
    """

    file: int
    data: Array
    packets: Array
    keys: Array
    pairs: int
    epoch: int
    interfaces: list[str]
    strange: dict[int, str]
    files: list[int] | None = None

    def part(self, begin: int, end: int) -> "Chunk":
        """The packets from `begin` to before `end`."""
        strange = {index - begin: name for index, name in self.strange.items() if begin <= index < end}
        return replace(self, packets=self.packets[begin:end], strange=strange)

    def file_of(self, index: int) -> int:
        """The file of one of the packets."""
        return self.file if self.files is None else self.files[self.packets["interface"][index]]

    def packet(self, index: int) -> Packet:
        """One of the packets, with a copy of its bytes."""
        row = self.packets[index]
        begin = int(row["start"])
        data = self.data[begin : begin + int(row["captured"])].tobytes()
        interface = self.strange.get(index) or self.interfaces[row["interface"]]
        return Packet(
            int(row["time"]),
            int(row["link_type"]),
            interface,
            memoryview(data),
            int(row["length"]),
            int(row["number"]),
            self.file_of(index),
        )


class Front:
    """Eats one capture file, as CaptureReader does, and fills the table of pairs `keys`.

    `account` goes on where another reader has one already.
    """

    def __init__(
        self,
        keys: Keys,
        *,
        file: int = 0,
        since: int | None = None,
        until: int | None = None,
        account: Account | None = None,
    ) -> None:
        self.account = Account(since=since, until=until) if account is None else account
        self._file = file
        self._keys = keys
        self._names = Names()
        self._rows = [Rows(keys, self._names) for _ in range(BUFFERS)]
        self._turn = 0
        self._is_filled = False
        self._buffers = [bytearray(_LEAST) for _ in range(BUFFERS)]
        self._rest: bytes | memoryview = b""
        self._reader: CompiledPcap | CompiledPcapng | None = None

    @property
    def standing(self) -> object:
        """All that reading on depends on, when what was fed ends with a packet; else None."""
        return None if self._reader is None else self._reader.standing

    def place(self, size: int) -> memoryview:
        """Where the next `size` bytes of the file, or fewer, are to be put; then say `filled`."""
        if self._is_filled:
            self._turn = (self._turn + 1) % len(self._buffers)
            self._is_filled = False
        rest = self._rest
        if len(self._buffers[self._turn]) < len(rest) + size:
            self._buffers[self._turn] = bytearray(len(rest) + size)
        view = memoryview(self._buffers[self._turn])
        view[: len(rest)] = rest
        return view[len(rest) : len(rest) + size]

    def filled(self, count: int) -> Chunk:
        """The packets that are complete with these bytes; InputError where the file is no capture."""
        size = len(self._rest) + count
        return self._read(memoryview(self._buffers[self._turn])[:size], last=False)

    def take(self, piece: bytes) -> Chunk:
        """The same of bytes that lie elsewhere."""
        self.place(len(piece))[:] = piece
        return self.filled(len(piece))

    def end(self) -> Chunk:
        """The packets that only the end of the file makes sure of; InputError where there was no capture."""
        if self._reader is None:
            raise InputError("is empty" if not self._rest else "is not a packet capture")
        self.place(0)
        return self._read(memoryview(self._buffers[self._turn])[: len(self._rest)], last=True)

    def _read(self, data: memoryview, *, last: bool) -> Chunk:
        if self._keys.is_crowded:
            self._keys.start_over()
        self._is_filled = True
        rows = self._rows[self._turn]
        rows.begin(data)
        if self._reader is None and len(data) >= 4:
            self._reader = self._compiled(bytes(data[:4]), rows)
        if self._reader is None:
            self._rest = data
        else:
            self._rest = self._reader.take(data, rows, last=last)
        table = self._keys.arrays
        return Chunk(
            file=self._file,
            data=rows.data,
            packets=rows.packets[: rows.count],
            keys=table.keys,
            pairs=len(self._keys),
            epoch=self._keys.epoch,
            interfaces=self._names.names,
            strange=rows.strange,
        )

    def _compiled(self, magic: bytes, rows: Rows) -> CompiledPcap | CompiledPcapng:
        if magic in pcap.MAGICS:
            return CompiledPcap(file=self._file, account=self.account, rows=rows)
        if magic == pcapng.MAGIC:
            return CompiledPcapng(file=self._file, account=self.account, rows=rows)
        raise not_a_capture(magic)
