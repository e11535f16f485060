"""What "could not look" is: the errors netdiag raises instead of giving an answer."""

from netdiag import distribution


class NetdiagError(Exception):
    """netdiag could not look; never a judgement about what it looked at.

    `where` names the file, container or address, `hint` is an imperative that says what to do.
    """

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class InputError(NetdiagError):
    """A file or argument cannot be read as what it should be."""


class UsageError(NetdiagError):
    """netdiag was asked wrongly: an option, or a configuration file, cannot mean anything."""


class MissingExtra(NetdiagError):
    """A command needs a library of an extra that is not installed; `instead` is another way out than installing it."""

    def __init__(self, message: str, *, extra: str, where: str | None = None, instead: str | None = None) -> None:
        line = distribution.install_line(extra)
        super().__init__(message, where=where, hint=f"{instead}, or {line}" if instead else line)


class EngineError(NetdiagError):
    """The Docker Engine did not answer, or not with what its API promises."""


class NotThere(EngineError):
    """The engine has no such container, volume or path."""


class MissingRight(NetdiagError):
    """This process may not look there."""


def cannot_import(what: str, error: ImportError, *, extra: str) -> NetdiagError:
    """What is said when something that needs an extra does not load: MissingExtra for a library that it brings."""
    library = (error.name or "").partition(".")[0]
    if library in distribution.LIBRARIES[extra]:
        return MissingExtra(f"{what} needs {library}, which is not installed", extra=extra)
    return NetdiagError(f"{what} needs {library or 'a part'} that this system does not have")


def internal_error(error: BaseException) -> NetdiagError:
    """An exception that netdiag should not have run into, in one line."""
    text = " ".join(str(error).split())[:200]
    return NetdiagError(
        f"internal error: {type(error).__name__}" + (f": {text}" if text else ""),
        hint="run again with --debug and report what it prints",
    )
