"""The explorer in a real browser, from a file and without a network:
explorer_test.py EXPLORER SIMULATE FOLDER

FOLDER keeps what is fetched for the test (axe-core). BROWSER=firefox runs in Firefox what needs nothing of
Chromium. ONLY=name,... runs some checks, SCREENSHOTS=DIR
keeps pictures."""

import glob
import gzip
import hashlib
import http.client
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
import urllib.request

import webdriver
from webdriver import Browser, Firefox, eventually

EXPLORER, SIMULATE, FOLDER = map(os.path.abspath, sys.argv[1:4])
HERE = os.path.dirname(os.path.abspath(__file__))
CI = bool(os.environ.get("CI"))

# The case of docs/chains.md.
CHAIN = ("#v=1&chain=api+32x5ms+%3E+orders+16x20ms+%3E200ms+db+8x40ms&clients=400&lambda=4s&timeout=1s&backoff-base=20ms"
         "&max-attempts=3&backlog=64&outage-for=10s")

AXE = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz"
AXE_SHA512 = ("5e6edba515e70d25f6604d9815f064d859c5d1ea7ab661bbc4f87c88779ef0c2"
              "1cae0abbeb636471ef39e9d62d2582e4b88a1866f19f4ecfcf6d986275e4dc12")

# In the page before its own scripts: when the first charts were painted, and how to wait for what
# the page tells.
HELPERS = """
window.test = {
  errors: [],
  painted: () => new Promise(done => requestAnimationFrame(() => setTimeout(done))),
  next(event) {
    const {app} = explorer;
    if (!app.listeners.has(event)) app.listeners.set(event, []);
    return new Promise(done => {
      const all = app.listeners.get(event);
      const once = () => {
        // Not while the list is gone through.
        setTimeout(() => all.splice(all.indexOf(once), 1));
        done();
      };
      all.push(once);
    });
  },
  // Milliseconds until the run of a changed setting is on the screen.
  async change(texts) {
    const begun = performance.now();
    const run = test.next('run');
    explorer.app.change(texts);
    await run;
    await test.painted();
    return performance.now() - begun;
  },
  // Milliseconds for a step of work on an idle machine: of small portions the quickest, which nothing
  // disturbed.
  unit() {
    let unit = Infinity;
    for (let i = 0; i < 200; ++i) {
      const from = performance.now();
      test.work(500000);
      unit = Math.min(unit, (performance.now() - from) / 500000);
    }
    return unit;
  },
  work: n => { let x = 1; for (let i = 0; i < n; ++i) x = Math.imul(x, 1664525) + 1013904223 | 0; return x; },
  // How many times as long as on an idle machine it takes here and now until a thread has worked for
  // 10 ms and then the page, while a further thread works all the time: the quantile `q` of so many
  // rounds.
  async slowness(unit, q, rounds) {
    const source = `
      const work = ${test.work};
      self.onmessage = ({data}) => { work(data.n); self.postMessage(0); };`;
    const url = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}));
    const [worker, other] = [new Worker(url), new Worker(url)];
    const n = Math.round(10 / unit), times = [];
    // Piece by piece: a thread that never listens goes on for two seconds after its end.
    other.onmessage = () => other.postMessage({n});
    other.onmessage();
    for (let i = 0; i < rounds; ++i) {
      const from = performance.now();
      await new Promise(done => { worker.onmessage = done; worker.postMessage({n}); });
      test.work(n);
      times.push(performance.now() - from);
      await new Promise(done => setTimeout(done, 20));
    }
    worker.terminate();
    other.terminate();
    times.sort((a, b) => a - b);
    return times[Math.min(Math.floor(q * times.length), times.length - 1)] / 20;
  },
};
addEventListener('error', ({message}) => test.errors.push(message));
addEventListener('unhandledrejection', ({reason}) => test.errors.push(String(reason)));
{
  let page;
  Object.defineProperty(window, 'explorer', {
    configurable: true,
    get: () => page,
    set(value) {
      page = value;
      // Runs wait while there is a promise `held`. The strips under the knobs, and more seeds than a check
      // looks at, are not computed: they would keep all cores busy.
      const {pool} = page.app, ask = pool.ask;
      const settled = ({many}) => (many?.count ?? 0) >= window.seeds;
      pool.ask = async (question, ...how) => {
        if (question.ask === 'run') await window.held;
        const group = how[0]?.group;
        if (group?.startsWith('cliff') && !window.strips) await new Promise(() => {});
        if (group === 'setting' && question.ask === 'batch' && settled(page.app.ours) &&
          (!page.app.theirs || settled(page.app.theirs))) await new Promise(() => {});
        return ask.call(pool, question, ...how);
      };
      test.next('run').then(test.painted).then(() => { test.opened = performance.now(); });
    },
  });
}
"""


class Explorer:
    """The page in any browser."""

    file = EXPLORER
    unit = None

    def load(self, fragment=""):
        self.open("about:blank")  # another fragment alone would not load it again
        self.open(f"file://{self.file}{fragment}")
        eventually(lambda: self.run("return document.documentElement.dataset.ready === 'yes'"),
                   "the page is ready", within=60)

    def of_processes(self, *fields):
        """The sum of these fields of /proc/PID/stat, counted after the name, of all processes of the browser."""
        total, group = 0, os.getpgid(self.driver.pid)
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path) as file:
                    found = file.read().rsplit(")", 1)[1].split()
                if int(found[2]) == group:
                    total += sum(int(found[field]) for field in fields)
            except (OSError, IndexError):
                pass
        return total

    def processor_time(self):
        """Seconds that they have worked."""
        return self.of_processes(11, 12) / os.sysconf("SC_CLK_TCK")

    def open_knobs(self):
        """Without the question."""
        self.load("#v=1")

    def settle(self, count=100):
        eventually(lambda: self.run("""
            const {app} = explorer;
            return (app.ours.many?.count ?? 0) >= arguments[0] &&
              (!app.state.pinned || app.theirs?.many?.count >= arguments[0] && app.difference !== null);""",
            count), f"{count} seeds are simulated", within=120)

    def show_knob(self, name):
        """Opens the tab, and the group, that it is in."""
        self.run("explorer.app.knobs.reveal(arguments[0])", name)

    def value(self, name):
        return self.run("return explorer.app.value(arguments[0])", name)

    def wait_for_value(self, name, text):
        eventually(lambda: self.value(name) == text, f"{name} is {text}")

    def type_into(self, selector, text):
        self.run("const field = document.querySelector(arguments[0]); field.focus(); field.select();",
                 selector)
        self.press((text or BACKSPACE) + ENTER)

    def slowness(self, q):
        if self.unit is None:
            self.unit = self.run("return test.unit()")
        return max(self.run("return test.slowness(...arguments)", self.unit, q, 10 if q > 0.9 else 5), 1)


class Page(Explorer, Browser):
    def __init__(self):
        super().__init__()
        self.before(HELPERS)
        self.chromium("Network.enable")
        self.chromium("Network.emulateNetworkConditions", offline=True, latency=0,
                      downloadThroughput=0, uploadThroughput=0)

    def before(self, script):
        """Runs a script in each page before those of the page."""
        answer = self.chromium("Page.addScriptToEvaluateOnNewDocument", source=script)
        return answer["identifier"]

    def no_more(self, identifier):
        self.chromium("Page.removeScriptToEvaluateOnNewDocument", identifier=identifier)

    def motion(self, preference):
        self.chromium("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": preference}])


class PageInFirefox(Explorer, Firefox):
    """Loads a copy of the page that begins with the scripts."""

    def __init__(self):
        super().__init__()
        self.scripts = [HELPERS]
        self.file = f"{self.folder}/explorer.html"
        self.write()

    def write(self):
        with open(EXPLORER, encoding="utf-8") as file:
            text = file.read()
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text.replace("<style>", "".join(f"<script>{each}</script>" for each in self.scripts) + "<style>", 1))

    def before(self, script):
        self.scripts.append(script)
        self.write()
        return script

    def no_more(self, script):
        self.scripts.remove(script)
        self.write()

    def motion(self, preference):
        self.preference("ui.prefersReducedMotion", int(preference == "reduce"))


ENTER, TAB, LEFT, RIGHT, BACKSPACE = "\ue007", "\ue004", "\ue012", "\ue014", "\ue003"


SLOWER = 4  # times than where the figures of the page were taken, a machine may be


def within(page, what, limit, measure, q=0.5, attempts=3):
    """Prints `measure()` milliseconds, a quantile of several, beside the `limit` that an idle machine
    keeps. Fails where they are more than a machine that is slower, and as busy as this one, needs."""
    for _ in range(attempts):
        before = page.slowness(q)
        took = measure()
        slowness = max(before, page.slowness(q))
        print(f"  {what}: {took:.0f} ms (at most {limit}; the machine takes {slowness:.1f} times as"
              " long as when idle)", flush=True)
        if took <= SLOWER * limit * slowness:
            return
    raise AssertionError(f"{what}: {took:.0f} ms, more than {SLOWER} times {limit}, and three times running")


def quantile(values, q):
    values = sorted(values)
    return values[min(int(q * len(values)), len(values) - 1)]


# --- the checks ----------------------------------------------------------------------------------


