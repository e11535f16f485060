"""YAML text to a Playbook, strictly; the first error is an InputError with the file, the line and a hint."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NoReturn, TypeVar

from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.compose.yaml_tree import AliasNode, MappingNode, Node, ScalarNode, SequenceNode, load_nodes
from netdiag.errors import InputError
from netdiag.playbook.document import (
    ACTIONS,
    VERSION,
    ActionName,
    Conclusion,
    Condition,
    Confidence,
    Either,
    Every,
    No,
    Playbook,
    Step,
    Symptom,
    There,
    Variable,
    is_comparison,
)
from netdiag.playbook.pattern import Malformed, Pattern, match, parse_pattern

LONGEST_TEXT = 4000
MOST_ITEMS = 200

T = TypeVar("T")


class Field:
    """A node of a file, and what it is called in messages."""

    def __init__(self, source: Source, node: Node, name: str) -> None:
        self.source = source
        self.node = node
        self.name = name

    def refuse(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise the error that this node is invalid."""
        span = self.source.char_span(self.node.start, self.node.start)
        where = f"{self.source.path}:{span.line}:{span.column}"
        raise InputError(f"{self.name} {message}", where=where, hint=hint)

    def text(self) -> str:
        """A text that is not empty; line breaks of the file are blanks."""
        node = self.node
        if isinstance(node, AliasNode):
            self.refuse("is an alias, which playbooks do not allow", hint="write the value itself")
        if not isinstance(node, ScalarNode) or not node.value.strip():
            self.refuse("must be a non-empty text")
        if len(node.value) > LONGEST_TEXT:
            self.refuse(f"is longer than {LONGEST_TEXT} characters")
        return " ".join(node.value.split())

    def literal(self) -> str:
        """A text as it is written, line breaks and all."""
        self.text()
        assert isinstance(self.node, ScalarNode)
        return self.node.value.strip()

    def number(self, least: int, most: int) -> int:
        """A whole number within bounds."""
        text = self.text()
        if not (text.isdigit() and text.isascii() and len(text) < 10 and least <= int(text) <= most):
            self.refuse(f"must be a number from {least} to {most}")
        return int(text)

    def items(self) -> Iterator["Field"]:
        """The items of a list; a text alone is a list of one."""
        node = self.node
        if isinstance(node, ScalarNode):
            yield self
            return
        if not isinstance(node, SequenceNode):
            self.refuse("must be a list")
        if len(node.items) > MOST_ITEMS:
            self.refuse(f"has more than {MOST_ITEMS} items")
        for number, item in enumerate(node.items, 1):
            yield Field(self.source, item, f"item {number} of {self.name}")

    def all(self, read: Callable[["Field"], T]) -> tuple[T, ...]:
        """The result of `read` for each item."""
        return tuple(read(item) for item in self.items())

    def mapping(self, known: tuple[str, ...] = (), needed: tuple[str, ...] = ()) -> Mapping[str, "Field"]:
        """The values by key; without known keys, all keys are allowed."""
        node = self.node
        if not isinstance(node, MappingNode):
            self.refuse("must be a mapping")
        if len(node.pairs) > MOST_ITEMS:
            self.refuse(f"has more than {MOST_ITEMS} keys")
        found: dict[str, Field] = {}
        for key, value in node.pairs:
            name = Field(self.source, key, f"a key of {self.name}").text()
            here = Field(self.source, key, f"'{name}'")
            if known and name not in known:
                here.refuse(f"is not a key of {self.name}", hint=f"the keys are {', '.join(known)}")
            if name in found:
                here.refuse(f"is twice in {self.name}")
            found[name] = Field(self.source, value, f"'{name}'")
        for name in needed:
            if name not in found:
                self.refuse(f"needs '{name}'")
        return found


MOST_BYTES = 65_536
GIVEN = ("files", "capture")
"""Variables that every run has, set or not."""

_TOP = ("playbook", "title", "means", "symptoms", "variables", "steps", "conclusions", "reading")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_REFERENCE = re.compile(r"\{([^{}]*)\}")
_DEEPEST = 6


