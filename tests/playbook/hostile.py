"""Playbooks and bundles of somebody who means no good: made from good ones by a seeded hand, and some written out."""

import io
import random
import zipfile
from typing import Any

from ruamel.yaml import YAML

_DEEP = 3000
# What a value is replaced by: wrong types, other versions, much of something, what would be something elsewhere.
_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**70,
    1.5,
    float("inf"),
    "",
    " ",
    "x" * 5000,
    "\x1b[2J\x07",
    "{" * 50,
    "{host}{port}",
    "{...}" * 40,
    "(a+)+$",
    ".*" * 200,
    "*a" * 200,
    ">=",
    ">=nan",
    "<1e999",
    "shell",
    "../../etc/passwd",
    "\u202e\u0000\ufeff",
    [],
    {},
    [[]],
    [None] * 300,
    {"all": []},
    {"none": {"none": {"none": {"of": "findings"}}}},
    {"of": "findings", "where": {"rule": ["*"] * 300}},
    {str(number): number for number in range(300)},
)
# Documents that no mutation would find.
DOCUMENTS: dict[str, bytes] = {
    "a bomb of aliases": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(9)),
    "an alias of itself": b"playbook: 1\ntitle: &a [*a]\n",
    "merges without end": b"x: &x {<<: *x}\n",
    "lists in lists": b"[" * _DEEP,
    "mappings in mappings": b"{a: " * _DEEP,
    "blocks in blocks": b"\n".join(b" " * n + b"a:" for n in range(300)),
    "conditions in conditions": b"{none: " * _DEEP,
    "too large": b"#" + b"x" * 70_000,
    "many documents": b"---\na\n" * 5000,
    "a tag": b"!!python/object/apply:os.system ['true']\n",
    "another tag": b"playbook: !!binary AAAA\n",
    "directives": b"%YAML 9.9\n%TAG ! tag:x,2000:\n---\nplaybook: 1\n",
    "utf-16": "playbook: 1\n".encode("utf-16"),
    "no text": bytes(range(256)),
    "a zero": b"playbook: 1\0\n",
    "a key that is a list": b"? [a, b]\n: c\n",
    "the next version": b"playbook: 2\ntitle: from the future\nsteps: {}\n",
    "a version beyond all": b"playbook: 99999999999999999999999999999999999999\n",
    "a version that is none": b"playbook: [1]\n",
    "quotes without end": b'playbook: "1',
    "one long line": b"a: " + b"- " * 30_000,
    "many keys": b"".join(b"k%d: 1\n" % n for n in range(2500)),
}


def mutant(text: bytes, chance: random.Random) -> bytes:
    """A document with one to four things changed, in its bytes or in what it says."""
    return _of_bytes(text, chance) if chance.random() < 0.4 else _of_values(text, chance)


def zips(good: bytes) -> dict[str, bytes]:
    """Archives that are no bundles, or more than that; `good` is the document of a good one."""
    made = {
        "a bomb": _zip({"bundle.json": b" " * (40 << 20)}),
        "a bomb of brackets": _zip({"bundle.json": b"[" * (5 << 20)}),
        "a bomb beside it": _zip({"bundle.json": good, "x": b"\0" * (40 << 20)}),
        "paths that climb": _zip({"../../bundle.json": good, "/etc/passwd": b"x", "bundle.json": good}),
        "only paths that climb": _zip({"../bundle.json": good}),
        "no document": _zip({"bundle.jsn": good}),
        "a folder": _zip({"bundle.json/": b""}),
        "many members": _zip({f"{number}.json": b"" for number in range(3000)}),
        "a long number": _zip({"bundle.json": good.replace(b'"version": 1', b'"version": ' + b"1" * 100_000)}),
        "a number that is none": _zip({"bundle.json": good.replace(b'"seconds": 0.0', b'"seconds": NaN')}),
        "a number without end": _zip({"bundle.json": good.replace(b'"seconds": 0.0', b'"seconds": 1e999')}),
        "another version": _zip({"bundle.json": good.replace(b'"version": 1', b'"version": 7')}),
        "surrogates": _zip({"bundle.json": good.replace(b'"lines": [', b'"lines": ["\\ud800", ')}),
        "nothing": b"",
        "an empty archive": _zip({}),
    }
    whole = _zip({"bundle.json": good})
    made |= {f"cut at {share}": whole[: len(whole) * share // 10] for share in range(1, 10)}
    return made


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Bytes with a few of them changed, gone or doubled."""
    return _of_bytes(data, chance)


def _zip(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def _of_bytes(text: bytes, chance: random.Random) -> bytes:
    made = bytearray(text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(made)) if made else 0
        match chance.randrange(4):
            case 0:
                made[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del made[at : at + chance.randint(1, 60)]
            case 2:
                made[at:at] = made[at : at + chance.randint(1, 200)] * chance.randint(1, 4)
            case _:
                made[at:at] = chance.choice([b"{", b"[", b"*a", b"&a ", b"!!x ", b"\x00", b"<<: ", b"\t", b"\xff"])
    return bytes(made)


def _of_values(text: bytes, chance: random.Random) -> bytes:
    document = YAML(typ="safe", pure=True).load(text)
    for _ in range(chance.randint(1, 4)):
        _change(document, chance)
    out = io.BytesIO()
    YAML(typ="safe", pure=True).dump(document, out)
    return out.getvalue()


def _change(document: Any, chance: random.Random) -> None:
    """One value somewhere in a document: replaced, gone, doubled, put under another key."""
    here = document
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return
        key = chance.choice(keys)
        inner = here[key]
        if not (isinstance(inner, dict | list) and inner) or chance.random() < 0.15:
            break
        here = inner
    match chance.randrange(4):
        case 0 | 1:
            here[key] = chance.choice(_VALUES)
        case 2:
            del here[key]
        case _ if isinstance(here, dict):
            here[f"{key}{chance.choice(('s', '', ' ', '-'))}"] = here.pop(key)
        case _:
            here.extend(here[: 300 // len(here) + 1])
