"""A headless Chromium, driven over a pipe by its DevTools protocol: what tests of a page need, without a package for it."""
import base64, json, os, pathlib, select, shutil, subprocess, tempfile, time

PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "chrome", "chromium-headless-shell"]


def find_browser():
    """The path of a Chromium: of KILN_CHROMIUM, or on the path. None: there is none."""
    return os.environ.get("KILN_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One page. `with Browser() as browser: browser.open(path)`."""

    def __init__(self, width=1440, height=900, dark=False):
        self.size, self.dark = (width, height), dark
        self.errors, self.requests, self._buffer, self._next, self._folder = [], [], b"", 0, tempfile.TemporaryDirectory()

    def __enter__(self):
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        width, height = self.size
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--remote-debugging-pipe"]
        flags += ["--hide-scrollbars", "--disable-background-networking", f"--user-data-dir={self._folder.name}", f"--window-size={width},{height}"]
        flags += ["--disable-features=IsolateSandboxedIframes"]  # else such a frame is a page of its own here
        # The browser reads descriptor 3 and writes descriptor 4.
        shell = 'exec 5<&"$1" 6>&"$2"; shift 2; exec "$@" 3<&5 4>&6 5<&- 6>&-'
        command = ["bash", "-c", shell, "bash", str(to_read), str(to_write), find_browser(), *flags, "about:blank"]
        self._process = subprocess.Popen(command, pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read), os.close(to_write)
        targets = self._call("Target.getTargets", session=None)["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self._session = self._call("Target.attachToTarget", session=None, targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self._call(domain + ".enable")
        self._call("Performance.enable", timeDomain="threadTicks")
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.prefer_dark(self.dark)
        return self

    def __exit__(self, *_):
        try:
            self._call("Browser.close", session=None, timeout=10)
        except (OSError, TimeoutError):
            self._process.kill()
        self._process.wait(20)
        os.close(self._read), os.close(self._write)
        self._folder.cleanup()

    def prefer_dark(self, dark):
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, ready="document.querySelector('.card, .empty')"):
        """Opens a file, and returns the seconds until it is loaded, `ready` holds and a frame has been drawn."""
        start = time.monotonic()
        self._call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not self.run(f"document.readyState === 'complete' && !!({ready})"):
            if time.monotonic() - start > 60:
                raise TimeoutError(f"{path}: {ready} did not come; errors: {self.errors}")
            time.sleep(0.01)
        self.frame()
        return time.monotonic() - start

    def work_seconds(self):
        """The processor time that the page's thread has used. On a busy machine it says more than a clock."""
        return next(metric["value"] for metric in self._call("Performance.getMetrics")["metrics"] if metric["name"] == "TaskDuration")

    def run(self, script):
        """The value of an expression of JavaScript; promises are waited for."""
        told = self._call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(f"{script}: {told['exceptionDetails'].get('exception', {}).get('description', told)}")
        return told["result"].get("value")

    def run_in_frame(self, script):
        """The value of an expression in the document of the page's first frame, whatever that is kept from. None: it has no document yet."""
        frames = self._call("Page.getFrameTree")["frameTree"].get("childFrames")
        if not frames:
            return None
        world = self._call("Page.createIsolatedWorld", frameId=frames[0]["frame"]["id"])["executionContextId"]
        told = self._call("Runtime.evaluate", expression=script, contextId=world, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(f"{script}: {told}")
        return told["result"].get("value")

    def frame(self):
        """Waits until what has happened is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def press(self, *keys):
        """Presses keys: a character, or a name as "ArrowDown"."""
        for key in keys:
            code = {"Enter": 13, "Escape": 27, "Backspace": 8}.get(key, ord(key.upper()) if key.isalnum() and len(key) == 1 else 0)
            text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
            self._call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
            self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        self.frame()

    def click(self, x, y, clicks=1):
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for count in range(1, clicks + 1):
            for kind in ["mousePressed", "mouseReleased"]:
                self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def wheel(self, x, y, by, ctrl=False):
        self._call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by, modifiers=2 if ctrl else 0)

    def drag(self, x, y, to_x, to_y):
        self._call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for part in (0.5, 1):
            at = {"x": x + part * (to_x - x), "y": y + part * (to_y - y)}
            self._call("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, **at)
        self._call("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", clickCount=1)

    def screenshot(self, path):
        self.frame()
        pathlib.Path(path).write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))

    def _call(self, method, session="page", timeout=60, **parameters):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters}
        if session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + timeout
        while True:
            answer = self._receive(until)
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event):
        """Keeps what a page must not do: fail, or ask somebody else."""
        told = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(told["exceptionDetails"].get("exception", {}).get("description", str(told)))
        elif event.get("method") == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.errors.append(told["entry"]["text"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def _receive(self, until):
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], max(until - time.monotonic(), 0))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise OSError("the browser has ended")
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)