def load(name: str, path: str, data: bytes) -> Playbook:
    """The playbook in the bytes of a file; `name` is its name, `path` the name of the file in messages."""
    if len(data) > MOST_BYTES:
        raise InputError(f"is larger than {MOST_BYTES} bytes, the limit for playbooks", where=path)
    source = Source(path, data)
    try:
        documents = load_nodes(source)
    except ComposeError as error:
        raise InputError(error.message, where=str(error).rpartition(f": {error.message}")[0] or path) from error
    if len(documents) != 1:
        raise InputError("must contain one document" if documents else "is empty", where=path)
    return _playbook(name, Field(source, documents[0], "a playbook"))


def _playbook(name: str, place: Field) -> Playbook:
    version = place.mapping().get("playbook")
    if version is None:
        place.refuse("needs 'playbook'", hint=f"begin with playbook: {VERSION}")
    if version.text() != str(VERSION):
        version.refuse(
            f"is {version.text()[:20]}, but this netdiag reads version {VERSION}", hint="use a newer netdiag"
        )
    if not _NAME.fullmatch(name):
        place.refuse("must be in a file whose name contains only lower-case letters, digits and hyphens")
    top = place.mapping(_TOP, ("title", "means", "symptoms", "steps", "conclusions"))
    symptoms = top["symptoms"].all(_symptom)
    holes = frozenset(hole for symptom in symptoms for hole in symptom.line.holes)
    variables = _variables(top.get("variables"), holes)
    steps = _steps(top["steps"], frozenset({*variables, *GIVEN}))
    names = frozenset({*variables, *GIVEN, *holes})
    return Playbook(
        name=name,
        title=top["title"].text(),
        means=top["means"].text(),
        symptoms=symptoms,
        variables=variables,
        steps=steps,
        conclusions=_conclusions(top["conclusions"], steps, names),
        reading=top["reading"].all(Field.text) if "reading" in top else (),
    )


def _symptom(place: Field) -> Symptom:
    said = place.mapping(("who", "line", "example", "often"), ("who", "line", "example"))
    pattern = _pattern(said["line"])
    example = said["example"].text()
    if match(pattern, example) is None:
        said["example"].refuse("does not match 'line'", hint="add a log line that it matches")
    often = said["often"].number(1, 1000) if "often" in said else 1
    return Symptom(who=said["who"].text(), line=pattern, example=example, often=often)


def _pattern(place: Field) -> Pattern:
    try:
        return parse_pattern(place.text())
    except Malformed as error:
        place.refuse(str(error))


def _variables(place: Field | None, holes: frozenset[str]) -> Mapping[str, Variable]:
    found: dict[str, Variable] = {}
    for name, value in {} if place is None else place.mapping().items():
        if not name.isidentifier() or name in GIVEN:
            value.refuse("is not a valid variable name" if name not in GIVEN else "is a variable that every run has")
        said = value.mapping(("about", "default"), ("about",))
        default = said.get("default")
        if default is not None:
            _check_references(default, default.text(), holes)
        found[name] = Variable(about=said["about"].text(), default=None if default is None else default.text())
    return found


