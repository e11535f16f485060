"""Put the steps of a program behind one another, fields of fixed size in runs that are gathered as one."""

from collections.abc import Iterator
from contextlib import contextmanager

from netdiag.kafka.protocol import Field
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.machines import CARRY, DEPTH

KINDS = {
    "bool": do.BOOL,
    "int8": do.INT8,
    "int16": do.INT16,
    "uint16": do.UINT16,
    "int32": do.INT32,
    "uint32": do.UINT32,
    "int64": do.INT64,
    "float64": do.OTHER8,
    "uuid": do.UUID,
}
_ABSENT = -1


class TooMuch(Exception):
    """More than the machine can hold."""


class Code:
    """Steps from number `start` on. `alone`: each field is gathered by itself, and none is stepped over."""

    def __init__(self, start: int, *, alone: bool = False) -> None:
        self.alone = alone
        self._start = start
        self._steps: list[list[int]] = []
        self._run: list[tuple[int, int, list[tuple[int, int]]]] = []
        self._depth = 0

    def here(self) -> int:
        """The number of the next step."""
        self.flush()
        return self._start + len(self._steps)

    def emit(self, step: int, a: int = 0, b: int = 0, c: int = 0) -> int:
        """A step, behind the fields that wait; gives its number."""
        self.flush()
        self._steps.append([step, a, b, c])
        return self._start + len(self._steps) - 1

    def put(self, number: int, operand: int, value: int) -> None:
        """Say later what an operand is."""
        self._steps[number - self._start][operand] = value

    def fixed(self, kind: int, *actions: int | tuple[int, int]) -> None:
        """A field of fixed size and what is done with it; with nothing to do it is stepped over."""
        done = [action if isinstance(action, tuple) else (action, 0) for action in actions]
        self._run.append((kind, do.KIND_SIZES[kind], done))
        if self.alone:
            self.flush()

    def length(self, field: Field) -> None:
        """A length or a count."""
        if field.compact:
            self.varint(1)
        else:
            self.fixed(do.INT16 if field.kind == "string" and not field.array else do.INT32, do.LENGTH)
            self.flush()

    def varint(self, less: int) -> None:
        """A varint, of which something is taken off."""
        self.fixed(do.UINT8, do.LENGTH)
        self.emit(do.VARINT, less)

    def tag(self) -> None:
        """Number and size of a tagged field."""
        self.flush()
        for number in range(2):
            self.varint(0)
            self.emit(do.TAG, number)

    @contextmanager
    def rounds(self) -> Iterator[int]:
        """What is written inside is repeated; gives where it begins."""
        self._depth += 1
        if self._depth > DEPTH:
            raise TooMuch
        begin = self.here()
        yield begin
        self.emit(do.AGAIN, begin)
        self._depth -= 1

    def is_skipping(self, begin: int) -> int:
        """How many bytes the only step since `begin` goes over; 0 where there is another one."""
        self.flush()
        steps = self._steps[begin - self._start :]
        return steps[0][1] if len(steps) == 1 and steps[0][0] == do.SKIP else 0

    def cut_back(self, begin: int) -> None:
        """Forget the steps since `begin`."""
        del self._steps[begin - self._start :]

    def flush(self) -> None:
        """Write the fields that wait."""
        if not self._run:
            return
        run, self._run = self._run, []
        size = sum(each for _, each, _ in run)
        if not self.alone and not any(actions for _, _, actions in run):
            self._steps.append([do.SKIP, size, 0, 0])
            return
        if size > CARRY:
            raise TooMuch
        self._steps.append([do.NEED, size, 0, 0])
        over = 0
        for kind, each, actions in run:
            if not actions and not self.alone:
                over += each
                continue
            if over:
                self._steps.append([do.STEP, over, 0, 0])
                over = 0
            first, *others = actions or [(do.NOTHING, 0)]
            self._steps.append([do.READ, kind, *first])
            self._steps.extend([do.DO, 0, *other] for other in others)
        if over:
            self._steps.append([do.STEP, over, 0, 0])

    def finished(self) -> list[int]:
        """All steps."""
        self.flush()
        return [number for step in self._steps for number in step]
