"""Reading the tables of legacy iptables by getsockopt, of the namespace that this thread is in.

The kernel makes a table for whoever asks for it by name, so only those are asked for that /proc lists. Sources:
linux/netfilter_ipv4/ip_tables.h, linux/netfilter_ipv6/ip6_tables.h.
"""

import ctypes
import errno
import os
import socket
import struct

from netdiag.errors import NetdiagError
from netdiag.linux.iptables.entries import TableInfo, decode_info, decode_table
from netdiag.linux.ruleset import Table

_GET_INFO, _GET_ENTRIES = 64, 65
_INFO_SIZE = 84
_NAME_SIZE = 32
# struct ipt_get_entries: name and size, then entries that hold numbers of 64 bits
_ENTRIES_AT = 40 if ctypes.alignment(ctypes.c_uint64) == 8 else 36
_LARGEST = 64 * 1024 * 1024
_TRIES = 5
_NAMES_LIMIT = 4096
_FAMILIES = (
    ("ip", socket.AF_INET, socket.IPPROTO_IP, "ip_tables_names"),
    ("ip6", socket.AF_INET6, socket.IPPROTO_IPV6, "ip6_tables_names"),
)


class _Changed(Exception):
    pass


def legacy_tables() -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """The tables there are, and a line for what could not be read."""
    tables: list[Table] = []
    unread: list[str] = []
    for family, domain, level, file in _FAMILIES:
        names, missing = _names(file)
        unread += [f"legacy iptables of {family}: {missing}"] if missing else []
        for name in names:
            try:
                data, info = entries(domain, level, name)
                tables.append(decode_table(data, info, family=family))
            except NetdiagError as error:
                unread.append(f"legacy iptables of {family}, table {name}: {error.message}")
            except OSError as error:
                unread.append(f"legacy iptables of {family}, table {name}: {os.strerror(error.errno or 0).lower()}")
    return tuple(tables), tuple(unread)


def _names(file: str) -> tuple[list[str], str]:
    try:
        with open(f"/proc/thread-self/net/{file}", encoding="utf-8", errors="surrogateescape") as names:
            return names.read(_NAMES_LIMIT).split(), ""
    except FileNotFoundError:
        return [], ""
    except OSError as error:
        reason = "only root may look at it" if error.errno in (errno.EACCES, errno.EPERM) else error.strerror
        return [], str(reason)


def entries(domain: socket.AddressFamily, level: int, name: str) -> tuple[bytes, TableInfo]:
    """The bytes of one table that is there, and what the kernel tells of it."""
    with socket.socket(domain, socket.SOCK_DGRAM) as asked:
        for _ in range(_TRIES):
            info = decode_info(_asked(asked, level, _GET_INFO, name, _INFO_SIZE))
            try:
                return _entries(asked, level, info, name), info
            except _Changed:
                continue
    raise NetdiagError("it changed with every look")


def _entries(asked: socket.socket, level: int, info: TableInfo, name: str) -> bytes:
    if info.size > _LARGEST:
        raise NetdiagError(f"{info.size} bytes of rules")
    try:
        return _asked(asked, level, _GET_ENTRIES, name, _ENTRIES_AT + info.size, size=info.size)[_ENTRIES_AT:]
    except OSError as error:
        if error.errno == errno.EAGAIN:
            raise _Changed from error
        raise


def _asked(asked: socket.socket, level: int, option: int, name: str, length: int, *, size: int = 0) -> bytes:
    """getsockopt with an argument, which the socket module cannot do."""
    question = name.encode("utf-8", errors="surrogateescape")[: _NAME_SIZE - 1].ljust(_NAME_SIZE, b"\0")
    buffer = ctypes.create_string_buffer(question + struct.pack("=I", size), length)
    given = ctypes.c_uint(length)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.getsockopt(asked.fileno(), level, option, buffer, ctypes.byref(given)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return buffer.raw
