"""What "could not look" is: the errors netdiag raises instead of giving an answer."""


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
    """A command needs an optional dependency that is not installed."""


class EngineError(NetdiagError):
    """The Docker Engine did not answer, or not with what its API promises."""


class MissingRight(NetdiagError):
    """This process may not look there."""