def check_file(page):
    """It is one file, small, and asks for nothing."""
    with open(EXPLORER, "rb") as file:
        text = file.read()
    print(f"  {len(text)} bytes, {len(gzip.compress(text, 9))} compressed")
    assert len(text) <= 1_500_000
    assert len(gzip.compress(text, 9)) <= 655_000
    page.load()
    resources = page.run("""
        return performance.getEntriesByType('resource').map(each => each.name)
          .filter(name => !/^(data|blob):/.test(name));""")
    assert resources == [], resources
    policy = page.run("return document.querySelector('meta[http-equiv=Content-Security-Policy]').content")
    assert policy.startswith("default-src 'none';") and "http" not in policy, policy
    assert "connect-src" not in policy and "unsafe-eval'" not in policy.replace("wasm-unsafe-eval'", "")
    assert page.errors() == [], page.errors()
    refused = page.run("return fetch('http://127.0.0.1:9/').then(() => false, () => true)")
    assert refused
    page.errors()  # of that


def check_opening(page):
    """First charts within 1.5 s, also at a quarter of the processor's speed."""
    page.load()
    for rate in (1, 4):
        def opened(rate=rate):
            page.chromium("Emulation.setCPUThrottlingRate", rate=rate)
            page.load()
            took = eventually(lambda: page.run("return test.opened"), "the first charts", within=60)
            page.chromium("Emulation.setCPUThrottlingRate", rate=1)
            return took
        within(page, f"first charts at 1/{rate} of the speed", 1500, opened)
    colours = page.painted("#timeline canvas")
    assert len(colours) == 3 and all(each > 5 for each in colours), colours


# How many pixels of curves each chart has later than a time; grids, texts and the shade are grey.
DRAWN_AFTER = """[...document.querySelectorAll('#timeline canvas')].filter(canvas => Chart.getChart(canvas)).map(canvas => {
    const {chartArea: area, scales: {x}} = Chart.getChart(canvas), ratio = devicePixelRatio;
    const left = x.getPixelForValue(%s) + 3;
    const {data} = canvas.getContext('2d').getImageData(left * ratio, area.top * ratio, (area.right - left) * ratio, area.height * ratio);
    const pixels = new Uint32Array(data.buffer);
    let count = 0;
    for (let i = 0; i < pixels.length; ++i) {
      if (pixels[i] === 0) continue;
      const r = data[4 * i], g = data[4 * i + 1], b = data[4 * i + 2];
      if (Math.max(r, g, b) - Math.min(r, g, b) > 40) ++count;
    }
    return count;
  })"""


def check_question(page):
    """A storm, and a question: until it is answered nothing after the outage is drawn, in no frame."""
    spied = page.before(f"""
        window.spoiled = 0;
        const look = () => {{
          if (document.documentElement.dataset.story) window.spoiled += {DRAWN_AFTER % 50}.reduce((sum, each) => sum + each, 0);
          requestAnimationFrame(look);
        }};
        requestAnimationFrame(look);""")
    for width, motion in ((1280, "no-preference"), (390, "no-preference"), (390, "reduce")):
        page.width(width)
        page.motion(motion)
        what = f"{width} pixels, motion {motion}"
        page.load()
        assert "Will it come back?" in page.text("#story"), page.text("#story")
        assert page.text("#story").startswith("1,000 clients give up an attempt after 2 s, and try again 100 ms after each failure. The server froze for 20 s"), page.text("#story")
        eventually(lambda: min(page.run(f"return {DRAWN_AFTER % 5}")) > 100, f"the first half is drawn: {what}")
        page.settle(20)
        assert page.run("return test.painted().then(() => spoiled)") == 0, what
        yes = motion == "reduce"
        page.click("#story-yes" if yes else "#story-no")
        eventually(lambda: min(page.run(f"return {DRAWN_AFTER % 100}")) > 20, f"the second half is drawn: {what}")
        eventually(lambda: ("No, it stays down." if yes else "Correct.") in page.text("#story"), "the answer is shown")
    page.no_more(spied)
    page.motion("no-preference")
    page.width(1280)


def check_handles(page):
    """The edges of the outage stand at the ends of its shade in every frame."""
    page.open_knobs()
    page.settle(20)
    page.run("""
        window.astray = [];
        const look = () => {
          const chart = Chart.getChart(document.querySelector('#timeline canvas'));
          const {left} = chart.canvas.getBoundingClientRect(), [{from, to}] = explorer.app.ours.run.outages;
          const [begin, end] = document.querySelectorAll('.timeline-edge');
          const off = [begin.getBoundingClientRect().right - left - chart.scales.x.getPixelForValue(from),
            end.getBoundingClientRect().left - left - chart.scales.x.getPixelForValue(to)];
          if (off.some(each => Math.abs(each) > 1)) astray.push(off);
          // After what is left to do in this frame.
          requestAnimationFrame(() => setTimeout(look));
        };
        look();""")
    for width in (1280, 700, 390, 1440, 900, 1280):
        page.width(width)
        time.sleep(0.2)
    for name, by in (("begin", -40), ("end", 200), ("end", -250)):
        # Where it is once the charts have their new width.
        x, y = page.run("""
            const handle = document.querySelector(arguments[0]);
            const middle = () => {
              const {x, y, width, height} = handle.getBoundingClientRect();
              return [Math.round(x + width / 2), Math.round(y + height / 2)];
            };
            return (async () => {
              let before = null, now = middle();
              while (String(now) !== String(before) || document.elementFromPoint(...now) !== handle) {
                before = now;
                await test.painted();
                now = middle();
              }
              return now;
            })();""", f".timeline-{name}")
        before = page.run("return explorer.app.state.given['outage-for']")
        page.drag(x, y, x + by)
        eventually(lambda: page.run("return explorer.app.state.given['outage-for']") != before, f"the edge has moved: {name} by {by}")
        # The axis may change once more when the run of the new outage is there.
        eventually(lambda: page.run("""
            const {ours, state} = explorer.app, [{from, to}] = ours.run.outages;
            return Math.abs(to - from - parseFloat(state.given['outage-for'])) < 0.01;"""), "its run is there")
        page.settle(20)
    assert page.run("return test.painted().then(() => astray)") == []


def check_computing(page):
    """No verdict is shown of another setting than the one above it."""
    def headline():
        return page.run("return document.getElementById('headline')?.textContent ?? ''")

    hold = "window.held = new Promise(done => { window.release = done; });"
    held = page.before(hold)
    page.open("about:blank")
    page.open(f"file://{EXPLORER}#v=1&strategy=exponential")
    eventually(lambda: headline().startswith("Computing"), "a link is being computed")
    page.no_more(held)
    assert "1,000 clients" in page.text("#story")
    page.run("release(); delete window.held")
    eventually(lambda: headline().startswith("Comes back in 20 of 20"), "its verdict")

    page.run("return test.change({clients: '1000'})")
    page.run(hold)
    page.run("explorer.app.change({clients: '2000'})")
    eventually(lambda: headline().startswith("Computing"), "a change is being computed")
    said = headline()
    assert "omes back" not in said and "s (at most 10 s)" in said, said
    assert page.run("return getComputedStyle(document.querySelector('#timeline figure')).opacity") == "0.45"
    assert page.run("return document.getElementById('share-png').disabled")
    time.sleep(1)  # strips wait this long for the statistics
    strips = page.run("""
        const {pool} = explorer.app;
        return [...pool.waiting, ...pool.workers.map(({task}) => task)].filter(task => task?.group.startsWith('cliff')).length;""")
    assert strips == 0, "no strip of the earlier setting is filled with runs of this one"
    page.click("#stop")
    eventually(lambda: page.text("#error").startswith("Stopped"), "it is stopped")
    assert headline().startswith(("Before this change: Comes back in ", "Before this change: 1 seed: recovered")), headline()
    assert "before" in page.text(".verdict-figures thead"), page.text(".verdict-figures thead")

    page.run("release(); delete window.held")
    page.run("explorer.app.change({clients: '1000000000'})")
    eventually(lambda: re.match(r"This needs about \d+ GB of memory", page.text("#error")), "it is refused")
    assert headline().startswith(("Before this change: Comes back in ", "Before this change: 1 seed: recovered")), headline()
    page.run("return test.change({clients: '900'})")
    assert headline().startswith(("1 seed: recovered", "Comes back")), headline()
    assert page.text("#error") == ""
    assert page.run("return getComputedStyle(document.querySelector('#timeline figure')).opacity") == "1"
    assert page.errors() == [], page.errors()


