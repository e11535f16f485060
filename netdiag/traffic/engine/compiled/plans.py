"""Write the program of one body: field by field what `bodies.plan` and `bodies.steps` make of it."""

from dataclasses import dataclass, replace

from netdiag.kafka.protocol import Direction, Field, Layout
from netdiag.kafka.protocol.table import SIZES
from netdiag.traffic.engine.bodies import roles
from netdiag.traffic.engine.bodies.facts import EndpointFacts, LeaderFacts, PartitionFacts
from netdiag.traffic.engine.bodies.roles import Row
from netdiag.traffic.engine.bodies.topics import join
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.assembling import KINDS, Code
from netdiag.traffic.engine.compiled.fields import column, endpoint, scalar
from netdiag.traffic.engine.compiled.layout import SCALARS, TEXTS
from netdiag.traffic.engine.compiled.store import ENDPOINTS, PARTITIONS

Action = tuple[int, int]


class Unfit(Exception):
    """A message that tells what no store has a place for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """What the fields of a struct need to know of the structs around them."""

    row: Row | None = None
    row_path: str = ""
    looped: bool = False
    least: int = 0


_LISTS = {PartitionFacts: "partitions", LeaderFacts: "leaders", EndpointFacts: "endpoints"}


class _Plan:
    """What the readers of messages that are kept and of those that are not have in common."""

    def __init__(self, code: Code, api_key: int, direction: Direction, wanted: frozenset[str]) -> None:
        self.code = code
        self.has_records = False
        self._api_key = api_key
        self._direction = direction
        self._wanted = wanted

    def message(self, layout: Layout) -> None:
        """The steps of the whole body."""
        self.struct(layout, "", _Scope())
        self.code.emit(do.END)

    def struct(self, layout: Layout, path: str, scope: _Scope) -> None:
        row = self.row(path)
        if row is not None and all(field.name != row.needs for field in layout.fields):
            row = None
        if row is not None:
            scope = replace(scope, row=row, row_path=path, least=layout.min_size)
            if row.kind is not None:
                self.code.emit(do.OPEN, PARTITIONS if row.kind is PartitionFacts else ENDPOINTS)
        for field in layout.fields:
            self.field(field, join(path, field.name), scope)
        if layout.flexible:
            self.tags(layout, path, scope)
        if row is not None and row.kind is not None:
            self.code.emit(do.CLOSE)

    def row(self, path: str) -> Row | None:
        """The row that a struct becomes."""
        raise NotImplementedError

    def field(self, field: Field, path: str, scope: _Scope) -> None:
        raise NotImplementedError

    def tags(self, layout: Layout, path: str, scope: _Scope) -> None:
        raise NotImplementedError

    def known_tags(self, known: dict[int, Field], path: str, scope: _Scope) -> None:
        """Tagged fields, of which some are known."""
        code = self.code
        code.varint(0)
        tags = code.emit(do.TAGS)
        with code.rounds():
            code.tag()
            choices = [code.emit(do.IF_TAG, tag) for tag in known]
            code.emit(do.OVER_TAG)
            jumps = []
            for choice, field in zip(choices, known.values(), strict=True):
                jumps.append(code.emit(do.JUMP))
                code.put(choice, 2, code.here())
                self.field(field, join(path, field.name), scope)
                code.emit(do.END_TAG)
            for jump in jumps:
                code.put(jump, 1, code.here())
        code.put(tags, 3, code.here())

    def tells(self, field: Field, path: str, scope: _Scope) -> list[Action]:
        """What is done with a field that holds a number or a text."""
        raise NotImplementedError

    def columns(self, path: str, scope: _Scope, text: bool) -> list[Action]:
        """What a field does for the row around it."""
        if scope.row is None:
            return []
        name = path[len(scope.row_path) + 1 :] if scope.row_path else path
        filled = scope.row.columns.get(name)
        if filled is None:
            return []
        if scope.row.kind is EndpointFacts:
            return [(do.PORT if name == scope.row.needs else do.ENDPOINT, endpoint(filled))]
        if name == scope.row.needs:
            return [(do.INDEX, 0)]
        if scope.row.kind is None or text:
            return []
        return [column(filled, PartitionFacts._fields)]

    def is_topic(self, field: Field, path: str) -> bool:
        """Whether a field holds the name or the id of a topic."""
        if field.array:
            return False
        if field.kind == "string":
            return roles.is_topic_name(self._api_key, path)
        return field.name == "topic_id"


class ReadPlan(_Plan):
    """The program for messages that are kept."""

    def __init__(self, code: Code, api_key: int, direction: Direction, wanted: frozenset[str]) -> None:
        super().__init__(code, api_key, direction, wanted)
        groups = "group_events" in wanted
        left_out = roles.unwanted(wanted)
        self._scalars = {path: name for path, name in roles.SCALARS[direction].items() if name not in left_out}
        self._lists = {path for path, name in roles.LISTS.get((api_key, direction), {}).items() if name not in left_out}
        self._pairs = {
            path: name
            for path, name in roles.PAIRS.get((api_key, direction), {}).items()
            if ("partitions" in wanted if name == "forgotten" else groups)
        }

    def struct(self, layout: Layout, path: str, scope: _Scope) -> None:
        named = [field for field in layout.fields if self.is_topic(field, join(path, field.name))]
        kinds = {field.kind for field in named}
        resource = [field for field in layout.fields if field.name in ("resource_type", "resource_name")]
        if len(kinds) > 1 or len(named) > 1 or (not named and len(resource) > 1):
            raise Unfit
        super().struct(layout, path, scope)

    def row(self, path: str) -> Row | None:
        row = roles.row_of(self._api_key, self._direction, path)
        if row is None:
            return None
        if row.kind is None or _LISTS[row.kind] in self._wanted:
            if row.kind is LeaderFacts or "coordinator_key" in row.columns.values():
                raise Unfit
            return row
        if not self._wanted.isdisjoint(("batches", "records")) and "records" in row.columns.values():
            return Row(None, {row.needs: "partition", "records": "records"}, row.needs)
        return None

    def tells(self, field: Field, path: str, scope: _Scope) -> list[Action]:
        last = path.rpartition(".")[2]
        actions: list[Action] = []
        if self._direction is Direction.RESPONSE and roles.is_error_code(last):
            actions.append((do.ERROR, 0))
        attribute = self._scalars.get(path)
        if attribute is not None:
            if attribute not in SCALARS or (attribute in TEXTS) != (field.kind == "string"):
                raise Unfit
            actions.append((do.FIRST if scope.looped else do.SCALAR, scalar(attribute)))
        if path in self._lists:
            raise Unfit
        if path == roles.GROUP_ARRAYS.get((self._api_key, self._direction)):
            actions.append((do.GROUP, 0))
        actions += self.columns(path, scope, field.kind == "string")
        if self.is_topic(field, path):
            actions.append((do.TOPIC, 0))
        if not actions and last.endswith(("topic_id", "resource_type", "resource_name")):
            actions.append((do.THROUGH, 0))
        return actions

    def field(self, field: Field, path: str, scope: _Scope) -> None:
        code = self.code
        if field.array:
            self._array(field, path, scope)
        elif field.layout is not None:
            self._inner(field, field.layout, path, scope)
        elif field.kind == "records" and roles.has_records(self._api_key, self._direction):
            self._records(field, scope)
        elif field.kind == "string":
            self._string(field, self.tells(field, path, scope))
        elif field.kind in ("bytes", "records"):
            if (self._api_key, self._direction, path) in roles.EMBEDDED and "group_events" in self._wanted:
                raise Unfit
            code.length(field)
            code.emit(do.OVER, int(field.compact))
        else:
            code.fixed(KINDS[field.kind], *self.tells(field, path, scope))

    def _inner(self, field: Field, layout: Layout, path: str, scope: _Scope) -> None:
        if not field.nullable:
            self.struct(layout, path, scope)
            return
        self.code.fixed(do.INT8, do.THROUGH)
        absent = self.code.emit(do.JUMP_BELOW)
        self.struct(layout, path, scope)
        self.code.put(absent, 1, self.code.here())

    def _string(self, field: Field, actions: list[Action]) -> None:
        code = self.code
        code.length(field)
        if not actions:
            code.emit(do.OVER, int(field.compact))
        elif len(actions) == 1:
            code.emit(do.TEXT, int(field.compact), *actions[0])
        elif sorted(actions)[0][0] == do.FIRST and (do.GROUP, 0) in actions:
            code.emit(do.TEXT, int(field.compact) | 2, *actions[0])
        else:
            raise Unfit

    def _records(self, field: Field, scope: _Scope) -> None:
        code = self.code
        self.has_records = True
        code.length(field)
        has_row = scope.row is not None and scope.row.kind is PartitionFacts
        code.emit(do.RECORDS, int(field.compact), scope.least, int(has_row))
        code.emit(do.ENTRIES, int("batches" in self._wanted))

    def _array(self, field: Field, path: str, scope: _Scope) -> None:
        code = self.code
        tells_count = scope.row is not None and self.columns(f"{path}#", scope, text=False)
        if tells_count or path in self._lists:
            raise Unfit
        code.length(field)
        if field.layout is not None:
            self._structs(field, field.layout, path, scope)
        elif field.kind == "string":
            first = self._direction is Direction.REQUEST and (self._api_key, path) in roles.FIRST_OF
            if first or roles.is_topic_name(self._api_key, path):
                raise Unfit
            array = code.emit(do.ARRAY, int(field.compact), field.min_size)
            with code.rounds():
                code.length(replace(field, array=False))
                code.emit(do.OVER, int(field.compact))
            code.put(array, 3, code.here())
        else:
            self._numbers(field, path, scope)

    def _structs(self, field: Field, layout: Layout, path: str, scope: _Scope) -> None:
        code = self.code
        array = code.emit(do.ARRAY, int(field.compact), field.min_size)
        with code.rounds() as begin:
            self.struct(layout, path, replace(scope, looped=True))
            over = code.is_skipping(begin)
        if over:
            code.cut_back(begin)
            code.put(array, 1, int(field.compact) | 2)
            code.emit(do.MANY, over)
        code.put(array, 3, code.here())

    def _numbers(self, field: Field, path: str, scope: _Scope) -> None:
        """An array of numbers: partitions, or of no interest."""
        code = self.code
        row = self.row(path)
        pair = self._pairs.get(path)
        if pair not in (None, "forgotten"):
            raise Unfit
        array = code.emit(do.ARRAY, int(field.compact) | 2, field.min_size)
        if row is not None:
            code.emit(do.NUMBERS, 0, do.ROW)
        elif pair is not None:
            code.emit(do.NUMBERS, 0, do.FORGOTTEN)
        else:
            actions = self.columns(path, scope, text=False)
            if actions:
                code.fixed(do.INT64, *actions)
            code.emit(do.MANY, field.min_size, 8 if actions else 0)
        code.put(array, 3, code.here())

    def tags(self, layout: Layout, path: str, scope: _Scope) -> None:
        known = {
            tag: field for tag, field in layout.tagged.items() if self._wants(field, join(path, field.name), scope)
        }
        self.known_tags(known, path, scope)

    def _wants(self, field: Field, path: str, scope: _Scope) -> bool:
        """Whether a tagged field, or one inside it, tells something."""
        if self.row(path) is not None or path in self._scalars or self.columns(path, scope, text=False):
            return True
        if self._direction is Direction.RESPONSE and roles.is_error_code(field.name):
            return True
        inside = () if field.layout is None else field.layout.fields
        return any(self._wants(each, join(path, each.name), scope) for each in inside)


class WalkPlan(_Plan):
    """The program for messages that are too large to be kept: each field is read, and by itself."""

    def message(self, layout: Layout) -> None:
        """The steps of the whole body."""
        self.code.flush()
        self.code.alone = True
        super().message(layout)
        self.code.flush()
        self.code.alone = False

    def row(self, path: str) -> Row | None:
        row = roles.row_of(self._api_key, self._direction, path)
        if row is None or row.kind is None or _LISTS[row.kind] in self._wanted:
            return row
        return Row(None, {row.needs: "partition"}, row.needs) if row.kind is PartitionFacts else None

    def tells(self, field: Field, path: str, scope: _Scope) -> list[Action]:
        actions: list[Action] = []
        attribute = roles.SCALARS[self._direction].get(path)
        if attribute is not None:
            actions.append((do.SCALAR, scalar(attribute)))
        if self._direction is Direction.RESPONSE and roles.is_error_code(path.rpartition(".")[2]):
            actions.append((do.ERROR, 0))
        if self.is_topic(field, path):
            actions.append((do.TOPIC, 0))
        return actions + self.columns(path, scope, field.kind == "string")

    def field(self, field: Field, path: str, scope: _Scope) -> None:
        code = self.code
        if field.array:
            self._array(field, path, scope)
        elif field.layout is not None:
            absent = None
            if field.nullable:
                code.fixed(do.INT8, do.THROUGH)
                absent = code.emit(do.JUMP_BELOW)
            self.struct(field.layout, path, scope)
            if absent is not None:
                code.put(absent, 1, code.here())
        elif field.kind == "records":
            code.length(field)
            has_row = scope.row is not None and scope.row.kind is PartitionFacts
            code.emit(do.RECORDS, int(field.compact), scope.least, int(has_row))
            code.emit(do.ENTRIES, int("batches" in self._wanted))
        elif field.kind == "bytes":
            code.length(field)
            code.emit(do.OVER, int(field.compact))
        elif field.kind == "string":
            actions = self.tells(field, path, scope) or [(do.THROUGH, 0)]
            if len(actions) > 1:
                raise Unfit
            code.length(field)
            code.emit(do.TEXT, int(field.compact), *actions[0])
        else:
            code.fixed(KINDS[field.kind], *self.tells(field, path, scope))

    def _array(self, field: Field, path: str, scope: _Scope) -> None:
        code = self.code
        code.length(field)
        if field.layout is None and field.kind not in SIZES:
            raise Unfit
        array = code.emit(do.ARRAY, int(field.compact) | (2 if field.layout is None else 0), field.min_size)
        if field.layout is None:
            code.emit(do.MANY, field.min_size)
        else:
            with code.rounds():
                self.struct(field.layout, path, replace(scope, looped=True))
        code.put(array, 3, code.here())

    def tags(self, layout: Layout, path: str, scope: _Scope) -> None:
        self.known_tags(layout.tagged, path, scope)
