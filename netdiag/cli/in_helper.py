"""`python -m netdiag.cli.in_helper`: what the helper container of `--via container` runs; nobody else does."""

import sys
from collections.abc import Sequence

from netdiag.cli.exit_status import ExitStatus


def carried_out(words: Sequence[str]) -> int:
    """Run the command line of these words as if it were this process's own; its exit status."""
    from netdiag.cli.main import run  # after the copy was made, so that the watching process stays small

    sys.argv = ["netdiag", *words]
    try:
        run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ExitStatus.CLEAN)
    return int(ExitStatus.CLEAN)


def main() -> None:
    """Serve one order."""
    from netdiag.io.helper_container.server import serve

    sys.exit(serve(carried_out))


if __name__ == "__main__":
    main()