def check_mechanism(page):
    """The second chart shows who still waits, and a sentence says how the run ended, and why."""
    def said(given):
        page.run("""
            const run = test.next('run');
            explorer.app.replace(arguments[0]);
            return run.then(test.painted);""", given)
        return page.text(".timeline-why")

    page.open_knobs()
    for given, words in (
            ({}, r"At 0:51 1,095 requests were in the service, 143 over the line; since then none of the 4\d\d attempts/s is answered in time, so all are sent again\."),
            ({"service": "workers"}, r"At 0:51 \d+ requests were in the service, \d+ over the line; since 0:5\d none of the 4\d\d attempts/s is answered in time, so all are sent again\."),
            ({"strategy": "exponential"}, r"The service stayed below the line, with at most \d{3} requests in it for a moment\. The waits had grown: .* 476\."),
            ({"strategy": "aws-standard"}, r"The service stayed below the line.*, because [\d,]+ requests were given up: the retry budget was empty\."),
            ({"strategy": "polly"}, r"The service stayed below the line.*, because the circuit breakers were open: [\d,]+ attempts were not sent\."),
            ({"shed-above": "90"}, r"The service stayed below the line.*, because [\d,]+ attempts were turned away at once \(shed\)\."),
            ({"at": "60s set shed-above=90"}, r"At 1:50 [\d,]+ requests are still in the service, [\d,]+ over the line, and it finishes none\. All [\d,]+ attempts/s are turned away at once \(shed\): none succeeds\."),
            ({"shed-above": "200"}, r"The service stayed below the line.*, because \d+ attempts were turned away at once \(shed\)\."),
            ({"service": "workers", "queue-order": "lifo"}, r"Up to [\d,]+ requests were in the service, which serves the newest first: .*"),
            ({"outage": "errors:0.5"}, r"The service stayed below the line.*: \d+ attempts/s came in the 10 s after the outage, and 1,247 can be served\."),
            ({"at": "60s restart"}, r"At 0:51 1,095 .* at 1:\d\d it was below it again, after restart at 1:00\."),
            ({"strategy": "exponential", "observe": "5s"}, r"Back for too short a time: at 0:55 .* OK/s, 99 before the outage; .*"),
            ({"strategy": "resilience4j", "observe": "30s"}, r"Not yet: at 1:20 .* OK/s, 99 before the outage; .*, and the circuit breakers are open\."),
            ({"outage-for": "0s"}, "")):
        text = said(given)
        assert re.fullmatch(words, text), (given, text)
        assert "the line" not in text or page.run("return explorer.app.timeline.late < Infinity"), f"it is drawn: {given}"

    said({})
    top, line, points = page.run("""
        const {app} = explorer, chart = Chart.getChart(document.querySelector('[data-chart=service]'));
        const {series} = app.ours.run, reported = series.concurrency.filter(({value}) => value !== null); // not while it is frozen
        return [chart.scales.y.max, app.timeline.late, ['waited_for', 'abandoned', 'concurrency'].map(name => reported.map(({x}) => series[name].findLast(each => each.x === x).value))];""")
    waited, abandoned, all_ = points
    assert line == 952 and top >= max(all_) > 10000, (line, top, max(all_))
    assert [a + b for a, b in zip(waited, abandoned)] == all_ and max(waited) <= 1000 and max(abandoned) > 10000
    colours = page.run("""
        const canvas = document.querySelector('[data-chart=service]'), {scales: {x, y}} = Chart.getChart(canvas), ratio = devicePixelRatio;
        const at = Math.round(y.getPixelForValue(952)), got = canvas.getContext('2d').getImageData(x.getPixelForValue(100) * ratio, at * ratio, 1, 1).data;
        return [...got];""")
    assert colours[0] > 1.5 * colours[2], f"the line is red: {colours}"
    assert page.errors() == [], page.errors()


def check_places(page):
    """The second chart has what lies in the accept queue and in sockets' buffers, also while the service is frozen."""
    page.load("#v=1&connections=multiplexed&strategy=exponential")
    buffers, waiting, line = page.run("""
        const {series} = explorer.app.ours.run, chart = Chart.getChart(document.querySelector('[data-chart=service]'));
        const near = name => series[name].find(({x}) => x === 45)?.value;
        return [near('buffers'), near('waited_for'), chart.data.datasets.filter(({extra}) => !extra).map(({label}) => label)];""")
    assert buffers > 1000 and waiting is not None, (buffers, waiting)
    assert line == ["in the service", "for nobody any more", "sockets\u2019 buffers"], line
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        page.run("return test.painted()")
        inside, above = page.run("""
            const canvas = document.querySelector('[data-chart=service]'), {scales: {x, y}} = Chart.getChart(canvas), ratio = devicePixelRatio;
            const at = value => [...canvas.getContext('2d').getImageData(x.getPixelForValue(49.5) * ratio, y.getPixelForValue(value) * ratio, 1, 1).data];
            return [at(3000), at(6000)];""")
        # Reddish purple, over the shade of the outage.
        assert inside[0] > inside[1] + 20 and inside[2] > inside[1] + 20 and abs(above[0] - above[1]) < 25, (scheme, inside, above)
    page.scheme("light")
    assert re.search(r"sockets. buffers 0 \(at most [\d,]+\)", page.run("return document.querySelector('[data-chart=service]').getAttribute('aria-label')"))
    page.load("#v=1")
    assert "accept queue" in page.run("return document.querySelector('.timeline-service .timeline-legend').textContent")
    # One more than its length.
    assert page.run("return explorer.app.ours.run.greatest('accept_queue')") == 257
    assert page.errors() == [], page.errors()


def check_graph(page):
    """Services behind services: boxes filled by use, lines as wide as their calls, at a time of the run; a click opens their knobs."""
    page.load("#v=1")
    assert not page.run("return document.getElementById('graph').checkVisibility()")
    state = """
        const [from, to] = document.querySelector('#graph output').textContent.split(' – ');
        const figure = name => {
          const box = document.querySelector(`[data-node=${name}]`), part = each => parseFloat(box.querySelector(`.graph-${each}`).style.height);
          return {state: box.dataset.state, wanted: part('wanted'), nobody: part('nobody'), held: part('held'), label: box.getAttribute('aria-label')};
        };
        const width = edge => Number(document.querySelector(`[data-edge="${edge}"]`).getAttribute('stroke-width'));
        return {from, to, api: figure('api'), db: figure('db'), wide: ['clients.api', 'api.orders', 'orders.db'].map(width)};"""
    for width in (1280, 390):
        page.width(width)
        page.load(CHAIN)
        # Where the first one died, whose workers are held, while the last one works for nobody.
        died = page.run(state)
        assert (died["from"], died["to"]) == ("0:50", "0:55"), died
        assert died["api"]["state"] == "dead" and died["api"]["held"] > 90 and died["db"]["nobody"] > 95, died
        assert "api, dead:" in died["api"]["label"] and "1,286 for a worker" in died["api"]["label"], died
        page.run("const slider = document.getElementById('graph-time'); slider.value = 4; slider.dispatchEvent(new Event('input'))")
        calm = page.run(state)
        assert (calm["to"], calm["api"]["state"], calm["db"]["nobody"]) == ("0:25", "", 0), calm
        assert calm["wide"] == [3, 3, 3] and died["wide"][1] > 5, (calm, died)
        page.run("const slider = document.getElementById('graph-time'); slider.value = 7; slider.dispatchEvent(new Event('input'))")
        assert page.run(state)["db"]["state"] == "frozen"
        # Nothing is wider than the page, and no box over another.
        assert page.run("""
            const boxes = [...document.querySelectorAll('.graph-node')].map(each => each.getBoundingClientRect());
            return document.documentElement.scrollWidth <= innerWidth && boxes.every((a, i) => boxes.slice(i + 1).every(b =>
              a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top));""")
    page.width(1280)
    page.load(CHAIN)
    page.click("[data-node=db]")
    assert page.run("return document.getElementById('knobs-whose').value") == "db"
    assert "Where requests lie: db" == page.text(".timeline-service figcaption")
    assert page.run("return document.getElementById('knob-db.workers').value") == "8"
    page.run("return test.change({'db.workers': '16'})")
    assert "s.db.workers=16" in page.run("return location.hash") and "of 16" in page.run(state)["db"]["label"]
    assert page.run("return explorer.app.description.command").startswith("cat >services.ini <<'END'\n[api]\n")
    page.run("[...document.querySelectorAll('.graph-edge')].find(each => each.getAttribute('aria-label').startsWith('orders call db')).click()")
    assert page.run("return document.getElementById('knobs-whose').value") == "orders.db"
    assert page.run("return document.getElementById('knob-orders.db.timeout').value") == "200ms"
    # Clients of several kinds have boxes and knobs of their own.
    page.load("#v=1&s.api.workers=4&s.clients.app.arrivals=open&s.clients.app.rate=20&s.clients.job.clients=9&outage-for=0s&observe=20s")
    assert page.run("return [...document.querySelectorAll('.graph-clients')].map(each => each.textContent)") == ["app", "job"]
    page.run("[...document.querySelectorAll('.graph-clients')][0].click()")
    assert page.run("return document.getElementById('knobs-whose').value") == "clients.app"
    assert page.run("return document.getElementById('knob-clients.app.rate').value") == "20"
    page.load(CHAIN)
    page.run("return test.change({'db.workers': '16'})")
    # The same setting from its link, and by the way of its chip.
    page.load(page.run("return location.hash"))
    page.run("[...document.querySelectorAll('.chip-name')].find(each => each.textContent === 'db.workers 16').click()")
    assert page.run("return document.activeElement.id") == "knob-db.workers"
    page.run("return test.change({'db.workers': null, chain: null})")
    assert not page.run("return document.getElementById('graph').checkVisibility()")
    assert page.errors() == [], page.errors()