def _steps(place: Field, names: frozenset[str]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for each in place.items():
        said = each.mapping(("id", "title", "action", "with", "when"), ("id", "title", "action"))
        action = said["action"].text()
        if action not in list(ActionName):
            said["action"].refuse(f"cannot be '{action[:40]}'", hint=f"the actions are {', '.join(ActionName)}")
        ids = [step.id for step in steps]
        step = Step(
            id=_new_id(said["id"], ids),
            title=said["title"].text(),
            action=ActionName(action),
            arguments=_arguments(each, said.get("with"), ActionName(action), names, steps),
            when=_condition(said["when"], steps, _DEEPEST) if "when" in said else None,
        )
        steps.append(step)
    if not steps:
        place.refuse("must not be empty")
    return tuple(steps)


def _arguments(
    step: Field, place: Field | None, action: ActionName, names: frozenset[str], before: Iterable[Step]
) -> Mapping[str, str]:
    known = ACTIONS[action].arguments
    said = {} if place is None else place.mapping(tuple(known))
    if said and not known:
        step.refuse(f"has 'with', but {action} takes no arguments")
    for name, argument in known.items():
        if argument.required and name not in said:
            step.refuse(f"needs the argument '{name}' of {action}")
        if argument.number and name in said:
            said[name].number(1, argument.most)
        if argument.step is not None and name in said:
            _check_step(said[name], argument.step, before)
    for value in said.values():
        _check_references(value, value.text(), names)
    return {name: value.text() for name, value in said.items()}


def _check_step(place: Field, action: ActionName, before: Iterable[Step]) -> None:
    if not any(step.id == place.text() and step.action is action for step in before):
        place.refuse(f"'{place.text()[:40]}' is not an earlier step with the action {action}")


def _conclusions(place: Field, steps: tuple[Step, ...], names: frozenset[str]) -> tuple[Conclusion, ...]:
    found: list[Conclusion] = []
    keys = ("id", "when", "confidence", "cause", "repair", "rules")
    for each in place.items():
        said = each.mapping(keys, keys[:-1])
        sure = said["confidence"].text()
        if sure not in list(Confidence):
            said["confidence"].refuse(f"cannot be '{sure[:40]}'", hint=f"use {', '.join(Confidence)}")
        for name in ("cause", "repair"):
            _check_references(said[name], said[name].text(), names)
        found.append(
            Conclusion(
                id=_new_id(said["id"], [one.id for one in found]),
                when=_condition(said["when"], steps, _DEEPEST),
                confidence=Confidence(sure),
                cause=said["cause"].text(),
                repair=said["repair"].text(),
                rules=said["rules"].all(Field.text) if "rules" in said else (),
            )
        )
    if not found:
        place.refuse("must not be empty")
    return tuple(found)


def _condition(place: Field, steps: Iterable[Step], deepest: int) -> Condition:
    if not deepest:
        place.refuse("is nested too deeply")
    said = place.mapping()
    if len(said) == 1 and set(said) <= {"all", "any", "none"}:
        [(word, inner)] = said.items()
        if word == "none":
            return No(part=_condition(inner, steps, deepest - 1))
        parts = inner.all(lambda each: _condition(each, steps, deepest - 1))
        if not parts:
            inner.refuse("must not be empty")
        return Every(parts=parts) if word == "all" else Either(parts=parts)
    said = place.mapping(("step", "of", "where", "at_least"), ("of",))
    step, of = said["step"].text() if "step" in said else "", said["of"].text()
    asked_of = [each for each in steps if not step or each.id == step]
    if step and not asked_of:
        said["step"].refuse(f"'{step}' is not an earlier step")
    fields = {name for each in asked_of for name in ACTIONS[each.action].gives.get(of, ())}
    if not fields:
        said["of"].refuse(f"'{of}' is not a result of {f'step {step!r}' if step else 'any step'}")
    where = said["where"].mapping(tuple(sorted(fields))) if "where" in said else {}
    return There(
        step=step,
        of=of,
        where={name: value.all(_value) for name, value in where.items()},
        at_least=said["at_least"].number(1, 1000) if "at_least" in said else 1,
    )


def _value(place: Field) -> str:
    text = place.text()
    if is_comparison(text):
        try:
            float(text.lstrip("<>="))
        except ValueError:
            place.refuse(f"'{text}' does not compare with a number")
    return text


def _new_id(place: Field, taken: Iterable[str]) -> str:
    text = place.text()
    if not _NAME.fullmatch(text):
        place.refuse(f"'{text[:40]}' must have only lower-case letters, digits and hyphens")
    if text in taken:
        place.refuse(f"'{text}' is already used")
    return text


def _check_references(place: Field, text: str, names: frozenset[str]) -> None:
    for name in _REFERENCE.findall(text):
        if name not in names:
            known = ", ".join(sorted(names)) or "none"
            place.refuse(f"names '{{{name}}}', which is not a variable", hint=f"the variables are {known}")
