"""The number of a connection, as `flows.number_of` has it, for kernels: BLAKE2b (RFC 7693) of one block of text."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_state import Array

_SIGMA = np.array(
    [
        (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        (14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),
        (11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4),
        (7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8),
        (9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13),
        (2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9),
        (12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11),
        (13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10),
        (6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5),
        (10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0),
        (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        (14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),
    ],
    np.uint8,
)
_START = np.array(
    [
        0x6A09E667F3BCC908,
        0xBB67AE8584CAA73B,
        0x3C6EF372FE94F82B,
        0xA54FF53A5F1D36F1,
        0x510E527FADE682D1,
        0x9B05688C2B3E6C1F,
        0x1F83D9ABFB41BD6B,
        0x5BE0CD19137E2179,
    ],
    np.uint64,
)
_ROUNDS = 12
_DIGEST = 8
_TEXT = 16
"""Of the scratch words the first 16 are the state of the hash, the next 16 the text."""
_BAR, _COMMA = 0x7C, 0x2C


@kernel
def connection_number(words: Array, key: Any, time: Any) -> Any:
    """The number of the connection whose first packet came at a time (not below 0) the way of this pair of addresses.

    `words`: 32 numbers of 64 bits, to write on.
    """
    for index in range(_TEXT, 2 * _TEXT):
        words[index] = 0
    width = np.int64(key.width)
    at = _bar(words, _write(words, 0, np.int64(time)))
    for index in range(width):
        at = _put(words, at, key.source[index])
    at = _bar(words, at)
    for index in range(width):
        at = _put(words, at, key.destination[index])
    at = _bar(words, _write(words, _bar(words, at), np.int64(key.source_port)))
    at = _bar(words, _write(words, at, np.int64(key.destination_port)))
    return _hash(words, at)


@kernel
def digested(words: Array, before: Any, size: Any, data: Array, begin: Any, count: Any) -> Any:
    """What `pairing.Digest` holds behind a message of that size, so many bytes of which lie at `begin`; as a number."""
    for index in range(_TEXT, 2 * _TEXT):
        words[index] = 0
    for shift in range(56, -8, -8):
        _put(words, 7 - (shift >> 3), np.uint64(before) >> np.uint64(shift) & np.uint64(0xFF))
    at = _put(words, _write(words, 8, np.int64(size)), _COMMA)
    for index in range(begin, begin + count):
        at = _put(words, at, data[index])
    return _hash(words, at)


@inlined
def _put(words: Array, at: Any, byte: Any) -> Any:
    words[_TEXT + (at >> 3)] |= np.uint64(byte) << np.uint64(8 * (at & 7))
    return at + 1


@inlined
def _bar(words: Array, at: Any) -> Any:
    return _put(words, at, _BAR)


@inlined
def _write(words: Array, at: Any, value: Any) -> Any:
    """A number in decimal digits."""
    digits, rest = 1, value // 10
    while rest:
        digits += 1
        rest //= 10
    for index in range(digits):
        _put(words, at + digits - 1 - index, 0x30 + value % 10)
        value //= 10
    return at + digits


@inlined
def _hash(words: Array, length: Any) -> Any:
    for index in range(8):
        words[index] = words[8 + index] = _START[index]
    first = _START[0] ^ np.uint64(0x01010000 ^ _DIGEST)
    words[0] = first
    words[12] ^= np.uint64(length)
    words[14] = ~words[14]
    for turn in range(_ROUNDS):
        for mixed in range(8):
            a = mixed & 3
            turned = mixed >> 2
            b, c, d = 4 + (a + turned & 3), 8 + (a + 2 * turned & 3), 12 + (a + 3 * turned & 3)
            x, y = words[_TEXT + _SIGMA[turn, 2 * mixed]], words[_TEXT + _SIGMA[turn, 2 * mixed + 1]]
            words[a] += words[b] + x
            words[d] = _turned(words[d] ^ words[a], 32)
            words[c] += words[d]
            words[b] = _turned(words[b] ^ words[c], 24)
            words[a] += words[b] + y
            words[d] = _turned(words[d] ^ words[a], 16)
            words[c] += words[d]
            words[b] = _turned(words[b] ^ words[c], 63)
    word = first ^ words[0] ^ words[8]
    number = np.uint64(0)
    for _ in range(_DIGEST):
        number = number << np.uint64(8) | word & np.uint64(0xFF)
        word = word >> np.uint64(8)
    return np.int64(number)


@inlined
def _turned(word: Any, count: int) -> Any:
    return word >> np.uint64(count) | word << np.uint64(64 - count)