def check_hosts(page):
    """Several hosts are boxes below the charts: as the run's lines of JSON say at a time that the slider, a pointer or Play chooses."""
    page.load("#v=1")
    assert not page.run("return document.getElementById('hosts').checkVisibility()")
    assert page.run("return document.querySelector('[data-name=eject]').hidden"), "knobs of hosts are shown where there are some"
    given = {"replicas": "3", "workers": "10", "service-time": "100ms", "arrivals": "open", "rate": "150", "max-attempts": "1", "eject": "5:30s:0.34",
             "outage": "errors:1", "outage-replicas": "1", "at": "70s restart host 3", "host-start": "8s"}
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        subprocess.run([SIMULATE, *(f"--{name}={text}" for name, text in given.items()), "--seed=1", f"--json={file.name}"],
                       check=True, capture_output=True, timeout=60)
        lines = [each for each in map(json.loads, file) if each["type"] == "host"]
    link = "#v=1&" + "&".join(f"{name}={text.replace(' ', '+')}" for name, text in given.items())

    def choose(t):
        page.run("const slider = document.getElementById('hosts-time'); slider.value = arguments[0]; slider.dispatchEvent(new Event('input'))", t - 1)

    def agree(t, *states):
        """The boxes are as the lines at this time; its states in words."""
        boxes = page.run("""
            return [...document.querySelectorAll('.hosts-boxes > *')].map(box => [box.className.split('-').at(-1), parseFloat(box.firstChild.style.height),
              box.getAttribute('aria-label'), box.title, getComputedStyle(box).borderTopColor]);""")
        now = [each for each in lines if each["t"] == t]
        assert [each[0] for each in boxes] == list(states) and len(now) == 3, (t, boxes)
        for (state, fill, label, title, _), line in zip(boxes, now):
            assert (line["out"] == 1) == (state == "ejected") and (line["state"] == "up") == (state in ("up", "ejected")), (label, line)
            assert fill == 10 * line["busy"], (label, line)
            assert label == title and label.startswith(f"host {line['host']}: {state}, {line['busy']} of 10 workers busy"), (label, line)
            assert (f", {line['waiting']} wait" in label) == (line["waiting"] > 0), (label, line)
        colours = [colour for *_, colour in boxes]
        assert len(set(colours)) == len(set(states)), colours
        key = page.run("return [...document.querySelectorAll('.hosts-key > span')].map(each => each.textContent)")
        assert sorted(key) == sorted(f"{each} {states.count(each)}" for each in set(states)), key
        return page.text("#hosts output")

    for width in (1280, 390):
        page.width(width)
        page.load(link)
        end = max(each["t"] for each in lines)
        assert agree(end, "up", "up", "up").endswith("1:50"), "nothing is chosen: the end of the run"
        choose(40)
        assert agree(40, "ejected", "up", "up") == "0:39 \u2013 0:40"
        choose(75)
        assert agree(75, "up", "up", "restarting") == "1:14 \u2013 1:15"
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    page.width(1280)
    page.run("scrollTo(0, 0)")
    x, y = page.run("""
        const chart = Chart.getChart(document.querySelector('[data-chart=clients]')), {left, top} = chart.canvas.getBoundingClientRect();
        return [Math.round(left + chart.scales.x.getPixelForValue(39.5)), Math.round(top + 40)];""")
    page.drag(x, y, x)
    eventually(lambda: page.text("#hosts output") == "0:39 \u2013 0:40", "the pointer chooses a time")
    agree(40, "ejected", "up", "up")
    page.click("#hosts-play")
    assert page.text("#hosts-play") == "Stop"
    eventually(lambda: page.text("#hosts output").startswith("0:1"), "it is played")
    page.click("#hosts-play")
    # Of so many each box is some of them.
    page.run("return test.change({replicas: '600', rate: '9000', at: null})")
    assert page.run("return document.querySelectorAll('.hosts-boxes > *').length") == 200
    assert page.run("return document.querySelector('.hosts-boxes > *').title").startswith("hosts 1 to 3: ")
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    page.run("return test.change({replicas: null, 'outage-replicas': null})")
    assert not page.run("return document.getElementById('hosts').checkVisibility()")
    assert page.errors() == [], page.errors()


def check_endings(page):
    """Where runs end differently, the one that is drawn is of the more frequent ending, and says so."""
    page.load("#v=1&strategy=exponential&backlog=400")
    page.settle()
    down = page.run("return explorer.app.ours.many.results.filter(({verdict}) => verdict === 'collapsed').length")
    assert 20 < down < 45, down
    eventually(lambda: f"one of {100 - down} that come back" in page.text(".timeline-note"), "the majority is drawn")
    assert page.text(".timeline-why").startswith("In this run (seed 4) the service stayed below the line")
    assert page.run("return explorer.app.ours.drawn.seed") != "1", "the first seed is of the minority"
    tiles = page.text(".verdict-tiles")
    assert "backmostly within 5 s" in tiles and "slowest 1 % takemostly " in tiles, tiles
    page.click(".timeline-see")
    eventually(lambda: f"see one of {100 - down} that come back" in page.text(".timeline-note"), "the minority is drawn")
    assert "over the line" in page.text(".timeline-why"), page.text(".timeline-why")
    bands = page.run("""
        return Chart.getChart(document.querySelector('[data-chart=rates]')).data.datasets.filter(({extra}) => extra).map(({backgroundColor}) => backgroundColor);""")
    assert len(bands) == 4 and len(set(bands)) == 2, bands
    assert page.errors() == [], page.errors()


def check_figures(page):
    """Figures say what happened, also to requests that never ended."""
    def figures():
        return page.run("""
            return Object.fromEntries([...document.querySelectorAll('.verdict-tiles div, .verdict-figures tbody tr')].map(({children: [name, text]}) =>
              [name.querySelector('.term')?.textContent ?? name.textContent, text.textContent]));""")

    def phases():
        return page.run("""
            const [head, ...rows] = document.querySelector('.verdict-phases').rows;
            return rows.map(({cells}) => Object.fromEntries([...head.cells].map(({textContent}, i) => [textContent, cells[i].textContent])));""")

    page.open_knobs()
    page.settle(20)
    down = figures()
    assert down["back"] == "never" and down["answered afterwards"] == "none" and re.fullmatch(r"over 5\d\.\d s", down["slowest 1 % take"]), down  # the end is 60 s after the outage
    before, during, after = phases()
    assert [each["when"] for each in (before, during, after)] == ["before the outage", "in the outage", "after it"]
    assert during["succeeded"] == after["succeeded"] == "0.00 %" and during["OK/s"] == after["OK/s"] == "0.0", (during, after)
    assert 90 < float(before["OK/s"]) < 110 and after["p99"] == down["slowest 1 % take"], (before, after)
    assert "errors" not in before and "given up" not in before, before
    assert "given up" not in down and "not sent" not in down, "no rows of zeros"
    page.run("return test.change({strategy: 'exponential'})")
    page.settle(20)
    back = figures()
    assert back["back"] == back["back after"] == "within 5 s", back
    assert back["slowest 1 % take"].endswith(" ms"), back
    assert not any("0.0 s" in text for text in back.values()), back
    assert page.run("return Retrystorm.number(1e6)") == "1,000,000"
    assert "by status" not in page.text("#verdict"), page.text("#verdict")
    page.run("return test.change({outage: 'errors:50%'})")
    page.settle(20)
    assert re.search(r"by status: 503 1,\d\d\d in the outage\.", page.text("#verdict")), page.text("#verdict")
    assert float(phases()[1]["errors"].replace(",", "")) > 1000, phases()


def check_screen(page):
    """At 1280 x 800 the answer, the charts and the remedies are seen at once; nothing in it scrolls by itself."""
    for fragment in ("#v=1", "#v=1&strategy=exponential&backlog=400", "#v=1&strategy=exponential&backlog=400&story=4"):
        page.width(1280, 800)
        page.load(fragment)
        page.settle(20)
        eventually(lambda: page.run("return explorer.app.ours.drawn.seed") == ("4" if fragment.endswith("backlog=400") else "1"), "it is drawn")
        lowest, scrolling = page.run("""
            return [Math.max(...[...document.querySelectorAll('.view > *')].map(each => each.getBoundingClientRect().bottom)),
              [...document.querySelectorAll('.work, .work *')].filter(each => ['auto', 'scroll'].includes(getComputedStyle(each).overflowY) && each.scrollHeight > each.clientHeight).length];""")
        assert lowest <= 800 and scrolling == 0, (fragment, lowest, scrolling)
        # While the knobs are turned, on a phone too.
        for width, height, seen in ((1280, 800, "#headline, #timeline figure"), (390, 844, "#headline, .timeline-rates")):
            page.width(width, height)
            page.run("explorer.app.knobs.select('clients'); document.getElementById('knob-jitter').scrollIntoView({block: 'end'})")
            unseen = page.run("""
                return [...document.querySelectorAll(arguments[0])].filter(each => {
                  const {top, bottom} = each.getBoundingClientRect();
                  return top < -1 || bottom > innerHeight + 1;
                }).map(each => each.id || each.className);""", seen)
            assert unseen == [], (fragment, width, unseen)
            assert page.run("return scrollY") > 100
    page.width(1280)


