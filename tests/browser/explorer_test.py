"""The explorer in a real browser, from a file and without a network:
explorer_test.py EXPLORER SIMULATE FOLDER

FOLDER keeps what is fetched for the test (axe-core). ONLY=name,... runs some checks, SCREENSHOTS=DIR
keeps pictures."""

import glob
import gzip
import hashlib
import http.client
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
import urllib.request

import webdriver
from webdriver import Browser, eventually

EXPLORER, SIMULATE, FOLDER = sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
CI = bool(os.environ.get("CI"))

AXE = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz"
AXE_SHA512 = ("5e6edba515e70d25f6604d9815f064d859c5d1ea7ab661bbc4f87c88779ef0c2"
              "1cae0abbeb636471ef39e9d62d2582e4b88a1866f19f4ecfcf6d986275e4dc12")

# In the page before its own scripts: when the first charts were painted, and how to wait for what
# the page tells.
HELPERS = """
window.test = {
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
  async settled(count = 100) {
    const {app} = explorer;
    while ((app.ours.many?.count ?? 0) < count || app.state.pinned && !(app.theirs?.many?.count >= count && app.difference)) {
      await new Promise(done => setTimeout(done, 20));
    }
  },
  // How many times as long as on an idle machine it takes here and now until a thread has worked for
  // 10 ms and then the page, while a further thread works all the time: the quantile `q` of so many
  // rounds. What an idle machine needs tell small portions, the quickest of which nothing disturbed.
  async slowness(q, rounds) {
    const source = `
      const work = n => { let x = 1; for (let i = 0; i < n; ++i) x = Math.imul(x, 1664525) + 1013904223 | 0; return x; };
      self.onmessage = ({data}) => { work(data.n); self.postMessage(0); };`;
    const url = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}));
    const [worker, other] = [new Worker(url), new Worker(url)];
    const work = n => { let x = 1; for (let i = 0; i < n; ++i) x = Math.imul(x, 1664525) + 1013904223 | 0; return x; };
    let unit = Infinity;
    for (let i = 0; i < 200; ++i) {
      const from = performance.now();
      work(500000);
      unit = Math.min(unit, (performance.now() - from) / 500000);
    }
    const n = Math.round(10 / unit), times = [];
    // Piece by piece: a thread that never listens goes on for two seconds after its end.
    other.onmessage = () => other.postMessage({n});
    other.onmessage();
    for (let i = 0; i < rounds; ++i) {
      const from = performance.now();
      await new Promise(done => { worker.onmessage = done; worker.postMessage({n}); });
      work(n);
      times.push(performance.now() - from);
      await new Promise(done => setTimeout(done, 20));
    }
    worker.terminate();
    other.terminate();
    times.sort((a, b) => a - b);
    return times[Math.min(Math.floor(q * times.length), times.length - 1)] / 20;
  },
};
{
  let page;
  Object.defineProperty(window, 'explorer', {
    configurable: true,
    get: () => page,
    set(value) {
      page = value;
      test.next('run').then(test.painted).then(() => { test.opened = performance.now(); });
    },
  });
}
"""


class Page(Browser):
    def __init__(self):
        super().__init__()
        self.helpers = self.before(HELPERS)
        self.chromium("Network.enable")
        self.chromium("Network.emulateNetworkConditions", offline=True, latency=0,
                      downloadThroughput=0, uploadThroughput=0)

    def before(self, script):
        """Runs a script in each page before those of the page."""
        answer = self.chromium("Page.addScriptToEvaluateOnNewDocument", source=script)
        return answer["identifier"]

    def no_more(self, identifier):
        self.chromium("Page.removeScriptToEvaluateOnNewDocument", identifier=identifier)

    def load(self, fragment=""):
        self.open("about:blank")  # another fragment alone would not load it anew
        self.open(f"file://{EXPLORER}{fragment}")
        eventually(lambda: self.run("return document.documentElement.dataset.ready === 'yes'"),
                   "the page is ready", within=60)

    def open_knobs(self):
        """Without the question."""
        self.load("#v=1")

    def settle(self, count=100):
        eventually(lambda: self.run("""
            const {app} = explorer;
            return (app.ours.many?.count ?? 0) >= arguments[0] &&
              (!app.state.pinned || app.theirs?.many?.count >= arguments[0] && app.difference !== null);""",
            count), f"{count} seeds are simulated", within=120)

    def value(self, name):
        return self.run("return explorer.app.value(arguments[0])", name)

    def wait_for_value(self, name, text):
        eventually(lambda: self.value(name) == text, f"{name} is {text}")

    def type_into(self, selector, text):
        self.run("const field = document.querySelector(arguments[0]); field.focus(); field.select();",
                 selector)
        self.press((text or BACKSPACE) + ENTER)

    def slowness(self, q):
        return max(self.run("return test.slowness(arguments[0], arguments[1])", q, 20 if q > 0.9 else 9), 1)


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
    assert len(gzip.compress(text, 9)) <= 500_000
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


