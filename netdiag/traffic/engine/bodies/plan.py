"""Decide, field by field of a layout, what a message tells, and have the source of its reader written.

A message of a capture is read once and most of its fields are not wanted, so walking the layout each time costs more
than the reading does. The source is made of our own table and `roles` alone, never of what a capture holds. `walk` is
the other reader, for messages too large to keep; tests hold both against the generic one of `kafka.protocol`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from struct import Struct
from typing import Any

from netdiag.kafka.protocol import Direction, Field, Layout
from netdiag.traffic.engine.bodies import roles
from netdiag.traffic.engine.bodies.facts import EndpointFacts, LeaderFacts, PartitionFacts
from netdiag.traffic.engine.bodies.roles import Row
from netdiag.traffic.engine.bodies.source import CODES, Source
from netdiag.traffic.engine.bodies.topics import join, name_of, told_topic

Reader = Callable[[bytes, int, int, Any], int]

_LISTS: dict[type, str] = {PartitionFacts: "partitions", LeaderFacts: "leaders", EndpointFacts: "endpoints"}
_SUMMARY = ("records", "last_offset", "max_timestamp")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """What the fields of a struct need to know of the structs around them; names are those of the source."""

    row: Row | None = None
    row_path: str = ""
    topic: str = "None"
    topic_name: str = "None"
    topic_id: str = "None"
    group: str = "None"
    partition: str = "None"
    looped: bool = False
    least: int = 0


class Plan:
    """The source of the reader of one message, for the tables that are wanted."""

    def __init__(self, api_key: int, direction: Direction, wanted: frozenset[str], *, cut: bool) -> None:
        self.source = Source(cut=cut)
        self._api_key = api_key
        self._direction = direction
        self._wanted = wanted
        self._cut = cut
        groups = "group_events" in wanted
        left_out = roles.unwanted(wanted)
        gathered = roles.LISTS.get((api_key, direction), {})
        pairs = roles.PAIRS.get((api_key, direction), {})
        self._scalars = {path: name for path, name in roles.SCALARS[direction].items() if name not in left_out}
        self._strings = {path: name for path, name in gathered.items() if name not in left_out}
        self._pairs = {
            path: name for path, name in pairs.items() if ("partitions" in wanted if name == "forgotten" else groups)
        }
        self._after: dict[str, list[str]] = {}

    def text(self, layout: Layout) -> str:
        """The source."""
        self._struct(layout, "", _Scope())
        self.source.take("o")
        body = "\n".join(self.source.lines)
        head = ["def read(b, n, d, f):", "    o = 0"]
        if "summarise(" in body:
            head.append("    f.records = f.record_bytes = 0")
        for name in ("topics", "names", "partitions", "batches", "pieces", "leaders", "endpoints"):
            if f" {name}.append(" in body or f", {name})" in body:
                head.append(f"    {name} = f.{name} = []")
        return "\n".join((*head, body, "    return o", ""))

    # Structs.

    def _struct(self, layout: Layout, path: str, scope: _Scope) -> None:
        row = self._row(path)
        if row is not None and all(field.name != row.needs for field in layout.fields):
            row = None
        if row is not None:
            scope = replace(scope, row=row, row_path=path, least=layout.min_size)
            self._begin_row(row, layout, scope)
        scope = self._topic_scope(layout, path, scope)
        for field in layout.fields:
            self._field(field, join(path, field.name), scope)
            scope = self._known(join(path, field.name), scope)
        if layout.flexible:
            self._tags(layout, path, scope)
        if row is not None:
            self._end_row(row, layout, scope)

    def _row(self, path: str) -> Row | None:
        """The row that a struct becomes; one that is not wanted for itself may be needed for its batches."""
        row = roles.row_of(self._api_key, self._direction, path)
        if row is None or row.kind is None or _LISTS[row.kind] in self._wanted:
            return row
        if not self._wanted.isdisjoint(("batches", "records")) and "records" in row.columns.values():
            return Row(None, {row.needs: "partition", "records": "records"}, row.needs)
        return None

    def _begin_row(self, row: Row, layout: Layout, scope: _Scope) -> None:
        columns = _present(row, layout)
        optional = [
            name_of(join(scope.row_path, path)) for path in columns if "." in path or path == "old_style_offsets"
        ]
        if row.kind is not None and self._cut:
            filled = self._context(row, scope)
            values = ", ".join(filled.get(column, "None") for column in row.kind._fields)
            self.source.line(f"row = [{values}]")
        elif optional:
            self.source.line(f"{' = '.join(optional)} = None")

    def _end_row(self, row: Row, layout: Layout, scope: _Scope) -> None:
        if row.kind is None or self._cut:
            return
        values = self._context(row, scope)
        for path, column in _present(row, layout).items():
            name = name_of(join(scope.row_path, path))
            if column == "records":
                values |= {each: f"{name}_{each}" for each in (*_SUMMARY, "record_bytes")}
            else:
                values[column] = f"{name}_count" if path.endswith("#") else name
        listed = ", ".join(values.get(column, "None") for column in row.kind._fields)
        self.source.line(f"{_LISTS[row.kind]}.append(new({row.kind.__name__}, ({listed})))")

    def _context(self, row: Row, scope: _Scope) -> dict[str, str]:
        if row.kind is PartitionFacts:
            return {"topic": scope.topic, "group": scope.group}
        if row.kind is LeaderFacts:
            return {"topic": scope.topic_name, "topic_id": scope.topic_id}
        return {}

    def _fill(self, scope: _Scope, column: str, name: str) -> list[str]:
        """The lines that put a column into the row of a message that was cut."""
        row = scope.row
        if row is None or row.kind is None or not self._cut:
            return []
        lines = [f"row[{row.kind._fields.index(column)}] = {name}"]
        if column == row.columns[row.needs]:
            lines.append(f"{_LISTS[row.kind]}.append(row)")
        return lines

    # Topics.

    def _topic_scope(self, layout: Layout, path: str, scope: _Scope) -> _Scope:
        """The topic that the rows inside a struct belong to; says what follows its fields, too."""
        told = told_topic(self._api_key, layout, path)
        if told is None:
            return scope
        self._after |= told.after
        if told.last and self._tells_leaders(path):
            error = name_of(join(path, "error_code"))
            shown = f"({told.name or None}, {told.number or None}, None, None, None, None, None, {error})"
            self._after[told.last] += [f"if {error}:", f"    leaders.append(new(LeaderFacts, {shown}))"]
        if not told.last:
            return scope
        topic = f"({told.name} or {told.number})" if told.name and told.number else told.name or told.number
        return replace(scope, topic=topic, topic_name=told.name or "None", topic_id=told.number or "None")

    def _tells_leaders(self, path: str) -> bool:
        """Whether the struct is a topic of a response that tells leaders."""
        row = roles.row_of(self._api_key, self._direction, join(path, "partitions"))
        return row is not None and row.kind is LeaderFacts and "leaders" in self._wanted

    def _known(self, path: str, scope: _Scope) -> _Scope:
        """What the fields that follow may build on, now that this one was read."""
        if path == roles.GROUP_ARRAYS.get((self._api_key, self._direction)):
            return replace(scope, group=name_of(path))
        if scope.row is not None and path == join(scope.row_path, scope.row.needs):
            return replace(scope, partition=name_of(path))
        return scope

    # Fields.

    def _field(self, field: Field, path: str, scope: _Scope) -> None:
        if field.array:
            self._array(field, path, scope)
        elif field.layout is not None:
            self._inner(field, field.layout, path, scope)
        elif field.kind == "records" and roles.has_records(self._api_key, self._direction):
            self._records(field, path, scope)
        elif field.kind == "string":
            self._string(field, path, scope)
        elif field.kind in ("bytes", "records"):
            self._bytes(field, path)
        else:
            name, then = name_of(path), self._tells(path, scope)
            self.source.fixed(CODES[field.kind], name if then or self._needed(path, scope) else "", then)

    def _tells(self, path: str, scope: _Scope) -> list[str]:
        """The lines that follow a field that was read."""
        name, last = name_of(path), path.rpartition(".")[2]
        lines: list[str] = []
        if self._direction is Direction.RESPONSE and roles.is_error_code(last):
            lines += ["if not f.error_code:", f"    f.error_code = {name}"]
        attribute = self._scalars.get(path)
        if attribute is not None:
            first = scope.looped
            lines += [f"if f.{attribute} is None:"] if first else []
            lines += [f"{'    ' if first else ''}f.{attribute} = {name}"]
        if path in self._strings:
            gathered = f"f.{self._strings[path]}"
            lines += [f"if {name} is not None:"]
            lines += [f"    {gathered}.append({name})" if scope.looped else f"    {gathered} = [{name}]"]
        column = self._column(path, scope)
        if column is not None:
            lines += self._fill(scope, column, name)
        return lines + self._after.get(path, [])

    def _column(self, path: str, scope: _Scope) -> str | None:
        """The column of the row around it that a field fills."""
        if scope.row is None:
            return None
        return scope.row.columns.get(path[len(scope.row_path) + 1 :] if scope.row_path else path)

    def _needed(self, path: str, scope: _Scope) -> bool:
        """Whether something further on builds on a field."""
        if path == roles.GROUP_ARRAYS.get((self._api_key, self._direction)):
            return True
        return self._column(path, scope) is not None or path.endswith(("topic_id", "resource_type", "resource_name"))

    def _inner(self, field: Field, layout: Layout, path: str, scope: _Scope) -> None:
        if not field.nullable:
            self._struct(layout, path, scope)
            return
        present = f"{name_of(path)}_present"
        self.source.fixed("b", present)
        with self.source.block(f"if {present} >= 0:"):
            self._struct(layout, path, scope)

    def _string(self, field: Field, path: str, scope: _Scope) -> None:
        name, then = name_of(path), self._tells(path, scope)
        length = f"{name}_length"
        self.source.length(field, length)
        if not then and not self._needed(path, scope):
            self.source.step_over(field, length)
            return
        with self.source.block(f"if {length} >= 0:"):
            self._text(name, length)
        self.source.null(field, length)
        self.source.line("else:", f"    {name} = None")
        self.source.line(*then)

    def _text(self, name: str, length: str) -> None:
        """Read as many bytes as a length says as text."""
        self.source.line(f"e = o + {length}")
        self.source.take("e")
        self.source.line(f'{name} = b[o:e].decode("utf-8", "replace")', "o = e")

    def _bytes(self, field: Field, path: str) -> None:
        length = f"{name_of(path)}_length"
        self.source.length(field, length)
        embedded = roles.EMBEDDED.get((self._api_key, self._direction, path))
        if embedded is None or "group_events" not in self._wanted:
            self.source.step_over(field, length)
            return
        with self.source.block(f"if {length} >= 0:"):
            self.source.line(f"e = o + {length}", f"{embedded}_of(f, b, o, e, n)")
            self.source.take("e")
            self.source.line("o = e")
        self.source.null(field, length)

    def _records(self, field: Field, path: str, scope: _Scope) -> None:
        """The records of a partition: what is told of them is known before their last byte is there."""
        name = name_of(path)
        size = f"{name}_record_bytes"
        summary = [f"{name}_{each}" for each in _SUMMARY]
        kept = "batches" if "batches" in self._wanted else "None"
        self.source.length(field, size)
        with self.source.block(f"if {size} > 0:"):
            self.source.line(f"e = o + {size}", f"f.record_bytes += {size}")
            self.source.line(*self._fill(scope, "record_bytes", size))
            call = f"summarise(b, o, e, n, {scope.topic}, {scope.partition}, {kept})"
            self.source.line(f"{', '.join(summary)} = {call}")
            if "records" in self._wanted:
                self.source.line(f"pieces.append(({scope.topic}, {scope.partition}, b[o:e], {size}))")
            self.source.line(f"if {summary[0]} is None:", "    f.records = None")
            self.source.line("elif f.records is not None:", f"    f.records += {summary[0]}")
            for column, each in zip(_SUMMARY, summary, strict=True):
                self.source.line(*self._fill(scope, column, each))
            if self._cut:
                # less follows than another partition takes: all records were seen, wherever the bytes end
                self.source.line(f"if d - e < {scope.least}:", "    f.is_counted = True")
            self.source.take("e")
            self.source.line("o = e")
        self.source.null(field, size)
        self.source.line("else:", f"    {' = '.join((size, summary[0]))} = 0", f"    {' = '.join(summary[1:])} = None")
        for column in ("record_bytes", "records"):
            self.source.line(*(f"    {line}" for line in self._fill(scope, column, "0")))

    # Arrays.

    def _array(self, field: Field, path: str, scope: _Scope) -> None:
        count = f"{name_of(path)}_count"
        self.source.length(field, count)
        self.source.line(*self._tells_count(path, count, scope))
        if not scope.looped:
            for name in {
                name for inner, name in (self._strings | self._pairs).items() if f"{inner}.".startswith(f"{path}.")
            }:
                self.source.line(f"if {count} >= 0:", f"    f.{name} = []")
        with self.source.block(f"if {count} > 0:"):
            self.source.line(f"if {count} * {field.min_size} > d - o:", "    malformed()")
            inside = replace(scope, looped=True)
            if field.layout is not None:
                with self.source.loop(count):
                    self._struct(field.layout, path, inside)
            elif field.kind == "string":
                self._strings_of(field, path, count, scope)
            else:
                self._numbers(field, path, count, inside)
        self.source.null(field, count)

    def _tells_count(self, path: str, count: str, scope: _Scope) -> list[str]:
        column = self._column(f"{path}#", scope)
        return [] if column is None else self._fill(scope, column, count)

    def _strings_of(self, field: Field, path: str, count: str, scope: _Scope) -> None:
        name = name_of(path)
        then = []
        if path in self._strings:
            then.append(f"f.{self._strings[path]}.append({name})")
        if roles.is_topic_name(self._api_key, path):
            then.append(f"topics.append({name})")
        first = roles.FIRST_OF.get((self._api_key, path)) if self._direction is Direction.REQUEST else None
        if first is not None:
            then += [f"if f.{first} is None:", f"    f.{first} = {name}"]
        with self.source.loop(count):
            self.source.length(replace(field, array=False), f"{name}_length")
            if not then:
                self.source.step_over(field, f"{name}_length")
            else:
                with self.source.block(f"if {name}_length >= 0:"):
                    self._text(name, f"{name}_length")
                    self.source.line(*then)
                self.source.null(replace(field, array=False), f"{name}_length")

    def _numbers(self, field: Field, path: str, count: str, scope: _Scope) -> None:
        """An array of numbers: partitions, or of no interest."""
        row, name, lines = self._row(path), name_of(path), []
        if row is not None:
            shown = ["None"] * len(PartitionFacts._fields)
            shown[:3] = [scope.topic, name, scope.group]
            lines.append(f"partitions.append(new(PartitionFacts, ({', '.join(shown)})))")
        if path in self._pairs:
            lines.append(f"f.{self._pairs[path]}.append(({scope.topic}, {name}))")
        if lines:
            with self.source.block(f"for {name} in int32s(b, o, {count}, n):"):
                self.source.line(*lines)
        elif self._column(path, scope) is not None:
            self.source.readers["u_q"] = Struct(">q").unpack_from
            self.source.line(f"({name},) = u_q(b, o)", *self._fill(scope, self._column(path, scope) or "", name))
        self.source.line(f"o += {count} * {field.min_size}")

    # Tagged fields.

    def _tags(self, layout: Layout, path: str, scope: _Scope) -> None:
        known = {
            tag: field for tag, field in layout.tagged.items() if self._wants(field, join(path, field.name), scope)
        }
        prefix = name_of(path) + "_tag"
        self.source.fixed("B", f"{prefix}s")
        if not known:
            self.source.line(f"if {prefix}s:", "    o = behind_tags(b, o - 1, d)")
            return
        with self.source.block(f"if {prefix}s:"):
            self.source.line(f"if {prefix}s > 127:", f"    {prefix}s, o = varint(b, o, {prefix}s)")
            self.source.line(f"if {prefix}s * 2 > d - o:", "    malformed()")
            with self.source.loop(f"{prefix}s"):
                self.source.line(f"{prefix}, o = number(b, o)", f"{prefix}_end, o = number(b, o)", f"{prefix}_end += o")
                self.source.line(f"if {prefix}_end > d:", "    malformed()")
                for tag, field in known.items():
                    with self.source.block(f"if {prefix} == {tag}:"):
                        self._field(field, join(path, field.name), scope)
                        self.source.line(f"if o != {prefix}_end:", "    malformed()", "continue")
                self.source.line(f"o = {prefix}_end")

    def _wants(self, field: Field, path: str, scope: _Scope) -> bool:
        """Whether a tagged field, or one inside it, tells something."""
        if self._row(path) is not None or path in self._scalars or self._column(path, scope) is not None:
            return True
        if self._direction is Direction.RESPONSE and roles.is_error_code(field.name):
            return True
        inside = () if field.layout is None else field.layout.fields
        return any(self._wants(each, join(path, each.name), scope) for each in inside)


def _present(row: Row, layout: Layout) -> dict[str, str]:
    """The columns of a row that this version of the message has, by path."""
    paths = set()
    for field in (*layout.fields, *layout.tagged.values()):
        paths |= {field.name, f"{field.name}#"}
        if field.layout is not None:
            paths |= {f"{field.name}.{each.name}" for each in field.layout.fields}
    return {path: column for path, column in row.columns.items() if path in paths}