def check_undo(page):
    """Each settled change can be taken back: by the button, Ctrl+Z and the browser's Back."""
    page.open_knobs()
    page.settle(20)
    assert page.run("return document.getElementById('undo').hidden")
    page.run("return test.change({backlog: '300'})")
    page.run("return test.change({backlog: '400'})")
    page.settle(20)
    eventually(lambda: page.text("#undo") == "Undo: backlog 400", "undo: backlog 400")
    page.run("return test.change({strategy: 'exponential'})")
    page.settle(20)
    eventually(lambda: page.text("#undo") == "Undo: strategy exponential", "undo: strategy exponential")
    assert page.text(".setting-chips") == "backlog 400\u00d7strategy exponential\u00d7", page.text(".setting-chips")
    page.click("#undo")
    page.wait_for_value("strategy", "fixed")
    page.settle(20)
    eventually(lambda: page.text("#undo") == "Undo: backlog 400", "undo: backlog 400")
    page.run("document.getElementById('pin').dispatchEvent(new KeyboardEvent('keydown', {key: 'z', ctrlKey: true, bubbles: true, cancelable: true}))")
    page.wait_for_value("backlog", "256")
    eventually(lambda: page.run("return document.getElementById('undo').hidden"), "nothing is left to undo")
    page.run("history.forward()")
    page.wait_for_value("backlog", "400")
    page.settle(20)
    page.click(".chip-name")
    assert page.run("return document.activeElement.id") == "knob-backlog", "a chip leads to its knob"
    page.click(".chip-remove")
    page.wait_for_value("backlog", "256")
    assert page.errors() == [], page.errors()


def check_story(page):
    """After the answer a story of some steps: each with its setting, in the link, and left at any time."""
    page.load()
    eventually(lambda: page.run("return document.getElementById('story-no') !== null"), "the question is asked")
    page.click("#story-no")
    for step, given, words in ((1, {}, r"It stays down in all 20 runs. Waits that grow \(backoff\), fewer attempts or a restart would help."), (2, {}, "See the second chart."), (3, {"strategy": "exponential"}, "It comes back in all 20 runs."),
                               (4, {"strategy": "exponential", "backlog": "400"}, r"It stays down in \d of 20 runs."),
                               (5, {"strategy": "exponential", "backlog": "400", "at": "60s restart"}, "It comes back in all 20 runs."), (6, {}, "Choose your library")):
        eventually(lambda: (said := page.text(".story-step")).startswith(f"{step} of 6. ") and re.search(words.replace("20", "(20|100)").replace(r"\d", r"\d+"), said),
                   f"step {step}: {words}", within=60)
        assert page.run("return explorer.app.state.given") == given
        page.settle(20)
        eventually(lambda: f"story={step}" in page.run("return location.hash"), "it is in the link")
        lit = page.run("return getComputedStyle(document.querySelector('.timeline-service')).outlineStyle")
        assert (lit == "solid") == (step in (2, 4)), (step, lit)
        if step == 4:
            link = page.run("return location.hash")
        if step < 6:
            page.click("#story-next")
    page.click("#story-leave")
    assert page.run("return document.querySelector('.story-steps').hidden")
    page.load(link)
    assert page.text(".story-step").startswith("4 of 6. ") and page.value("backlog") == "400"
    # The text of a step is not true of another setting.
    page.run("return test.change({strategy: 'none'})")
    eventually(lambda: re.fullmatch(r"You have changed the setting. It comes back in all \d+ runs.", page.text(".story-step")), page.text(".story-step"), within=60)
    page.click("#story-next")
    eventually(lambda: page.text(".story-step").startswith("4 of 6. "), page.text(".story-step"))
    eventually(lambda: page.value("strategy") == "exponential", "the setting of the step is back")
    assert page.errors() == [], page.errors()


def check_share(page):
    """A picture at twice the resolution, and Markdown, each with what it shows in words."""
    page.open_knobs()
    page.settle(20)
    page.run("""
        window.saved = [];
        const {createObjectURL} = URL;
        URL.createObjectURL = blob => { saved.push(blob); return createObjectURL.call(URL, blob); };""")
    before = page.run("return document.querySelector('#timeline canvas').width")
    page.click("#share-png")
    eventually(lambda: "Saved" in page.text(".share-said"), "the picture is saved")
    width, height = page.run("""
        return createImageBitmap(saved[0]).then(({width, height}) => [width, height]);""")
    assert width > 2 * before and height > 1000, (width, height, before)
    assert page.run("return document.querySelector('#timeline canvas').width") == before, "the page is as it was"
    page.click("#share-markdown")
    eventually(lambda: "Markdown" in page.text(".share-said"), "it is copied")
    text = page.text("#share pre[aria-label=Markdown]")
    for word in ("**Stays down in ", "1,000 clients, fixed retries; the server freezes for 20 s.", "143 over the line", "    build/bin/simulate", "](explorer.html#v=1), retrystorm 1."):
        assert word in text, (word, text)
    # In another page it is small, and leads to the whole.
    page.load("#v=1&strategy=exponential&embed=1")
    page.settle(20)
    seen = page.run("return [...document.querySelectorAll('.knob, main > section, header, #remedies, #timeline figure')].filter(each => each.checkVisibility()).map(each => each.dataset.name ?? each.tagName)")
    assert seen == ["FIGURE", "FIGURE", "FIGURE", "strategy", "clients", "outage-for"], seen
    page.run("return test.change({clients: '500'})")
    eventually(lambda: "embed=1" in page.run("return location.hash"), "it stays so")
    assert page.run("return document.querySelector('.embed-whole a').hash") == "#v=1&strategy=exponential&clients=500"
    assert page.errors() == [], page.errors()


def check_gallery(page):
    """Cards with a claim and a picture, which open their settings. They do not answer the question before it is asked."""
    page.load()
    assert not page.run("return document.getElementById('gallery').checkVisibility() || document.querySelector('nav').checkVisibility()")
    page.open_knobs()
    for width in (1280, 390):
        page.width(width)
        cards = page.run("""
            return [...document.querySelectorAll('.gallery-card')].map(card => {
              const [line, shade] = ['.spark-now', '.spark-shade'].map(each => card.querySelector(each).getBoundingClientRect());
              return [card.textContent, line.width, line.height, shade.left > line.left && shade.right < line.right];
            });""")
        assert len(cards) >= 12, len(cards)
        for text, wide, high, within_it in cards:
            assert "tays down in " in text and wide > 150 and high > 10 and within_it, (width, text, wide, high)
    page.width(1280)
    page.click("[data-card=longer]")
    page.wait_for_value("backlog", "630")
    assert page.run("return explorer.app.state.given['outage-for']") == "1m"
    eventually(lambda: page.run("return scrollY") == 0, "its charts are seen")
    page.settle(20)
    assert page.text("#headline").startswith("Comes back in 20 of 20"), page.text("#headline")
    # A link within the page leaves the setting in the address.
    page.click("nav a")
    assert page.run("return document.activeElement.id") == "gallery"
    assert "backlog=630" in page.run("return location.hash") and page.text("#notice") == ""
    assert page.errors() == [], page.errors()


def check_outlook(page):
    """What is asked is said by arithmetic; what cannot go well without a click."""
    page.load("#v=1&strategy=exponential")
    assert page.run("return document.querySelectorAll('.outlook-warnings p').length") == 0
    lines = page.run("return [...document.querySelectorAll('#asked dt')].map(each => each.textContent)")
    assert 8 <= len(lines) <= 16, lines
    assert "1,000 clients: " in page.text("#asked summary"), page.text("#asked summary")
    page.click("#asked summary")
    assert "951" in page.text("#asked dl"), page.text("#asked dl")
    page.run("return test.change({timeout: '50ms'})")
    assert "50 ms" in page.text(".outlook-warnings"), page.text(".outlook-warnings")


def check_trials(page):
    """Below the answer stands what it hangs on, as `simulate` says it: of one second's queue 736 may wait, not 4,096."""
    page.load("#v=1&service=workers&workers=64&service-time=80ms&arrivals=open&rate=400&timeout=1s&max-attempts=2&growth=exponential&backoff-base=500ms&backoff-factor=2&outage-for=30s")
    assert "400 requests per second, exponential from 500ms x 2, 1 retry; " in page.text("#story-sentence"), page.text("#story-sentence")
    eventually(lambda: page.run("return document.querySelector('#trials li') !== null"), "what it hangs on", within=60)
    assert page.text("#trials").startswith("The answer hangs on:"), page.text("#trials")
    assert "backlog=4096" in page.text("#trials"), page.text("#trials")
    # The experiment's service is down because it serves what nobody waits for any more.
    page.load("#v=1")
    page.settle()
    eventually(lambda: "with abandoned=skip" in page.text("#trials"), "what the experiment hangs on", within=60)
    assert page.errors() == [], page.errors()


def check_same_bytes(page):
    page.open_knobs()
    with open(f"{HERE}/../explorer/settings.json") as file:
        settings = json.load(file)
    assert len(settings) >= 10
    with tempfile.TemporaryDirectory() as folder:
        for name, given in settings.items():
            ours = page.run("return explorer.ask({ask: 'lines', given: arguments[0], seed: 3})", given)
            files = [f"{folder}/client", f"{folder}/server"]
            subprocess.run([SIMULATE, *(f"--{option}={text}" for option, text in given.items()),
                            "--seed=3", f"--json={files[0]}", f"--server-json={files[1]}"],
                           check=True, capture_output=True, timeout=60)
            theirs = []
            for each in files:
                with open(each) as file:
                    file.readline()
                    theirs.append(file.read())
            assert len(ours["client"]) > 1000 and len(ours["server"]) > 1000, name
            assert ours["client"] == theirs[0], f"the clients' lines of '{name}'"
            assert ours["server"] == theirs[1], f"the server's lines of '{name}'"


