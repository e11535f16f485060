"""`python -m tests.lab.prepare LABS`: builds what so many labs at a time need, so that no test waits for it."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack

from tests.lab.errors import LabError
from tests.lab.lab import start_lab
from tests.lab.relay_images import load_relay_images


def main(arguments: Sequence[str]) -> int:
    """0 when every lab has started with its images, and is gone."""
    try:
        with ExitStack() as stack:
            for _ in range(max(1, int(arguments[0]))):
                load_relay_images(stack.enter_context(start_lab()).engine)
    except LabError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
