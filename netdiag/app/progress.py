"""How work that takes a while reports on itself: to a listener that a terminal, an editor or a notebook provides."""

from typing import Protocol

from netdiag.errors import NetdiagError


class Listener(Protocol):
    """Hears of work while it runs. No method may fail, and each may be called any number of times."""

    def detail(self, text: str) -> None:
        """What is read or done, for users who asked for details."""

    def notice(self, text: str) -> None:
        """A sentence that every user should read."""

    def warning(self, error: NetdiagError) -> None:
        """An error after which the work goes on."""

    def progress(self, text: str) -> None:
        """How far the work is; each text replaces the one before, an empty one ends it."""

    def handled(self, error: BaseException) -> None:
        """An exception that became part of the report; its traceback helps to debug."""


class Silent:
    """A listener that keeps everything to itself."""

    def detail(self, text: str) -> None:
        """Nothing."""

    def notice(self, text: str) -> None:
        """Nothing."""

    def warning(self, error: NetdiagError) -> None:
        """Nothing."""

    def progress(self, text: str) -> None:
        """Nothing."""

    def handled(self, error: BaseException) -> None:
        """Nothing."""


SILENT: Listener = Silent()