def check_speed_of_answers(page):
    page.open_knobs()
    page.settle()

    def changes():
        times = page.run("""
            return (async () => {
              const names = ['backoff-base', 'limit', 'lambda', 'timeout', 'outage-for'];
              const times = [];
              for (let i = 0; i < 20; ++i) {
                const {name, stops} = explorer.app.option(names[i % names.length]);
                const middle = Math.floor(stops.length / 2);
                times.push(await test.change({[name]: stops[middle + Math.floor(i / names.length) % 5 - 2]}));
                // The statistics have begun when the next change comes.
                await new Promise(done => setTimeout(done, 150));
              }
              return times;
            })();""")
        print(f"  a knob's answer: median {quantile(times, 0.5):.0f} ms")
        return quantile(times, 0.95)
    within(page, "a knob's answer, p95 of twenty", 50, changes, q=0.95)

    def twenty_seeds():
        return quantile(page.run("""
            return (async () => {
              const times = [];
              for (let i = 0; i < 3; ++i) {
                const begun = performance.now();
                const many = test.next('many');
                explorer.app.replace({clients: String(1000 + i)});
                await many;
                await test.painted();
                times.push(performance.now() - begun);
                if (explorer.app.ours.many.count !== 20) throw new Error('not 20');
              }
              return times;
            })();"""), 0.5)
    within(page, "20 seeds, from the change on", 500, twenty_seeds)


def check_memory(page):
    page.open_knobs()

    def turn(count):
        page.run("""
            return (async () => {
              for (let i = 0; i < arguments[0]; ++i) {
                const run = test.next('run');
                explorer.app.change({'backoff-base': `${100 + i % 50}ms`});
                await run;
              }
              await test.painted();
            })();""", count)
        page.settle()
        page.chromium("HeapProfiler.collectGarbage")
        return (page.chromium("Runtime.getHeapUsage")["usedSize"],
                page.run("return document.getElementsByTagName('*').length"), page.of_processes(21) * os.sysconf("SC_PAGE_SIZE"))

    turn(20)
    before = turn(20)
    for _ in range(3):
        after = turn(20)
    print(f"  {before[0] / 1e6:.1f} MB of objects, after 60 changes {after[0] / 1e6:.1f} MB;"
          f" {before[1]} elements, {after[1]}; all processes {before[2] / 1e6:.0f} MB,"
          f" {after[2] / 1e6:.0f} MB")
    assert after[0] - before[0] < 3e6, (before, after)
    assert after[1] == before[1], (before, after)
    assert after[2] < 1.25 * before[2], (before, after)


def check_links(page):
    page.open_knobs()
    page.run("""
        const {app} = explorer;
        const run = test.next('run');
        app.state.seed = '18446744073709551557';
        app.pin({strategy: 'fixed'});
        app.replace({strategy: 'exponential', clients: '500', at: '60s set shed-above=200; 70s restart', jitter: 'full'});
        return run;""")
    state, link = page.run("return [explorer.app.state, location.href]")
    result = page.run("return explorer.app.ours.result")
    page.load(link[link.index("#"):])
    assert page.run("return explorer.app.state") == state
    assert page.run("return explorer.app.ours.result") == result
    assert page.run("return explorer.app.theirs !== null")
    assert page.value("clients") == "500" and page.text("#notice") == ""

    for fragment, why in (("#v=1&clients=%zz", "it is mangled"), ("#clients=5", "does not say its version"),
                          ("#v=9", "version 9"), ("#v=1&cleints=5", "no option 'cleints'")):
        page.load(fragment)
        assert page.text("#notice").startswith("This link cannot be read"), fragment
        assert why in page.text("#notice") and "these are the defaults" in page.text("#notice")
        assert page.run("return explorer.app.state.given") == {}, fragment
        assert page.run("return explorer.app.ours.run !== null"), fragment
    # What the command line would refuse is left out, of what is pinned too.
    for fragment in ("#v=1&clients=0&limit=40", "#v=1&limit=40&b=1&b.clients=0&b.limit=50"):
        page.load(fragment)
        assert "clients: '0' is not a whole number from 1 to 1000000000" in page.text("#notice"), fragment
        assert page.value("limit") == "40" and page.value("clients") == "1000", fragment
        assert page.run("return explorer.app.ours.run !== null && explorer.app.error === null"), fragment
    page.load("#v=1&limit=40&at=60s+set+no-such%3D1")
    assert "no option 'no-such'" in page.text("#notice"), page.text("#notice")
    assert page.run("return explorer.app.state.given") == {}
    assert page.run("return explorer.app.ours.run !== null && explorer.app.error === null")
    # A link that is followed within the page.
    page.run("location.hash = '#v=1&clients=700'")
    page.wait_for_value("clients", "700")


def refusal(option):
    """The sentence of the command line."""
    run = subprocess.run([SIMULATE, option], capture_output=True, text=True, timeout=60)
    assert run.returncode != 0
    return run.stderr.strip().split(": ", 1)[1]


def check_input(page):
    page.open_knobs()
    for name, text in (("clients", "0"), ("lambda", "10 parsecs"), ("outage-for", "-3s")):
        before = page.value(name)
        page.show_knob(name)
        page.type_into(f"#knob-{name}", text)
        eventually(lambda: page.text(f"#knob-{name}-problem") != "", f"{name}={text} is refused")
        said = page.text(f"#knob-{name}-problem")
        # It says where its help is, besides.
        assert said.split(": ", 1)[1] in refusal(f"--{name}={text}"), (said, refusal(f"--{name}={text}"))
        assert page.value(name) == before
        assert page.run("return document.querySelector(arguments[0]).getAttribute('aria-invalid')",
                        f"#knob-{name}") == "true"
    page.show_knob("lambda")
    page.type_into("#knob-lambda", "7,5s")
    page.wait_for_value("lambda", "7.5s")
    page.show_knob("k")
    page.type_into("#knob-curve-factor", "1,05")
    page.type_into("#knob-k", "12,5")
    page.wait_for_value("k", "12.5")
    # What is typed is not overwritten by what another knob has changed meanwhile.
    page.type_into("#knob-k", "13")
    page.show_knob("lambda")
    page.run("document.getElementById('knob-lambda').select()")
    page.press("6")
    page.run("return test.change({limit: '40'})")
    page.press("s" + ENTER)
    page.wait_for_value("lambda", "6s")
    assert page.value("k") == "13" and page.value("limit") == "40"
    eventually(lambda: page.run("return document.getElementById('knob-limit').value") == "40", "it is shown")
    page.type_into("#knob-lambda", "")
    page.wait_for_value("lambda", "10s")
    assert page.errors() == [], page.errors()


def check_without_webassembly(page):
    for gone in ("WebAssembly", "DecompressionStream"):
        script = page.before(f"delete window.{gone};")
        page.open("about:blank")
        page.open(f"file://{EXPLORER}")
        eventually(lambda: "WebAssembly" in page.text("#notice"), f"a sentence without {gone}")
        assert "build/bin/simulate" in page.text("#notice")
        page.no_more(script)
    assert page.errors() == [], page.errors()


# What is there for a reader to operate.
OPERABLE = """[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter(each => !each.disabled && each.checkVisibility({visibilityProperty: true}) && each.tabIndex >= 0)"""


