"""How the programs talk to the test that started them: words come in, JSON objects go out, one a line."""

import json
import queue
import sys
import threading
from typing import Any


def say(event: str, **facts: Any) -> None:
    """Tell what happened."""
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


def words() -> "queue.SimpleQueue[list[str]]":
    """What standard input says, line by line; its end says close."""
    heard: queue.SimpleQueue[list[str]] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            heard.put(line.split())
        heard.put(["close"])

    threading.Thread(target=read, daemon=True).start()
    return heard


def settings() -> Any:
    """The first argument: a JSON object."""
    return json.loads(sys.argv[1])
