"""How a member is written, as repairs see it: what they may ask for, whatever the member comes from."""

from typing import Protocol

from netdiag.findings import Edit


class PortNumbers(Protocol):
    """A published port by its numbers."""

    @property
    def target(self) -> int:
        """The container's side."""
        ...

    @property
    def published(self) -> int | None:
        """The docker host's side; None is any free one."""
        ...

    @property
    def host_ip(self) -> str:
        """The address of the docker host, empty for all."""
        ...

    @property
    def protocol(self) -> str:
        """`tcp` or another."""
        ...


class Written:
    """How a member is written, for repairs: each method gives the edits, None where they cannot be made soundly."""

    __slots__ = ()

    def add_variable(self, name: str, value: str, beside: str | None) -> Edit | None:
        """One variable more, beside another."""
        raise NotImplementedError

    def rename_variable(self, name: str, new: str) -> Edit | None:
        """Another name for a variable."""
        raise NotImplementedError

    def remove_variable(self, name: str) -> Edit | None:
        """One variable less."""
        raise NotImplementedError

    def add_port(self, published: int, target: int) -> Edit | None:
        """One published port more."""
        raise NotImplementedError

    def change_port(self, port: PortNumbers, *, published: int | None = None, target: int | None = None) -> Edit | None:
        """Another number on the host side or the container side of a published port."""
        raise NotImplementedError

    def pin_port(self, port: PortNumbers, number: int) -> Edit | None:
        """A given number of the docker host in the place of any free one."""
        raise NotImplementedError

    def offer_everywhere(self, port: PortNumbers) -> Edit | None:
        """A published port without its address of the docker host."""
        raise NotImplementedError
