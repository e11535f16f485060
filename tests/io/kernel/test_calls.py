"""System calls that Python does not offer, against this kernel."""

import contextlib
import ctypes
import errno
import os
import socket
import threading

import pytest

from netdiag.io.kernel.calls import Calls, apart, namespace_of_socket, namespace_of_tun
from tests.io.namespaces import joined_namespaces


def test_work_apart_gives_its_result_and_its_errors_and_ends_its_thread() -> None:
    before = threading.active_count()
    assert apart(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 / 0)
    assert threading.active_count() == before


def test_a_socket_tells_the_namespace_it_was_made_in_wherever_it_is_asked() -> None:
    calls = Calls()

    def look(name: str) -> tuple[int, int | None]:
        descriptor = os.open(f"/run/netns/{name}", os.O_RDONLY)
        try:
            calls.enter(descriptor)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
                namespace = namespace_of_socket(made.fileno())
                inode = os.fstat(namespace).st_ino
                os.close(namespace)
                return inode, calls.cookie(made.fileno())
        finally:
            os.close(descriptor)

    with joined_namespaces() as pair:
        own = os.stat("/proc/self/ns/net").st_ino
        for name in (pair.near, pair.far):
            found = apart(lambda name=name: look(name))  # type: ignore[misc]
            assert found[0] == os.stat(f"/run/netns/{name}").st_ino != own
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as here:
            assert calls.cookie(here.fileno()) != found[1]


def test_what_is_no_namespace_cannot_be_entered() -> None:
    with open("/dev/null", "rb") as file, pytest.raises(OSError, match="Invalid argument"):
        Calls().enter(file.fileno())


def test_what_is_no_socket_and_no_tun_has_no_namespace() -> None:
    with open("/dev/null", "rb") as file:
        assert Calls().cookie(file.fileno()) is None
        for ask in (namespace_of_socket, namespace_of_tun):
            with pytest.raises(OSError, match=r"ioctl|Inappropriate"):
                ask(file.fileno())


def test_a_descriptor_is_taken_without_its_owner_noticing() -> None:
    calls = Calls()
    process = os.pidfd_open(os.getpid())
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
            taken = calls.take_descriptor(process, made.fileno())
            assert os.fstat(taken).st_ino == os.fstat(made.fileno()).st_ino
            os.close(taken)
            assert made.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_DGRAM
        with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
            calls.take_descriptor(process, 1_000_000)
    finally:
        os.close(process)


class KernelWithList:
    """The part of a C library that listns needs: 300 namespaces with ids from 5, a page of 256 at a time."""

    def __init__(self) -> None:
        self.ids = list(range(5, 305))
        self.handles: list[int] = []

    def syscall(self, number: ctypes.c_long, request: bytes, room: "ctypes.Array[ctypes.c_uint64]", *_: object) -> int:
        last = int.from_bytes(bytes(request)[8:16], "little")
        left = [one for one in self.ids if one > last][: len(room)]
        for place, one in enumerate(left):
            room[place] = one
        if left:
            return len(left)
        ctypes.set_errno(errno.ENOENT)
        return -1

    def open_by_handle_at(self, root: ctypes.c_int, handle: bytes, flags: ctypes.c_int) -> int:
        self.handles.append(int.from_bytes(bytes(handle)[8:16], "little"))
        # one that ends between the two calls cannot be opened
        return -1 if self.handles[-1] == 7 else self.handles[-1]


def test_namespaces_are_listed_page_by_page() -> None:
    calls, kernel = Calls(), KernelWithList()
    calls._c = kernel  # type: ignore[assignment]
    assert list(calls.list_namespaces()) == [one for one in kernel.ids if one != 7]
    assert kernel.handles == kernel.ids


def test_a_kernel_without_the_list_says_so_or_gives_namespaces() -> None:
    found: list[str] = []
    with contextlib.suppress(OSError):
        for descriptor in Calls().list_namespaces():
            found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
            os.close(descriptor)
    assert all(target.startswith("net:[") for target in found)
