"""A page in Chromium that is used as a reader uses it: with a pointer, a finger and keys, from the disk or a server.

Chromium is spoken to by its DevTools protocol over two pipes: nothing has to be installed, and no port is opened.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from typing import Any

from axe_core_python.base import AXE_SCRIPT
from browser import QUIET, chromium

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}


class PageLeftError(RuntimeError):
    """The page gave way to another one, or was closed, before it could answer."""


class Tab:
    """One tab of a running Chromium."""

    def __init__(self, reading: int, writing: int, seconds: float) -> None:
        self._reading, self._writing, self._seconds = reading, writing, seconds
        self._rest, self._count, self._session = b"", 0, None
        self.events: list[dict] = []  # what Chromium told, in its order
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.send(f"{domain}.enable")

    def _message(self) -> dict:
        while b"\0" not in self._rest:
            if not select([self._reading], [], [], self._seconds)[0]:
                raise TimeoutError(f"Chromium said nothing for {self._seconds} s")
            more = os.read(self._reading, 1 << 20)
            if not more:
                raise ConnectionError("Chromium has ended")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method: str, **params: Any) -> dict:
        """What Chromium answers to a command. Raises RuntimeError where it refuses."""
        self._count += 1
        asked = {"id": self._count, "method": method, "params": params}
        asked |= {"sessionId": self._session} if self._session else {}
        os.write(self._writing, json.dumps(asked).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._count:
                if "error" in message:
                    left = "navigated or closed" in message["error"].get("message", "")
                    raise (PageLeftError if left else RuntimeError)(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, address: str) -> None:
        """Open a page, and wait until all that it names has arrived."""
        self.events.clear()
        self.send("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def run(self, script: str) -> Any:
        """What the body of an async function returns in the page. Raises RuntimeError with its error."""
        wrapped = f"(async () => {{ {script} }})()"
        found = self.send("Runtime.evaluate", expression=wrapped, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", "an error in the page"))
        return found["result"].get("value")

    def until(self, condition: str) -> Any:
        """The first true value of an expression in the page, which is tried for half a minute.

        It is asked anew each time, because the page may have led on to another one, also while it is asked."""
        for _ in range(600):
            with suppress(PageLeftError):
                if found := self.run(f"const value = {condition}; return value ? {{ value }} : null;"):
                    return found["value"]
            time.sleep(0.05)
        raise RuntimeError(f"never true: {condition}")

    def faults(self, selector: str) -> list[str]:
        """What keeps readers out of an element, by theme, as axe finds it; without what it calls minor."""
        self.send("Runtime.evaluate", expression=AXE_SCRIPT)
        return self.run(f"""
            const found = [];
            for (const theme of ["light", "dark"]) {{
                document.documentElement.dataset.theme = theme;
                const {{ violations }} = await axe.run({json.dumps(selector)}, {{ resultTypes: ["violations"] }});
                const bad = violations.filter((one) => one.impact !== "minor");
                found.push(...bad.map((one) => `${{theme}}: ${{one.id}}: ${{one.nodes[0].html}}`));
            }}
            return found;""")

    def place(self, element: str) -> tuple[float, float]:
        """The middle of an element, which is scrolled into view. It is written as an expression."""
        return tuple(
            self.run(f"""
            const one = {element}, tops = [0, 1, 2];
            while (new Set(tops.slice(-3)).size > 1) {{ // live figures above may still take their room
                one.scrollIntoView({{ block: "center", behavior: "instant" }});
                await new Promise((done) => setTimeout(done, 100));
                tops.push(one.getClientRects()[0].top);
            }}
            const box = one.getClientRects()[0];
            return [box.left + box.width / 2, box.top + box.height / 2];""")
        )

    def hover(self, element: str) -> None:
        """Move the pointer onto an element."""
        x, y = self.place(element)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tap(self, element: str) -> None:
        """Touch an element with a finger."""
        x, y = self.place(element)
        self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key: str) -> None:
        """Press a key, one of KEYS."""
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])

    def size(self, width: int, height: int, touch: bool = False) -> None:
        """Give the page the size of a window, or of a phone."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.send("Emulation.setTouchEmulationEnabled", enabled=touch)


@contextmanager
def tab(profile: Path, seconds: float = 120) -> Iterator[Tab]:
    """A tab of a Chromium that is started for it.

    Args:
        profile: an empty folder for the browser's files. seconds: until TimeoutError is raised where it is silent.
    """
    (to_read, answering), (asking, to_write) = os.pipe(), os.pipe()

    def pipes() -> None:
        kept = [os.dup(asking), os.dup(answering)]
        os.dup2(kept[0], 3)
        os.dup2(kept[1], 4)

    command = [chromium() or "chromium", *QUIET, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
    browser = subprocess.Popen(
        command, preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(asking)
    os.close(answering)
    try:
        yield Tab(to_read, to_write, seconds)
    finally:
        browser.kill()
        browser.wait()
        os.close(to_read)
        os.close(to_write)
