"""A repair of one member, put together of steps that belong together: all of them can be made, or there is none.

Each step names what is to be written, not where: properties by their Kafka name, ports by their numbers. Steps
that come to lie at one place become one edit, in the order in which they were asked for.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Self

from netdiag.deployment.member import Broker, Declared, Member, PublishedPort
from netdiag.findings import Applicability, Edit
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.settings import Provenance


class Rewriting:
    """The steps so far; `edits` is their end."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self._edits: list[Edit] = []
        self._closing: list[Edit] = []
        self._failed = member.written is None

    def replace(self, source: Declared | None, start: int, end: int, text: str) -> Self:
        """Put `text` in the place of characters start..end of a value that somebody wrote."""
        edit = source.edit(start, end, text) if source is not None else None
        if source is None or edit is None:
            return self._step(None)
        quotes = source.quotes() if "," in text else None
        if quotes is not None and quotes[0].path == edit.path and quotes[0] not in self._edits:
            self._edits.insert(0, quotes[0])
            self._closing.append(quotes[1])
        return self._step(edit)

    def add_variable(self, name: str, value: str, beside: str | None = None) -> Self:
        """One variable more."""
        return self._step(self.member.written.add_variable(name, value, beside) if self.member.written else None)

    def rename_variable(self, name: str, new: str) -> Self:
        """Another name for a variable."""
        return self._step(self.member.written.rename_variable(name, new) if self.member.written else None)

    def remove_variable(self, name: str) -> Self:
        """One variable less."""
        return self._step(self.member.written.remove_variable(name) if self.member.written else None)

    def publish(self, published: int, target: int) -> Self:
        """One published port more."""
        return self._step(self.member.written.add_port(published, target) if self.member.written else None)

    def change_port(self, port: PublishedPort, *, published: int | None = None, target: int | None = None) -> Self:
        """Another number in a published port."""
        written = self.member.written
        return self._step(written.change_port(port, published=published, target=target) if written else None)

    def pin_port(self, port: PublishedPort, number: int) -> Self:
        """A given number in the place of any free one."""
        return self._step(self.member.written.pin_port(port, number) if self.member.written else None)

    def offer_everywhere(self, port: PublishedPort) -> Self:
        """A published port without its address of the docker host."""
        return self._step(self.member.written.offer_everywhere(port) if self.member.written else None)

    def edits(self, applicability: Applicability = Applicability.UNSAFE) -> tuple[Edit, ...]:
        """All steps as edits; none where one of them could not be made or two of them touch the same text."""
        if self._failed:
            return ()
        made: dict[tuple[str, int, int], Edit] = {}
        for edit in (*self._edits, *self._closing):
            key = (edit.path, edit.start, edit.end)
            earlier = made.get(key)
            if earlier is None:
                made[key] = replace(edit, applicability=applicability)
            elif edit.start == edit.end:
                made[key] = replace(earlier, replacement=earlier.replacement + edit.replacement)
            elif earlier.replacement != edit.replacement:
                return ()
        ordered = sorted(made.values(), key=lambda edit: (edit.path, edit.start, edit.end))
        for before, after in pairwise(ordered):
            if before.path == after.path and after.start < before.end:
                return ()
        return tuple(ordered)

    def _step(self, edit: Edit | None) -> Self:
        if edit is None:
            self._failed = True
        else:
            self._edits.append(edit)
        return self


class BrokerRewriting(Rewriting):
    """A rewriting of a broker, whose properties are variables of its image's spelling."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker.member)
        self.broker = broker

    def stretch(self, property_name: str, start: int, end: int, text: str) -> Self:
        """Put `text` in the place of characters start..end of a property that is written."""
        self.replace(self.broker.source_of(property_name), start, end, text)
        return self

    def append(self, property_name: str, item: str) -> Self:
        """One item more at the end of a comma list that is written as one."""
        if self.broker.config.mode is Mode.REDPANDA:
            self._failed = True
            return self
        value = self.broker.config.value(property_name) or ""
        end = len(value.rstrip().rstrip(",").rstrip())
        self.stretch(property_name, end, end, f",{item}" if end else item)
        return self

    def put(self, property_name: str, value: str, beside: str = "advertised.listeners") -> Self:
        """The whole value of a property, written anew where it is written, else beside another property.

        Redpanda has flags in the place of variables: there nothing can be put beside.
        """
        if self.broker.config.mode is Mode.REDPANDA:
            self._failed = True
            return self
        source = self.broker.source_of(property_name)
        if source is not None:
            self.replace(source, 0, len(source.value), value)
            return self
        near = self.broker.source_of(beside) or self.broker.source_of("listeners")
        name = variable_for(self.broker, property_name)
        if name is None or name in self.broker.declared:
            self._step(None)
        else:
            self.add_variable(name, value, near.variable if near else None)
        return self

    def drop(self, property_name: str) -> Self:
        """The variable of a property taken away."""
        source = self.broker.source_of(property_name)
        self.remove_variable(source.variable if source else "")
        return self


def variable_for(broker: Broker, property_name: str) -> str | None:
    """The variable that this broker's image turns into a property, spelled as its others are."""
    for setting in broker.config.settings.values():
        ending = setting.name.upper().replace(".", "_")
        variable = setting.variable if setting.provenance is Provenance.VARIABLE else None
        if variable is not None and variable.endswith(ending) and "-" not in ending:
            return variable.removesuffix(ending) + property_name.upper().replace(".", "_")
    return None
