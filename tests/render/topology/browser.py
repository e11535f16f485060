"""A real browser for pages of ours: headless Chromium, steered over its DevTools protocol through a pipe.

A pipe needs no port and no library. The browser resolves no name, so nothing can leave the machine even by mistake;
whatever a page asks for and whatever it complains about is kept.
"""

import base64
import fcntl
import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--mute-audio",
    "--hide-scrollbars",
    "--password-store=basic",
    "--disable-features=MediaRouter,DialMediaRouteProvider,OptimizationHints,Translate",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--window-size=1440,900",
)
_KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Tab": ("Tab", 9, ""), " ": ("Space", 32, " ")}


class Browser:
    """One running browser."""

    def __init__(self, pid: int, to: int, back: int) -> None:
        self.pid = pid
        self._to = to
        self._back = back
        self._number = 0
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Ask for something and wait for the answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    @contextmanager
    def page(self, path: Path) -> Iterator["Page"]:
        """A page of its own for a file."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(browser=self, session=session)
        try:
            page.open(path)
            yield page
        finally:
            self.call("Target.closeTarget", targetId=target)

    def _message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._back], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self._back, 1 << 20)
            assert data, "the browser has ended"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


class Page:
    """One page. `url` is where its file is."""

    def __init__(self, *, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self.url = ""

    def open(self, path: Path) -> None:
        """Load a file and wait until it is there."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self.url = path.as_uri()
        self._call("Page.navigate", url=self.url)
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Until an expression is true."""
        until(lambda: bool(self.evaluate(expression)), expression)

    def complaints(self) -> list[str]:
        """What the console has got: errors, warnings, violations of the policy, dialogs."""
        found = []
        for event in self._own():
            match event["method"]:
                case "Runtime.exceptionThrown" | "Page.javascriptDialogOpening":
                    found.append(json.dumps(event["params"])[:400])
                case "Runtime.consoleAPICalled" if event["params"]["type"] in ("error", "warning", "assert"):
                    found.append(json.dumps(event["params"]["args"])[:400])
                case "Log.entryAdded" if event["params"]["entry"]["level"] in ("error", "warning"):
                    found.append(event["params"]["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """The addresses that were asked for."""
        return [event["params"]["request"]["url"] for event in self._own() if _is_request(event)]

    def click(self, selector: str) -> None:
        """Press the middle of the first element that is meant, where a person would see it."""
        x, y = self.middle(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, x, y)

    def middle(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is."""
        rect = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " const r = (e.querySelector(':scope > rect') || e).getBoundingClientRect();"
            " return [r.x + Math.min(r.width / 2, 60), r.y + Math.min(r.height / 2, 10)]; })()"
        )
        return (rect[0], rect[1])

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """One event of the mouse."""
        button = "none" if kind in ("mouseMoved", "mouseWheel") and "buttons" not in more else "left"
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1, **more)

    def key(self, name: str) -> None:
        """Press and release a key."""
        code, number, text = _KEYS.get(name, (name, 0, name if len(name) == 1 else ""))
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=name, code=code, windowsVirtualKeyCode=number, **typed)

    def type(self, text: str) -> None:
        """Put text where the focus is."""
        self._call("Input.insertText", text=text)

    def media(self, *, scheme: str = "light", kind: str = "screen") -> None:
        """Light or dark, on a screen or on paper."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._call("Emulation.setEmulatedMedia", media=kind, features=features)

    def size(self, width: int, height: int) -> None:
        """As large as this many pixels."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path: Path) -> None:
        """What a person sees, as PNG."""
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))

    def _own(self) -> list[dict[str, Any]]:
        self.evaluate("0")
        return [event for event in self._browser.events if event.get("sessionId") == self._session]

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)


@contextmanager
def browser(command: str, folder: Path) -> Iterator[Browser]:
    """A browser whose own files are in a folder; it ends with all its processes."""
    (child_reads, to), (back, child_writes) = os.pipe(), os.pipe()
    # beyond the numbers that the browser wants them under
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (child_reads, child_writes)]
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (folder / "browser.log").open("wb") as log:
        pid = os.posix_spawn(
            command,
            [command, *_FLAGS, *sandbox, f"--user-data-dir={folder / 'profile'}"],
            {**os.environ, "HOME": str(folder)},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, high[0], 3),
                (os.POSIX_SPAWN_DUP2, high[1], 4),
                (os.POSIX_SPAWN_DUP2, log.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, log.fileno(), 2),
            ],
            setpgroup=0,
        )
    for fd in (child_reads, child_writes, *high):
        os.close(fd)
    try:
        yield Browser(pid, to, back)
    finally:
        os.close(to)
        os.close(back)
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something, with a deadline."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"never came true: {what}"
        time.sleep(0.01)


def _is_request(event: dict[str, Any]) -> bool:
    return bool(event["method"] == "Network.requestWillBeSent")