def check_question(page):
    """A storm, and a question before its end is shown."""
    page.load()
    assert "Will it come back?" in page.text("#story"), page.text("#story")
    eventually(lambda: page.run("return explorer.app.timeline.until > 0"), "the first half is drawn")
    assert page.run("return explorer.app.timeline.until <= 50")
    page.click("#story-no")
    eventually(lambda: page.run("return explorer.app.timeline.until === null ||"
                                " explorer.app.timeline.until > 100"), "the second half is drawn")
    eventually(lambda: "So it is." in page.text("#story"), "the answer is told")
    page.chromium("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    page.load()
    assert page.run("""
        const {timeline} = explorer.app;
        return new Promise(done => requestAnimationFrame(() => done(timeline.until === 50)));"""), \
        "nothing moves"
    page.click("#story-yes")
    eventually(lambda: "It does not." in page.text("#story"), "the answer is told")
    page.chromium("Emulation.setEmulatedMedia", features=[])


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
                           check=True, stdout=subprocess.DEVNULL, timeout=60)
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

    def fifty_changes():
        times = page.run("""
            return (async () => {
              const names = ['backoff-base', 'limit', 'lambda', 'timeout', 'outage-for'];
              const times = [];
              for (let i = 0; i < 50; ++i) {
                const {name, stops} = explorer.app.options.get(names[i % names.length]);
                const middle = Math.floor(stops.length / 2);
                times.push(await test.change({[name]: stops[middle + Math.floor(i / names.length) % 5 - 2]}));
                // The statistics have begun when the next change comes.
                await new Promise(done => setTimeout(done, 150));
              }
              return times;
            })();""")
        print(f"  a knob's answer: median {quantile(times, 0.5):.0f} ms")
        return quantile(times, 0.95)
    within(page, "a knob's answer, p95 of fifty", 50, fifty_changes, q=0.95)

    def twenty_seeds():
        return quantile(page.run("""
            return (async () => {
              const times = [];
              for (let i = 0; i < 5; ++i) {
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


def processes_memory(page):
    """Bytes that the processes of the browser have in memory."""
    total = 0
    group = os.getpgid(page.driver.pid)
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                fields = file.read().rsplit(")", 1)[1].split()
            if int(fields[2]) == group:
                total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            pass
    return total


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
                page.run("return document.getElementsByTagName('*').length"), processes_memory(page))

    turn(100)
    before = turn(100)
    for _ in range(10):
        after = turn(100)
    print(f"  {before[0] / 1e6:.1f} MB of objects, after a thousand changes {after[0] / 1e6:.1f} MB;"
          f" {before[1]} elements, {after[1]}; all processes {before[2] / 1e6:.0f} MB,"
          f" {after[2] / 1e6:.0f} MB")
    # Of each setting that was looked at for a while its statistics are kept, of the last sixty.
    assert after[0] - before[0] < 15e6, (before, after)
    assert after[1] == before[1], (before, after)
    assert after[2] < 1.25 * before[2], (before, after)


def check_links(page):
    page.open_knobs()
    page.run("""
        const {app} = explorer;
        const run = test.next('run');
        app.state.seed = 7;
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
        page.type_into(f"#knob-{name}", text)
        eventually(lambda: page.text(f"#knob-{name}-problem") != "", f"{name}={text} is refused")
        said = page.text(f"#knob-{name}-problem")
        # It says where its help is, besides.
        assert said.split(": ", 1)[1] in refusal(f"--{name}={text}"), (said, refusal(f"--{name}={text}"))
        assert page.value(name) == before
        assert page.run("return document.querySelector(arguments[0]).getAttribute('aria-invalid')",
                        f"#knob-{name}") == "true"
    page.type_into("#knob-lambda", "7,5s")
    page.wait_for_value("lambda", "7.5s")
    page.type_into("#knob-curve-factor", "1,05")
    page.type_into("#knob-k", "12,5")
    page.wait_for_value("k", "12.5")
    # What is typed is not overwritten by what another knob has changed meanwhile.
    page.type_into("#knob-k", "13")
    page.run("document.getElementById('knob-lambda').focus(); document.getElementById('knob-lambda').select()")
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
    page.run("""
        window.reached = new Set();
        document.addEventListener('focusin', ({target}) => reached.add(target));
        document.activeElement.blur();
        scrollTo(0, 0);""")
    total = page.run(f"return {OPERABLE}.length")
    assert total > 150, total
    left = total
    for _ in range(total // 40 + 3):
        page.press(TAB * 40)
        left = page.run(f"return {OPERABLE}.filter(each => !reached.has(each)).length")
        if left == 0:
            break
    missing = page.run(f"return {OPERABLE}.filter(each => !reached.has(each)).map(each => each.outerHTML.slice(0, 120))")
    assert missing == [], missing
    print(f"  {total} controls, all reached by the Tab key")
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
    page.settle()
    difference = page.run("return explorer.app.difference")
    assert difference["collapsed"]["value"] < -0.5, difference
    assert difference["collapsed"]["high"] < 0, difference
    text = page.text("#verdict")
    for word in ("pinned", "difference", "Pinned: all at their defaults"):
        assert word in text, (word, text)
    assert "of P(collapse): \u2212" in page.text("#headline"), page.text("#headline")
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
    page.settle()
    text = page.text("#remedies .remedies-futures")
    assert "With it: " in text and "Without: " in text and "of 100 seeds" in text, text
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
    assert "limit is not to be changed here" in page.text(".challenges-box")
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
        collapsed, count = map(int, text.split(" of "))
        results = page.run("""
            const [x, y, count] = arguments;
            return explorer.ask({ask: 'batch', given: {...explorer.app.state.given, 'outage-for': x, limit: y},
              seeds: Array.from({length: count}, (_, i) => i + 1)});""", x, y, count)["results"]
        assert sum(each["verdict"] == "collapsed" for each in results) == collapsed, (x, y, text)
    assert any(not text.startswith("0 ") for _, _, text in known), known
    # To a cell by keys.
    page.run("document.getElementById('map-canvas').focus()")
    page.press(RIGHT * 3 + ENTER)
    eventually(lambda: page.value("outage-for") != "20s", "it went to a cell")
    assert page.value("outage-for") in {x for x, _, _ in known} | {x for x in page.run(
        "return explorer.app.options.get('outage-for').stops")}
    assert "map=outage-for%2Climit" in page.run("return location.hash")
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
    title = "return document.querySelector('.timeline-server figcaption').textContent"
    assert "concurrency" in page.run(title), page.run(title)
    page.run("return test.change({service: 'workers'})")
    assert "busy workers" in page.run(title), page.run(title)


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
      for (const each of document.querySelectorAll('details')) each.open = !each.closest('#knobs') || each.matches('#knobs section:first-of-type details:first-of-type');"""
    found = {}
    for name, width, scheme in (("wide", 1280, "light"), ("dark", 1280, "dark"), ("phone", 360, "light")):
        page.width(width)
        page.scheme(scheme)
        page.open_knobs()
        page.run("explorer.app.pin(); return test.change({strategy: 'exponential', workers: '5'})")
        page.settle(20)
        page.run(shown)
        page.chromium("Runtime.evaluate", expression=source)
        results = page.run("""
            return axe.run(document, {resultTypes: ['violations']}).then(({violations, passes}) => ({
              passes: passes.length,
              violations: violations.map(({id, impact, help, nodes}) => ({
                id, impact, help, count: nodes.length, nodes: nodes.slice(0, 3).map(({html, failureSummary}) => [html.slice(0, 160), failureSummary])})),
            }));""")
        assert results["passes"] > 10, results
        for each in results["violations"]:
            print(f"  axe, {name}: {each['impact']}: {each['id']} ({each['count']}): {each['help']}")
            if each["impact"] in ("serious", "critical"):
                found[f"{name}: {each['id']}"] = each["nodes"]
    page.width(1280)
    page.scheme("light")
    assert not found, json.dumps(found, indent=1)


def check_screenshots(page):
    """Those of docs/: with SCREENSHOTS=docs they are made anew."""
    folder = os.environ.get("SCREENSHOTS")
    if not folder:
        return
    setting = "#v=1&strategy=exponential&backlog=380&b=1&b.strategy=fixed"
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


CHECKS = [check_file, check_opening, check_question, check_same_bytes, check_speed_of_answers,
          check_links, check_input, check_without_webassembly, check_keyboard, check_comparison,
          check_remedies, check_challenges, check_map, check_tables, check_widths, check_accessibility, check_memory,
          check_screenshots]


def main():
    webdriver.skip_without_browser()
    if not os.path.exists(EXPLORER):
        print(f"SKIPPED: there is no {EXPLORER} (scripts/explorer builds it)")
        sys.exit(1 if CI else webdriver.SKIPPED)
    only = os.environ.get("ONLY", "").split(",")
    failed = []
    with Page() as page:
        for check in CHECKS:
            name = check.__name__.removeprefix("check_")
            if only != [""] and name not in only:
                continue
            begun = time.monotonic()
            print(f"{name}", flush=True)
            try:
                check(page)
            except AssertionError as error:
                failed.append(name)
                traceback.print_exc(file=sys.stdout)
                print(f"  FAILED: {error}", flush=True)
            print(f"  {time.monotonic() - begun:.1f} s", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
