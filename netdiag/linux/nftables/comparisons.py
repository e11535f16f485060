"""Conditions in the words of nft: what is loaded, an operator, a value."""

from collections.abc import Iterator

from netdiag.linux.nftables.datatypes import INTEGER, DataType, Name, flags_text, value_text
from netdiag.linux.nftables.header_fields import Field, field_beginning, field_within, fields_at
from netdiag.linux.nftables.loads import Load
from netdiag.linux.xtables.structs import prefix_length

_FLAG_KINDS = ("ct_state", "ct_status", "tcp_flag", "ct_label")
_ORDERED = {"==": "", "!=": "!= ", "<": "< ", "<=": "<= ", ">": "> ", ">=": ">= "}


def compared(load: Load, header: str, operator: str, value: bytes, names: Name) -> list[str]:
    """The conditions of one comparison; a load of several fields at once is several conditions."""
    if load.base:
        return [*_payload(load, header, operator, value, names)]
    if load.mask:
        return [_masked(load, operator, value, names)]
    if load.kind.kind == "string" and len(value) < load.size and b"\0" not in value and operator in ("==", "!="):
        words = value_text(load.kind, value)
        return [f"{load.words} {_sign(operator)}{words[:-1]}*{words[-1]}"]
    return [f"{load.words} {_sign(operator)}{_value(load, load.kind, value, names)}"]


def ranged(load: Load, header: str, first: bytes, last: bytes, negated: bool, names: Name) -> str:
    """Between two values."""
    words, kind = load.words, load.kind
    if load.base:
        found = fields_at(header, load.start, load.size * 8)
        words, kind = (f"{header} {found[0].name}", found[0].kind) if found else (raw_words(load), INTEGER)
    host = load.host
    sign = "!= " if negated else ""
    one, other = (value_text(kind, value, host=host, names=names) for value in (first, last))
    if kind.kind == "address" and not negated:
        return f"{words} {sign}{one}-{other}"
    return f"{words} {sign}{one}-{other}"


def load_words(load: Load, header: str) -> str:
    """What is loaded, without a comparison."""
    if not load.base:
        return load.words + (_mask_words(load) if load.mask else "")
    if load.mask:
        field = field_within(header, load.start, load.size * 8, int.from_bytes(load.mask, "big"))
        if field is not None:
            return f"{header} {field.name}"
    found = fields_at(header, load.start, load.size * 8)
    words = " . ".join(f"{header} {field.name}" for field in found) if found else raw_words(load)
    return words + (_mask_words(load) if load.mask else "")


def load_kind(load: Load, header: str) -> DataType:
    """How values of it are written."""
    if not load.base:
        return load.kind
    found = fields_at(header, load.start, load.size * 8)
    return found[0].kind if found else INTEGER


def raw_words(load: Load) -> str:
    """Bits of a header that has no name."""
    base = {"link": "ll", "network": "nh", "transport": "th", "inner": "ih"}.get(load.base, load.base)
    return f"@{base},{load.start},{load.size * 8}"


def _sign(operator: str) -> str:
    return _ORDERED.get(operator, f"{operator} ")


def _value(load: Load, kind: DataType, value: bytes, names: Name) -> str:
    if kind.name == "iface_index" and not any(value):
        return "0"
    return value_text(kind, value, host=load.host, names=names)


def _payload(load: Load, header: str, operator: str, value: bytes, names: Name) -> Iterator[str]:
    bits = load.size * 8
    if load.mask:
        field = field_within(header, load.start, bits, int.from_bytes(load.mask, "big"))
        if field is not None and field.kind.kind != "flags":
            yield f"{header} {field.name} {_sign(operator)}{_part(field, load, value)}"
            return
    found = fields_at(header, load.start, bits)
    if not found:
        longer = field_beginning(header, load.start, bits)
        if longer is not None and longer.kind.kind == "address":
            network = value_text(longer.kind, value.ljust(longer.length // 8, b"\0"))
            yield f"{header} {longer.name} {_sign(operator)}{network}/{bits}"
            return
        yield f"{raw_words(load)} {_sign(operator)}0x{int.from_bytes(value, 'big'):x}"
        return
    if load.mask:
        yield _masked_field(load, f"{header} {found[0].name}", found[0].kind, operator, value)
        return
    for field in found:
        yield f"{header} {field.name} {_sign(operator)}{_part(field, load, value)}"


def _part(field: Field, load: Load, value: bytes) -> str:
    """A field's own value among the bits that were loaded."""
    shift = load.start + load.size * 8 - field.start - field.length
    number = int.from_bytes(value, "big") >> shift & (1 << field.length) - 1
    if field.length % 8 == 0:
        return value_text(field.kind, number.to_bytes(field.length // 8, "big"))
    return field.kind.words.get(number, f"0x{number:02x}" if field.kind.kind == "hex" else str(number))


def _masked_field(load: Load, words: str, kind: DataType, operator: str, value: bytes) -> str:
    length = prefix_length(load.mask)
    if kind.kind == "address" and length is not None:
        return f"{words} {_sign(operator)}{value_text(kind, value)}/{length}"
    if kind.kind == "flags":
        return _flags(words, kind, operator, int.from_bytes(load.mask, "big"), int.from_bytes(value, "big"))
    if kind.kind == "address":
        return f"{words} & {value_text(kind, load.mask)} {operator} {value_text(kind, value)}"
    if kind.kind == "mac":
        return f"{words} & {value_text(kind, load.mask)} {operator} {value_text(kind, value)}"
    mask, number = int.from_bytes(load.mask, "big"), int.from_bytes(value, "big")
    return f"{words} & {mask} {operator} {number}"


def _flags(words: str, kind: DataType, operator: str, mask: int, value: int) -> str:
    """Of bits some are set, or none, or exactly these."""
    if value == 0:
        return f"{words} {'' if operator == '!=' else '! '}{flags_text(kind, mask)}"
    sign = "!= " if operator == "!=" else ""
    return f"{words} {sign}{flags_text(kind, value)} / {flags_text(kind, mask)}"


def _masked(load: Load, operator: str, value: bytes, names: Name) -> str:
    mask, number = load.number(load.mask), load.number(value)
    if load.kind.kind == "flags":
        return _flags(load.words, load.kind, operator, mask, number)
    return f"{load.words}{_mask_words(load)} {operator} {_value(load, load.kind, value, names)}"


def _mask_words(load: Load) -> str:
    """What was done to the bits: (bits & mask) ^ flip, said with &, | and ^."""
    mask, flip = load.number(load.mask), load.number(load.flip)
    ones = (1 << 8 * len(load.mask)) - 1
    words = ""
    if mask & flip:
        words += f" & {_bits(load, mask)}" if mask != ones else ""
        return f"{words} ^ {_bits(load, flip)}"
    kept = mask | flip
    words += f" & {_bits(load, kept)}" if kept != ones else ""
    return words + (f" | {_bits(load, flip)}" if flip else "")


def _bits(load: Load, number: int) -> str:
    return f"0x{number:08x}" if load.kind.kind == "mark" else str(number)
