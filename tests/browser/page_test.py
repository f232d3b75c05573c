"""The live page in a real browser: page_test.py SERVER CLIENT"""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

import webdriver
from webdriver import Browser, eventually, free_port

webdriver.skip_without_browser()


VISIBLE = "return document.querySelector(arguments[0]).offsetParent !== null"
CURVES = """
    return Chart.getChart(document.querySelector('canvas[data-chart=rates]')).data.datasets
      .map(({label}) => label);"""


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of another site."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>elsewhere</title>")

    def log_message(self, *_):
        pass


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def state_of(process):
    with open(f"/proc/{process.pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


def number(text):
    return float(text.replace(",", ""))


def check(browser, server, address, origin):
    screenshots = os.environ.get("SCREENSHOTS")

    browser.open(address)
    eventually(lambda: browser.text("#state") == "running", "the page runs")
    eventually(lambda: browser.text("#ok") != "–" and number(browser.text("#ok")) > 50,
               "OK a second is shown")
    assert browser.run("return location.hash") == "", "the token stays in the address"
    eventually(lambda: browser.text("#concurrency").isdigit() and
               int(browser.text("#concurrency")) > 0, "the server's concurrency is shown")
    assert browser.text("#delay").endswith("ms"), browser.text("#delay")
    assert browser.text("#p50") != "–"
    eventually(lambda: all(colours > 20 for colours in browser.painted("figure:not([hidden]) canvas")),
               "all charts are drawn")
    assert not browser.run(VISIBLE, "#held")
    # Nothing of kept connections, because each attempt opens one.
    assert len(browser.painted("figure:not([hidden]) canvas")) == 5
    assert browser.run("return document.querySelector('canvas[data-chart=connections]').closest('figure').hidden")
    plots = browser.run("return charts.slice(0, 4).map(({chartArea: {left, right}}) => `${left} ${right}`)")
    assert len(set(plots)) == 1, f"the outage is at the same place in each: {plots}"
    assert not browser.run("return [...document.querySelectorAll('figure:not([hidden]) canvas')]"
                           ".filter(each => !each.getAttribute('aria-label')).length")

    # Nearly all: a busy machine may answer one too late.
    assert browser.text("#success").endswith(" %") and number(browser.text("#success").split()[0]) > 90, browser.text("#success")
    assert browser.text("#request_p50").endswith("ms"), browser.text("#request_p50")
    assert browser.text("#request_p99") != "–"
    of_latency = browser.run("return Retrystorm.describe('latency', run)")
    assert of_latency.count(" ms") == 3, of_latency

    # Without a window of five seconds before it, an outage has no baseline and no verdict.
    eventually(lambda: browser.run("return run.end") > 5.5, "a baseline")

    # By the keyboard alone: the form's field, then Enter.
    browser.run("const field = document.querySelector('#seconds');"
                "field.focus(); field.value = '600';")
    browser.press(["\ue007"])
    eventually(lambda: state_of(server) == "T", "the server is frozen")
    eventually(lambda: browser.text("#state") == "server frozen", "the page says so")
    eventually(lambda: number(browser.text("#ok")) == 0, "the OK curve falls")
    eventually(lambda: number(browser.text("#timed_out")) > 0, "timeouts are shown")
    last = "return Retrystorm.describe('rates', run)"
    assert "OK 0.0/s" in browser.run(last), browser.run(last)
    assert browser.text("#concurrency") == "no answer"
    assert browser.run("return run.outages.length === 1 && run.outages[0].to === null")

    browser.click("#wake")
    eventually(lambda: state_of(server) in "SR", "the server is awake")
    eventually(lambda: number(browser.text("#ok")) > 50, "the OK curve rises")
    eventually(lambda: browser.text("#verdict") in ("recovered", "recovering"), "a verdict", 60)
    # In the outage no attempt was OK, so there was no latency.
    gap, values = browser.run("""
        const points = run.series.p99;
        return [points.filter(({value}) => value === null).length,
          points.filter(({value}) => value > 0).length];""")
    assert gap > 0 and values > 5, (gap, values)
    # Figures that this strategy never has are not shown.
    assert not browser.run(VISIBLE, "#gave_up") and not browser.run(VISIBLE, "#not_sent")
    assert browser.run(CURVES) == ["OK", "errors", "timed out"], browser.run(CURVES)

    for scheme, back in (("light", "rgb(246, 247, 248)"), ("dark", "rgb(18, 22, 26)")):
        browser.scheme(scheme)
        colour = browser.run("return getComputedStyle(document.body).backgroundColor")
        assert colour == back, (scheme, colour)
    browser.width(390)
    eventually(lambda: browser.run("return document.documentElement.scrollWidth") <= 390,
               "it fits a phone's width")
    if screenshots:
        browser.screenshot(screenshots + "/page-390.png")
    browser.width(1280)

    # What a collapse would show. The next event takes it back.
    held, shown = browser.run("""
        last = {...last, held: {why: 'It is held down by its clients.', shed_above: 30}};
        showHeld();
        return [document.querySelector('#held').textContent, document.querySelector('#held').checkVisibility()];""")
    for words in ("It is held down by its clients.", "Turn away above 30", "Restart the service", "Half the load"):
        assert shown and words in held, (words, held)
    eventually(lambda: not browser.run(VISIBLE, "#held"), "all is well again")
    # Its buttons do what --at does, in the clients and in the server.
    for action in ("load 0.5", "load 1", "set shed-above=150"):
        browser.run("document.querySelector('#half').dataset.action = arguments[0]; document.querySelector('#half').click()", action)
        eventually(lambda: browser.run("return run.actions.at(-1)?.what") == action, f"{action} is done")
    browser.run("document.querySelector('#half').dataset.action = 'load 0.5'")

    # Nobody ends a run by mistake.
    browser.run("window.confirm = () => false")
    browser.click("#restart button")
    assert browser.run("window.confirm = () => true; return run.end") > 10
    browser.run("document.querySelector('#strategy').value = 'sre-throttling'")
    browser.click("#restart button")
    eventually(lambda: "throttle sre, 200 clients" in browser.text("#run"), "the other strategy runs")
    eventually(lambda: browser.text("#earlier td") == "exponential", "the run before is listed")
    assert "given up" not in browser.text("#ended") + browser.text("#phases"), browser.text("#earlier")
    # A frozen server answers nothing but what it had sent, and the requests of that time are answered later.
    phases = browser.run("return [...document.querySelectorAll('#phases tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    before, during, after = [dict(zip(phases[0], row)) for row in phases[1:]]
    assert [each["when"] for each in (before, during, after)] == ["before the outage", "in the outage", "after it"], phases
    assert number(during["OK/s"]) < 10 and number(before["OK/s"]) > 50 and number(after["OK/s"]) > 50, phases
    assert number(during["timed out"]) > 0 and before["strategy"] == "exponential", phases
    if screenshots:
        browser.screenshot(screenshots + "/page-ended.png")

    # A strategy that gives up, and does not send attempts that are unlikely to be accepted.
    eventually(lambda: number(browser.text("#ok")) > 50, "OK a second is shown")
    browser.click("#freeze button")
    eventually(lambda: browser.run(VISIBLE, "#not_sent") and
               number(browser.text("#not_sent_so_far")) > 0, "attempts not sent are shown")
    eventually(lambda: browser.run(VISIBLE, "#gave_up") and number(browser.text("#gave_up")) > 0 and
               "gate " in browser.text("#gave_up_by"), "requests given up are shown")
    assert browser.run(CURVES) == ["OK", "errors", "timed out", "not sent"], browser.run(CURVES)
    assert "not sent" in browser.run(last), browser.run(last)
    assert float(browser.text("#success").removesuffix(" %")) < 100
    # How high it rises depends on how many were accepted before, and so on the speed of this test: the
    # throttle lets more through if more requests were accepted.
    eventually(lambda: number(browser.text("#ok")) == 0, "the OK curve falls again")
    browser.click("#wake")
    eventually(lambda: number(browser.text("#ok")) > 0, "the OK curve rises again")
    browser.width(390)
    eventually(lambda: browser.run("return document.documentElement.scrollWidth") <= 390,
               "it fits a phone's width with the further figures too")
    browser.width(1280)

    browser.run("document.querySelector('#strategy').value = 'truncated'")
    browser.click("#restart button")
    eventually(lambda: "additive:1s jitter, 7 retries, 200 clients" in browser.text("#run"), "a third strategy runs")
    eventually(lambda: not browser.run(VISIBLE, "#not_sent"), "its page is calm again")
    assert browser.run(CURVES) == ["OK", "errors", "timed out"], browser.run(CURVES)
    assert "given up" in browser.text("#ended") and "not sent" in browser.text("#ended")
    # Why attempts fail, in words: the service turns away all but one.
    assert not browser.run(VISIBLE, "#first_error")
    browser.run("document.querySelector('#half').dataset.action = 'set shed-above=1'; document.querySelector('#half').click()")
    eventually(lambda: browser.run(VISIBLE, "#first_error"), "the first error is shown")
    assert browser.text("#first_error") == "the first: the answer 503", browser.text("#first_error")
    assert browser.errors() == [], browser.errors()

    # A browser without the token can only watch: the token stays with the tab.
    browser.run("sessionStorage.clear()")
    browser.open(origin)
    eventually(lambda: browser.text("#state") == "running", "the page runs without the token")
    assert browser.run("return document.querySelector('#freeze button').disabled")
    assert "token" in browser.text("#note")

    # Another origin's page, even with the token, neither reads nor changes anything.
    token = address.partition("#token=")[2]
    browser.open(f"http://127.0.0.1:{serve(Elsewhere)}/")
    attempt = """
        return fetch(arguments[0], arguments[1])
          .then(response => response.type === 'opaque' ? 'opaque' : 'read', () => 'refused');"""
    body = json.dumps({"seconds": 600})
    assert browser.run(attempt, origin + "control/freeze", {
        "method": "POST", "body": body,
        "headers": {"X-Retrystorm-Token": token}}) == "refused"
    assert browser.run(attempt, origin + "control/freeze", {
        "method": "POST", "body": body, "mode": "no-cors"}) == "opaque"
    assert browser.run(attempt, origin + "events", {}) == "refused"
    assert browser.run("""
        return new Promise(done => {
          const frame = document.createElement('iframe');
          frame.onload = () => setTimeout(() => {
            let inside = null;
            try { inside = frame.contentDocument; } catch {}
            done(inside === null ? 'closed' : 'open');
          }, 200);
          frame.src = arguments[0];
          document.body.append(frame);
        });""", origin) == "closed"
    assert state_of(server) in "SR", "another origin froze the server"


def main():
    server_program, client_program = sys.argv[1:3]
    port, admin_port = free_port(), free_port()
    folder = tempfile.TemporaryDirectory()
    token = folder.name + "/token"
    server = subprocess.Popen([server_program, "--port", str(port), "--admin-port",
                               str(admin_port), "--admin-token-file", token], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    client = None
    try:
        assert "metrics" in server.stderr.readline()
        assert "listening" in server.stderr.readline()
        client = subprocess.Popen(
            [client_program, "--url", f"http://127.0.0.1:{port}/api", "--strategy", "exponential",
             "--clients", "200", "--lambda", "1s", "--timeout", "500ms", "--max-delay", "2s",
             "--duration", "170s", "--server-pid", str(server.pid),
             "--server-status", f"http://127.0.0.1:{admin_port}/status",
             "--admin-token-file", token, "--server-admin", f"http://127.0.0.1:{admin_port}", "--dashboard", "--dashboard-port", "0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        address = ""
        while not address.startswith("live page: "):
            address = client.stderr.readline()
            assert address, "the client ended"
        address = address.removeprefix("live page: ").strip()
        with Browser() as browser:
            check(browser, server, address, address.partition("#")[0])
    finally:
        for process in (client, server):
            if process:
                process.terminate()
                process.send_signal(18)  # SIGCONT: a frozen process ends only when it is woken
                process.wait(10)
    print("the page works")


main()
