"""The engine: packets in, rows of tables out.

Give it packets in the order of the capture, take rows whenever it suits, say when it is over. It holds the state of
the connections that are open in the capture, nothing of those that are over.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from netdiag.traffic.engine.assemble import Answer, Asked, Context, exchange_row
from netdiag.traffic.engine.assembly import Assembly
from netdiag.traffic.engine.bodies import Bodies
from netdiag.traffic.engine.bodies.facts import Facts
from netdiag.traffic.engine.bodies.payloads import Unread
from netdiag.traffic.engine.connection import Connection
from netdiag.traffic.engine.flows import Flows
from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.losses import Losses
from netdiag.traffic.engine.names import Names
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Packet, Segment, Undecoded, Unreachable
from netdiag.traffic.engine.pairing import Pairing
from netdiag.traffic.engine.payloads import KEEP_WHOLE, Payloads
from netdiag.traffic.engine.state import decode, encode, reading_state
from netdiag.traffic.rows import LossRow

Row = tuple[Any, ...]

_OTHER_UDP = Undecoded("not-tcp", "UDP", 0)


class Engine:
    """`files` are the names of the capture files, by the index that a packet carries."""

    def __init__(self, options: EngineOptions, files: Sequence[str]) -> None:
        self._options = options
        self._files = dict(enumerate(files))
        self.next_file = len(self._files)
        self._losses = Losses()
        self._assembly = Assembly()
        self._bodies = Bodies(options.tables, lasting=options.lasting)
        self._rows: dict[str, list[Row]] = {name: [] for name in options.tables}
        self._flows = Flows(self._open, self._close, options.max_connections)
        self._class, self._classes = options.flow_class
        self._payloads = Payloads(options.topics) if "records" in options.tables else None
        # What belongs to no connection is counted by the first engine only.
        self._counts_strays = self._class == 0
        self._names = Names() if self._counts_strays and "names" in options.tables else None

    def feed(self, packet: Packet) -> None:
        """Take the next packet."""
        decoded = decode_packet(packet)
        if isinstance(decoded, Segment):
            if not self._options.ports or self._has_port(decoded):
                self._flows.push(decoded)
        elif isinstance(decoded, Undecoded):
            self.lose(packet.file, decoded, packet.time)
        elif isinstance(decoded, Unreachable):
            self._flows.unreachable(decoded)
        elif self._names is None or not self._names.push(decoded):
            self.lose(packet.file, _OTHER_UDP._replace(bytes=packet.length), packet.time)

    def lose(self, file: int, lost: Undecoded, time: int | None = None) -> None:
        """Count what belongs to no connection, such as damage of the file."""
        if self._counts_strays:
            name = self._files[file]
            self._losses.add(file=name, kind=lost.kind, bytes=lost.bytes, time=time, detail=lost.detail)

    def dropped(self, file: int, packets: int) -> None:
        """Count packets that whoever captured says were dropped; nobody knows their bytes."""
        if self._counts_strays and packets:
            self._losses.add(file=self._files[file], kind="dropped", bytes=0, times=packets, detail="while capturing")

    def add_file(self, name: str) -> int:
        """One more capture file; the index by which packets name it."""
        self._files[self.next_file] = name
        self.next_file += 1
        return self.next_file - 1

    def end_file(self, file: int) -> None:
        """A file has no more packets: what of it belongs to no connection is summed up."""
        if "losses" in self._rows:
            self._rows["losses"] += self._losses.drain(self._files[file])

    def save(self, open_files: Collection[int] = ()) -> bytes:
        """The state, from which `restored` goes on; to be called when all rows are drained.

        `open_files`: those with packets to come. The names of others are kept as long as rows to come may name them.
        """
        if any(self._rows.values()) or not self._options.lasting or self._payloads is not None:
            raise ValueError("the engine holds what is no part of its state")
        used = {0, *open_files}.union(*(connection.files() for connection in self._flows.live.values()))
        return encode(
            {
                "files": {file: name for file, name in self._files.items() if file in used},
                "next_file": self.next_file,
                "losses": self._losses,
                "assembly": self._assembly,
                "flows": self._flows.state(),
                "names": self._names,
            }
        )

    @classmethod
    def restored(cls, options: EngineOptions, state: bytes) -> "Engine":
        """The engine that was saved under the same options; DamagedState where these bytes are no state."""
        engine = cls(options, ())
        with reading_state():
            it = decode(state)
            engine._files, engine.next_file = it["files"], it["next_file"]
            engine._losses, engine._assembly, engine._names = it["losses"], it["assembly"], it["names"]
            engine._flows.go_on(it["flows"])
            for connection in engine._flows.live.values():
                if connection.pairing is not None:
                    connection.pairing.hand(partial(engine._emit, connection), engine._bodies)
        return engine

    def finish(self) -> None:
        """There are no more packets."""
        self._flows.finish()
        if self._names is not None:
            self._names.finish()
            self._rows["names"] += self._names.drain()
        if "losses" in self._rows:
            self._rows["losses"] += self._losses.drain()

    def drain(self) -> dict[str, list[Row]]:
        """The rows since the last time, by table."""
        taken = self._rows
        if self._payloads is not None:
            self._payloads.drained()
        if self._names is not None:
            taken["names"] += self._names.drain()
        self._rows = {name: [] for name in taken}
        return taken

    @property
    def topic_names(self) -> Mapping[str, str]:
        """The names of topics by their id, as far as the capture told them: also for rows that are gone by now."""
        return self._assembly.topic_ids.names

    def _has_port(self, segment: Segment) -> bool:
        ports = self._options.ports
        return segment.source_port in ports or segment.destination_port in ports

    def _open(self, number: int, segment: Segment) -> Connection:
        connection = Connection(number, segment, self._files[segment.file])
        if number % self._classes == self._class:
            emit = partial(self._emit, connection)
            if self._payloads is None:
                connection.listen(Pairing(emit, self._bodies))
            else:
                hear = partial(self._hear, connection, self._payloads)
                connection.listen(Pairing(emit, self._bodies, hear), KEEP_WHOLE)
        return connection

    def _close(self, connection: Connection) -> None:
        if not connection.is_listened_to:
            return
        connection.finish()
        if not self._is_wanted(connection.client, connection.broker, connection.client_id):
            return
        if "connections" in self._rows:
            self._rows["connections"].append(
                connection.row(self._options.places.name(connection.client, connection.broker))
            )
        if "losses" in self._rows:
            for direction, loss in connection.losses():
                row = LossRow(
                    file=connection.file,
                    time=loss.time,
                    connection=connection.number,
                    direction=direction,
                    kind=loss.kind,
                    bytes=loss.bytes,
                    times=loss.times,
                    detail=loss.detail,
                )
                self._rows["losses"].append(row)

    def _emit(self, connection: Connection, asked: Asked | None, answer: Answer | None, outcome: str) -> None:
        ids = self._assembly.topic_ids
        client, broker = connection.client, connection.broker
        named = self._options.places.name(client, broker)
        context = Context(connection.number, client, broker, self._files, ids, named)
        self._assembly.learn(context, asked, answer)
        client_id = connection.client_id if asked is None else asked.header.client_id
        if not self._is_wanted(client, broker, client_id):
            return
        row = exchange_row(context, asked, answer, outcome)
        if self._options.topics and not self._options.topics.intersection(row.topics or ()):
            return
        if "exchanges" in self._rows:
            self._rows["exchanges"].append(row)
        if asked is not None:
            self._assembly.add(self._rows, context, asked, answer)
            if self._payloads is not None and answer is not None and answer.facts is not None:
                self._keep_records(connection, self._payloads, asked, answer.facts)

    def _hear(self, connection: Connection, payloads: Payloads, asked: Asked) -> None:
        """A request with records has come; its response is not there yet."""
        if self._is_wanted(connection.client, connection.broker, asked.header.client_id):
            self._keep_records(connection, payloads, asked, asked.facts)

    def _keep_records(self, connection: Connection, payloads: Payloads, asked: Asked, facts: Facts) -> None:
        produced = facts is asked.facts
        time, ids = asked.message.end_time, self._assembly.topic_ids
        for each in payloads.rows(facts, time, connection.number, asked.header, ids, produced=produced):
            if not isinstance(each, Unread):
                self._rows["records"].append(each)
            elif "losses" in self._rows:
                self._losses.add(
                    file=connection.file,
                    kind=each.kind,
                    bytes=each.bytes,
                    time=time,
                    connection=connection.number,
                    direction="request" if produced else "response",
                    detail=each.detail,
                )

    def _is_wanted(self, client: str, broker: str, client_id: str | None) -> bool:
        options = self._options
        if options.clients and not options.clients.intersection((client_id or "", client, _host(client))):
            return False
        return not options.brokers or bool(options.brokers.intersection((broker, _host(broker))))


def _host(endpoint: str) -> str:
    return endpoint.rpartition(":")[0].strip("[]")
