"""A headless Chromium, driven through chromedriver by the WebDriver protocol (plain JSON), and a headless
Firefox, driven by Marionette."""

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SKIPPED = 77


def skip_without_browser(programs=("chromium", "chromedriver")):
    for program in programs:
        if not shutil.which(program):
            print(f"SKIPPED: there is no {program} here (scripts/setup installs it)")
            sys.exit(SKIPPED)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def eventually(condition, what, within=20.0):
    """Waits until `condition()` is true, and returns what it returned."""
    deadline = time.monotonic() + within
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within:g} s: {what}")
        time.sleep(0.02)


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="retrystorm-browser-")
        port = free_port()
        self.root = f"http://127.0.0.1:{port}"
        self.session = ""
        # A separate process group, so that everything it has started ends with it.
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={port}", "--allowed-ips=127.0.0.1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            eventually(self._ready, "chromedriver is ready")
            flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                     "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
                     "--window-size=1280,1000", f"--user-data-dir={self.folder}"]
            options = {"args": flags, "binary": shutil.which("chromium")}
            answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.session = "/session/" + answer["sessionId"]
        except BaseException:
            self.close()
            raise

    def _ready(self):
        try:
            return self.call("GET", "/status")["ready"]
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.session:
            try:
                self.call("DELETE", self.session)
            except (OSError, AssertionError):
                pass
        os.killpg(self.driver.pid, signal.SIGKILL)
        self.driver.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()}") from error

    def open(self, url):
        self.call("POST", self.session + "/url", {"url": url})

    def run(self, script, *arguments):
        """The value of a function body run in the page; a promise is waited for."""
        return self.call("POST", self.session + "/execute/sync",
                         {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        found = self.call("POST", self.session + "/element",
                          {"using": "css selector", "value": selector})
        self.call("POST", f"{self.session}/element/{next(iter(found.values()))}/click", {})

    def press(self, keys):
        """Types into what has the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", self.session + "/actions",
                  {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def drag(self, x, y, to_x):
        """From a point of the window to another one beside it, with a mouse, in small steps."""
        steps = [{"type": "pointerMove", "x": round(x + (to_x - x) * i / 10), "y": y, "duration": 20}
                 for i in range(11)]
        self.call("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
             "actions": [steps[0], {"type": "pointerDown", "button": 0}, *steps[1:],
                         {"type": "pointerUp", "button": 0}]}]})

    def chromium(self, command, **parameters):
        """A command of Chromium's own protocol."""
        return self.call("POST", self.session + "/goog/cdp/execute",
                         {"cmd": command, "params": parameters})

    def scheme(self, name):
        self.chromium("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": name}])

    def width(self, pixels, height=1000):
        self.chromium("Emulation.setDeviceMetricsOverride", width=pixels, height=height,
                      deviceScaleFactor=1, mobile=False)

    def screenshot(self, path, whole=True):
        """The whole page, or what of it is in the window."""
        size = self.run("return [document.documentElement.scrollHeight, innerWidth]")
        beyond = {"captureBeyondViewport": True,
                  "clip": {"x": 0, "y": 0, "width": size[1], "height": size[0], "scale": 1}}
        image = self.chromium("Page.captureScreenshot", **beyond if whole else {})
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))

    def errors(self):
        """What the console has complained of."""
        log = self.call("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] == "SEVERE"]

    def painted(self, selector):
        """How many colours each canvas has; a blank one has one."""
        return self.run("""
            return [...document.querySelectorAll(arguments[0])].map(canvas => {
              const {width, height} = canvas;
              if (width === 0 || height === 0) return 0;
              const pixels = new Uint32Array(
                canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer);
              return new Set(pixels).size;
            });""", selector)


class Firefox(Browser):
    """Marionette has the same commands under other names, over a socket: "LENGTH:JSON" each way. Its
    console is not read; a page collects its own errors in `test.errors`."""

    COMMANDS = {"/url": "WebDriver:Navigate", "/execute/sync": "WebDriver:ExecuteScript",
                "/element": "WebDriver:FindElement", "/actions": "WebDriver:PerformActions"}
    PREFERENCES = {"marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "app.update.enabled": False,
                   "datareporting.policy.dataSubmissionEnabled": False, "network.proxy.type": 1,
                   "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
                   "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9}

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="retrystorm-browser-")
        self.session = ""
        with open(f"{self.folder}/user.js", "w", encoding="utf-8") as file:
            file.writelines(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in self.PREFERENCES.items())
        self.driver = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--marionette", "--remote-allow-system-access",
             "--profile", self.folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "HOME": self.folder})
        self.answers = None
        try:
            port = eventually(self._port, "Firefox listens", within=60)
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
            self.answers = self.socket.makefile("rb")
            self._receive()  # what it is
            self._command("WebDriver:NewSession", {})
        except BaseException:
            self.close()
            raise

    def _port(self):
        try:
            with open(f"{self.folder}/MarionetteActivePort", encoding="utf-8") as file:
                return int(file.read() or 0)
        except OSError:
            return 0

    def _receive(self):
        length = b""
        while (byte := self.answers.read(1)) != b":":
            assert byte, "Firefox has ended"
            length += byte
        return json.loads(self.answers.read(int(length)))

    def _command(self, name, parameters):
        text = json.dumps([0, 1, name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self._receive()
        if error:
            raise AssertionError(f"{name}: {error['error']}: {error['message']}")
        return result

    def call(self, method, path, body=None):
        element = re.fullmatch("/element/(.*)/click", path)
        if element:
            return self._command("WebDriver:ElementClick", {"id": element[1]})
        return self._command(self.COMMANDS[path], body).get("value")

    def close(self):
        if self.answers:
            self.answers.close()
            self.socket.close()
        os.killpg(self.driver.pid, signal.SIGKILL)
        self.driver.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def width(self, pixels, height=1000):
        beside = self.run("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self._command("WebDriver:SetWindowRect", {"width": pixels + beside[0], "height": height + beside[1]})

    def preference(self, name, number):
        self._command("Marionette:SetContext", {"value": "chrome"})
        self._command("WebDriver:ExecuteScript", {"script": "Services.prefs.setIntPref(...arguments)", "args": [name, number]})
        self._command("Marionette:SetContext", {"value": "content"})

    def scheme(self, name):
        self.preference("layout.css.prefers-color-scheme.content-override", ["dark", "light"].index(name))

    def errors(self):
        return self.run("return test.errors")