def check_keyboard(page):
    page.open_knobs()
    page.settle(20)
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    # In sight the map draws itself, and then has more to operate.
    page.run("document.getElementById('map').scrollIntoView()")
    eventually(lambda: page.run("return !document.getElementById('map-canvas').hidden && document.getElementById('map-stop').hidden"),
               "the map is drawn", within=60)
    page.run("""
        window.reached = new Set();
        document.addEventListener('focusin', ({target}) => reached.add(target));
        document.activeElement.blur();
        scrollTo(0, 0);""")
    totals = []
    page.width(1280, 400)  # less to paint for each step
    for tab in ("clients", "service", "outage"):
        # From the top of the page, then from the tabs on.
        page.run("""
            explorer.app.knobs.select(arguments[0]);
            document.activeElement.blur();
            if (arguments[0] !== 'clients') document.getElementById(`knobs-${arguments[0]}`).focus();""", tab)
        total = page.run(f"return {OPERABLE}.length")
        for _ in range(total // 40 + 3):
            page.press(TAB * 40)
            missing = page.run(f"return {OPERABLE}.filter(each => !reached.has(each)).map(each => each.outerHTML.slice(0, 120))")
            if not missing:
                break
        assert missing == [], (tab, missing)
        totals.append(total)
    assert sum(totals) > 300, totals
    print(f"  {totals} controls with each tab open, all reached by the Tab key")
    page.width(1280)
    # The tabs themselves by the arrow keys.
    page.run("explorer.app.knobs.select('clients'); document.getElementById('knobs-clients').focus()")
    page.press(RIGHT)
    assert page.run("return document.activeElement.id") == "knobs-service"
    assert page.run("return !document.getElementById('knobs-service-panel').hidden && document.getElementById('knobs-clients-panel').hidden")
    unnamed = page.run(f"""
        return {OPERABLE}.filter(each => !(each.getAttribute('aria-label') || each.getAttribute('aria-labelledby') ||
          each.labels?.length > 0 || each.textContent.trim())).map(each => each.outerHTML.slice(0, 120));""")
    assert unnamed == [], unnamed
    # What has the focus is seen to have it.
    unseen = page.run(f"""
        const unseen = [];
        for (const each of {OPERABLE}) {{
          each.focus({{focusVisible: true}});
          const {{outlineStyle, outlineWidth, boxShadow}} = getComputedStyle(each);
          if ((outlineStyle === 'none' || outlineWidth === '0px') && boxShadow === 'none') unseen.push(each.outerHTML.slice(0, 120));
        }}
        return unseen;""")
    assert unseen == [], unseen

    # The edges of the outage, a slider, a choice, a button.
    page.open_knobs()
    page.run("document.querySelector('[aria-label=\"The outage begins\"]').focus()")
    page.press(RIGHT)
    page.wait_for_value("outage-at", "31s")
    assert page.value("outage-for") == "19s"
    page.run("document.querySelector('[aria-label=\"The outage ends\"]').focus()")
    page.press(LEFT * 2)
    page.wait_for_value("outage-for", "17s")
    assert page.value("outage-at") == "31s"
    page.show_knob("limit")
    page.run("document.getElementById('knob-limit-slider').focus()")
    page.press(RIGHT)
    eventually(lambda: page.value("limit") not in ("30", ""), "the slider moves")
    page.run("document.getElementById('knob-strategy').focus()")
    page.press("expo" + ENTER)
    page.wait_for_value("strategy", "exponential")
    page.run("document.getElementById('pin').focus()")
    page.press(ENTER)
    eventually(lambda: page.run("return explorer.app.state.pinned !== null"), "it is pinned")
    assert page.errors() == [], page.errors()


def check_comparison(page):
    """A against B, with the same seeds."""
    page.open_knobs()
    page.click("#pin")
    page.run("return test.change({strategy: 'exponential'})")
    page.settle(20)
    difference = page.run("return explorer.app.difference")
    assert difference["down"]["value"] < -0.5, difference
    assert difference["down"]["high"] < 0, difference
    text = page.text("#verdict") + page.text("#setting")
    for word in ("pinned", "difference", "Pinned: all at their defaults"):
        assert word in text, (word, text)
    assert re.search(r"Now \d+ points less often.* \(\u2212\d+ to \u2212\d+\)", page.text("#headline")), page.text("#headline")
    sizes = page.run("return Chart.getChart(document.querySelector('#timeline canvas')).data.datasets.length")
    page.click("#unpin")
    eventually(lambda: page.run("return explorer.app.theirs === null"), "it is unpinned")
    eventually(lambda: page.run(
        "return Chart.getChart(document.querySelector('#timeline canvas')).data.datasets"
        ".filter(each => each.data.length > 0 && !each.hidden).length") < sizes + 1, "one setting is drawn")
    assert page.errors() == [], page.errors()


def check_remedies(page):
    page.open_knobs()
    page.click("#remedies button[data-action='restart']")
    eventually(lambda: "restart" in page.value("at"), "the restart is set")
    assert page.run("return explorer.app.state.pinned") == {}
    page.settle(20)
    eventually(lambda: re.search(r"With it: .* of \d+ runs\. Without: .* of \d+ runs\.", page.text("#remedies .remedies-futures")), "both are simulated")
    # Up to that moment both runs are one.
    ours, theirs = page.run("""
        const until = run => run.series.ok.filter(({x}) => x < 59).map(({value}) => value);
        return [until(explorer.app.ours.run), until(explorer.app.theirs.run)];""")
    assert ours == theirs and len(ours) > 50
    page.click("#remedies-undo")
    eventually(lambda: page.value("at") == "", "it is undone")
    page.type_into("#remedies-time", "9h")
    assert "The run ends at 110 s" in page.text("#remedies-problem")
    assert page.errors() == [], page.errors()


def check_challenges(page):
    page.open_knobs()
    page.click("#challenges [data-challenge=freeze]")
    state = "return document.querySelector('.challenges-box').dataset.state"
    eventually(lambda: page.run(state) == "unsolved", "it goes wrong", within=60)
    page.run("return test.change({strategy: 'exponential'})")
    eventually(lambda: page.run(state) == "solved", "it is solved", within=60)
    assert "Solved" in page.text(".challenges-state")
    # What must not be turned does not count.
    page.run("return test.change({limit: '100'})")
    eventually(lambda: page.run(state) == "locked", "another service is no solution")
    assert "limit must not be changed here" in page.text(".challenges-box")
    link = page.run("return location.hash")
    page.load(link)
    assert page.run("return explorer.app.state.challenge") == "freeze", link
    page.click("#challenges-leave")
    eventually(lambda: page.run("return explorer.app.state.challenge === null"), "it is left")
    assert page.errors() == [], page.errors()


def check_map(page):
    page.load("#v=1&observe=30s&map=outage-for,limit")
    assert page.run("return [document.getElementById('map-x').value, document.getElementById('map-y').value]") == [
        "outage-for", "limit"]
    page.click("#map-draw")
    page.run("document.querySelector('#map details').open = true")
    cells = """
        const [head, ...rows] = [...document.querySelectorAll('#map table tr')].map(row => [...row.cells].map(each => each.textContent));
        return (rows ?? []).flatMap(([y, ...texts]) => texts.map((text, i) => [head[i + 1], y, text])).filter(([, , text]) => text.includes(' of '));"""
    eventually(lambda: len(page.run(cells)) >= 30, "thirty cells are known", within=60)
    if page.run("return !document.getElementById('map-stop').hidden"):
        page.click("#map-stop")
    known = page.run(cells)
    # What a cell says is what the engine says.
    for x, y, text in (known[0], known[len(known) // 2], known[-1]):
        down, count = map(int, text.split(" of "))
        results = page.run("""
            const [x, y, count] = arguments;
            return explorer.ask({ask: 'batch', given: {...explorer.app.state.given, 'outage-for': x, limit: y},
              seeds: Array.from({length: count}, (_, i) => i + 1)});""", x, y, count)["results"]
        assert sum(each["verdict"] in ("collapsed", "relapsed") for each in results) == down, (x, y, text)
    assert any(not text.startswith("0 ") for _, _, text in known), known
    # To a cell by keys.
    page.run("document.getElementById('map-canvas').focus()")
    page.press(RIGHT * 3 + ENTER)
    eventually(lambda: page.value("outage-for") != "20s", "it went to a cell")
    assert page.value("outage-for") in {x for x, _, _ in known} | {x for x in page.run(
        "return explorer.app.option('outage-for').stops")}
    assert "map=outage-for%2Climit" in page.run("return location.hash")
    # It draws itself when it comes into sight, and says where the middle is worse than both ends.
    page.load("#v=1&strategy=exponential")
    page.run("document.getElementById('map').scrollIntoView()")
    eventually(lambda: re.search(r"With backlog \d+ the middle is worse than both ends: it stays down for outage-for from \d+", page.text(".map-island")), "it says so", within=120)
    assert "In a longer outage its clients have backed off." in page.text(".map-island")
    assert "map=" not in page.run("return location.hash"), "nobody asked for it"
    assert page.run("return document.querySelectorAll('.map-pair:disabled').length") == 0
    page.click(".map-pair[data-x=clients]")
    eventually(lambda: "map=clients%2Ctimeout" in page.run("return location.hash"), "a pair is chosen")
    assert page.run("return document.querySelector('.map-pair[aria-pressed=true]').dataset.x") == "clients"
    assert page.errors() == [], page.errors()


def check_tables(page):
    """Charts are called what they show, and have their figures as a table, or say what is seen."""
    page.open_knobs()
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    page.settle(20)
    rows = eventually(lambda: page.run("return document.querySelectorAll('.timeline-table tr').length"),
                      "the table is filled")
    assert rows > 20, rows
    cells = page.run("""
        return [...document.querySelectorAll('.timeline-table tbody tr')].map(row => [...row.cells].map(each => each.textContent));""")
    assert not any(word in cell for row in cells for cell in row for word in ("NaN", "undefined")), cells
    nameless = page.run("""
        return [...document.querySelectorAll('canvas')].filter(each => each.checkVisibility())
          .filter(each => each.getAttribute('aria-hidden') !== 'true' && !(['img', 'application'].includes(each.getAttribute('role')) && each.getAttribute('aria-label')))
          .map(each => each.outerHTML.slice(0, 150));""")
    assert nameless == [], nameless


def check_widths(page):
    page.open_knobs()
    page.settle(20)
    for opened in (False, True):
        page.run("for (const each of document.querySelectorAll('details')) each.open = arguments[0]", opened)
        for width in (360, 768, 1280):
            page.width(width)
            eventually(lambda: page.run("return document.documentElement.scrollWidth") <= width,
                       f"it fits {width} pixels" + (" with all opened" if opened else ""))
    page.width(1280)
    light = page.run("return getComputedStyle(document.body).backgroundColor")
    picture = page.run("return document.querySelector('#timeline canvas').toDataURL()")
    page.scheme("dark")
    eventually(lambda: page.run("return getComputedStyle(document.body).backgroundColor") != light, "it is dark")
    eventually(lambda: page.run("return document.querySelector('#timeline canvas').toDataURL()") != picture,
               "its charts are too")
    page.scheme("light")
    assert page.errors() == [], page.errors()


def axe_source():
    """Fetched once, and held against its digest. None where there is no network."""
    path = f"{FOLDER}/axe-core-4.10.3.tgz"
    if not os.path.exists(path):
        try:
            with urllib.request.urlopen(AXE, timeout=30) as answer:
                data = answer.read()
        except (OSError, http.client.HTTPException) as error:
            print(f"  SKIPPED: axe-core cannot be fetched ({error})")
            return None
        with open(path + ".part", "wb") as file:
            file.write(data)
        os.replace(path + ".part", path)
    with open(path, "rb") as file:
        data = file.read()
    if hashlib.sha512(data).hexdigest() != AXE_SHA512:
        os.remove(path)
        raise AssertionError("what was fetched as axe-core is something else")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def check_accessibility(page):
    source = axe_source()
    if source is None:
        return
    # Of what is opened one part by one, not a hundred of the same knobs.
    shown = """
      for (const each of document.querySelectorAll('details')) each.open = !each.closest('#knobs') || each.matches('#knobs-clients-panel details:first-of-type');"""
    found = {}
    # In the dark only colours differ, on a phone what scrolls and what is hidden.
    for name, width, scheme, rules in (("wide", 1280, "light", {}), ("dark", 1280, "dark", {"runOnly": ["color-contrast"]}),
                                       ("phone", 360, "light", {"runOnly": ["scrollable-region-focusable", "aria-hidden-focus"]})):
        page.width(width)
        page.scheme(scheme)
        page.open_knobs()
        page.run("explorer.app.pin(); return test.change({strategy: 'exponential', workers: '5'})")
        page.settle(20)
        page.run(shown)
        page.chromium("Runtime.evaluate", expression=source)
        results = page.run("""
            // Of a hundred rows, and of the cards, some.
            return axe.run({exclude: ['tr:nth-child(n+5)', '.gallery-card:nth-child(n+4)']}, {resultTypes: ['violations'], ...arguments[0]}).then(({violations, passes}) => ({
              passes: passes.length,
              violations: violations.map(({id, impact, help, nodes}) => ({
                id, impact, help, count: nodes.length, nodes: nodes.slice(0, 3).map(({html, failureSummary}) => [html.slice(0, 160), failureSummary])})),
            }));""", rules)
        assert results["passes"] > (10 if name == "wide" else 0), results
        for each in results["violations"]:
            print(f"  axe, {name}: {each['impact']}: {each['id']} ({each['count']}): {each['help']}")
            if each["impact"] in ("serious", "critical"):
                found[f"{name}: {each['id']}"] = each["nodes"]
    for scheme in ("light", "dark"):
        page.width(1280)
        page.scheme(scheme)
        for link, then, parts in ((CHAIN, "document.querySelector('[data-node=db]').click()", ["#graph", ".knobs-one"]),
                                  ("#v=1&replicas=3&workers=10&outage-replicas=1&probe=5s:1s:2", "explorer.app.moment.choose(49)", ["#hosts"])):
            page.load(link)
            page.run(then)
            page.chromium("Runtime.evaluate", expression=source)
            violations = page.run("""
                return axe.run({include: arguments[0].map(each => [each])}, {resultTypes: ['violations']}).then(({violations}) => violations.map(
                  ({id, impact, nodes}) => ({id, impact, nodes: nodes.slice(0, 3).map(({html, failureSummary}) => [html.slice(0, 160), failureSummary])})));""", parts)
            for each in violations:
                if each["impact"] in ("serious", "critical"):
                    found[f"{parts[0]}, {scheme}: {each['id']}"] = each["nodes"]
    page.scheme("light")
    assert not found, json.dumps(found, indent=1)


def check_screenshots(page):
    """Those of docs/: with SCREENSHOTS=docs they are made again."""
    folder = os.environ.get("SCREENSHOTS")
    if not folder:
        return
    setting = "#v=1&strategy=exponential&b=1&b.strategy=fixed"
    for name, width, height, scheme in (("explorer", 1280, 860, "light"), ("explorer-dark", 1280, 860, "dark"),
                                        ("explorer-phone", 360, 1100, "light")):
        page.width(width, height)
        page.scheme(scheme)
        page.load(setting)
        page.settle()
        eventually(lambda: page.run("""
            return [...document.querySelectorAll('.cliff-strip')].filter(strip => strip.offsetParent &&
              strip.getBoundingClientRect().top < innerHeight).every(strip => strip.dataset.whole === 'yes');"""),
            "the strips in sight are whole", within=60)
        page.screenshot(f"{folder}/{name}.png", whole=False)
    page.width(1280)
    page.scheme("light")


ISTIO = """apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: a}
spec:
  http:
  - route: [{destination: {host: a}}]
    timeout: 5s
    retries: {attempts: 3, perTryTimeout: 1500ms, retryOn: 5xx}
"""


def check_imported(page):
    """`retrystorm import --link` opens the page at the policy of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/virtual-service.yaml"
        with open(path, "w") as file:
            file.write(ISTIO)
        link = subprocess.run([f"{os.path.dirname(SIMULATE)}/retrystorm", "import", path, f"--link={EXPLORER}"],
                              check=True, capture_output=True, text=True, timeout=60).stdout.strip()
    page.load(link[link.index("#"):])
    assert page.text("#notice") == "", page.text("#notice")
    # By hand: 3 retries, and Istio's waits, from 25 ms up to ten times as much with full jitter.
    for name, text in {"max-retries": "3", "timeout": "1.5s", "deadline": "5s", "growth": "exponential",
                       "backoff-base": "25ms", "backoff-cap": "250ms", "jitter": "full"}.items():
        assert page.value(name) == text, f"{name} is {page.value(name)}"
    assert page.run("return explorer.app.ours.run !== null && explorer.app.error === null")


# They need nothing that only Chromium emulates.
IN_FIREFOX = [check_question, check_mechanism, check_places, check_graph, check_hosts, check_endings, check_undo, check_story, check_share, check_gallery,
              check_comparison, check_remedies, check_map, check_tables]
ALONE = [check_opening, check_speed_of_answers]
# In the others the strips, or more seeds, would take time from what is looked at.
WITH_STRIPS = [check_opening, check_computing, check_speed_of_answers, check_memory, check_screenshots]
WITH_A_HUNDRED = [check_trials, *WITH_STRIPS, check_endings, check_challenges]
WITH_ONE = [check_file, check_mechanism, check_places, check_graph, check_hosts, check_outlook, check_same_bytes, check_links, check_imported, check_input]
CHECKS = [check_file, check_opening, check_question, check_handles, check_computing, check_mechanism, check_places, check_graph, check_hosts, check_endings,
          check_figures, check_screen, check_undo, check_story, check_share, check_gallery, check_outlook, check_trials, check_same_bytes, check_speed_of_answers,
          check_links, check_imported, check_input, check_without_webassembly, check_keyboard, check_comparison,
          check_remedies, check_challenges, check_map, check_tables, check_widths, check_accessibility, check_memory,
          check_screenshots]


def perform(checks, page):
    """Returns the names of those that failed."""
    failed = []
    for check in checks:
        begun, worked = time.monotonic(), page.processor_time()
        print(f"{name_of(check)}", flush=True)
        seeds = 100 if check in WITH_A_HUNDRED else 0 if check in WITH_ONE else 20
        shown = page.before(f"window.strips = {json.dumps(check in WITH_STRIPS)}; window.seeds = {seeds};")
        try:
            check(page)
        except AssertionError as error:
            failed.append(name_of(check))
            traceback.print_exc(file=sys.stdout)
            print(f"  FAILED: {error}", flush=True)
        page.no_more(shown)
        print(f"  {time.monotonic() - begun:.1f} s, {max(page.processor_time() - worked, 0):.1f} s of processor time", flush=True)
    return failed


def name_of(check):
    return check.__name__.removeprefix("check_")


def main():
    in_firefox = os.environ.get("BROWSER") == "firefox"
    webdriver.skip_without_browser(*[("firefox-esr",)] if in_firefox else [])
    if not os.path.exists(EXPLORER):
        print(f"SKIPPED: there is no {EXPLORER} (scripts/explorer builds it)")
        sys.exit(1 if CI else webdriver.SKIPPED)
    only = os.environ.get("ONLY")
    if only or in_firefox:
        checks = IN_FIREFOX if in_firefox else CHECKS
        with PageInFirefox() if in_firefox else Page() as page:
            failed = perform([check for check in checks if not only or name_of(check) in only.split(",")], page)
    else:
        # What measures time alone, then half of the others in a browser beside this one.
        others = [check for check in CHECKS if check not in ALONE]
        with Page() as page:
            failed = perform(ALONE, page)
            beside = subprocess.Popen([sys.executable, *sys.argv], stdout=subprocess.PIPE, text=True,
                                      env={**os.environ, "ONLY": ",".join(map(name_of, others[1::2]))})
            failed += perform(others[::2], page)
        print(beside.communicate()[0], end="")
        if beside.returncode != 0:
            failed.append("some of those in the other browser")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
