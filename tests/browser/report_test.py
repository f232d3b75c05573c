"""The report in a real browser, from a file and without a network: report_test.py SIMULATE"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import webdriver
from webdriver import Browser, eventually

webdriver.skip_without_browser()

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What must not get out of where it belongs.
EVIL = "</script><img src=x onerror=document.title='evil'>"


def simulate(program, folder, name, *options):
    path = f"{folder}/{name}.jsonl"
    subprocess.run([program, *options, "--json", path,
                    "--server-json", f"{folder}/{name}.server.jsonl"],
                   check=True, stdout=subprocess.DEVNULL, timeout=60)
    return path


def check_traces(browser):
    """The requests that were followed: a row each, and the same as a table."""
    sections = browser.run("""
        return [...document.querySelectorAll('.trace')].map(section => ({
          title: section.querySelector('h3').textContent,
          rows: [...section.querySelectorAll('.scroll > svg > g > text')]
            .map(text => text.textContent).filter(text => /^[0-9]+: /.test(text)),
          bars: section.querySelectorAll('.scroll > svg rect.way').length,
          late: section.querySelectorAll('.scroll > svg path.mark').length,
          outages: section.querySelectorAll('.scroll > svg > .shade').length,
          beyond: ['rect', 'line', 'path', 'text']
            .flatMap(name => [...section.querySelectorAll('.scroll > svg ' + name)]).filter(each => {
            const box = each.getBoundingClientRect(), all = each.ownerSVGElement.getBoundingClientRect();
            return box.right > all.right + 1 || box.left < all.left - 1 || box.bottom > all.bottom + 1;
          }).length,
          bad: section.innerHTML.match(/NaN|undefined|Infinity/),
          table: [...section.querySelectorAll('tbody tr')].map(row => [...row.cells].map(c => c.textContent)),
        }));""")
    assert [each["title"] for each in sections] == [
        f"{name}: the first 50 of 60 requests told" for name in ("fixed", "exponential", "evil")]
    for each in sections:
        assert len(each["rows"]) == 50 and each["outages"] == 1, each["rows"]
        assert each["beyond"] == 0 and each["bad"] is None, (each["beyond"], each["bad"])
        # A bar for every attempt, and a line of the table.
        assert each["bars"] == len(each["table"]) >= 50, each["bars"]
    # After the collapse no request is over, and of what went on in vain none has an end.
    assert all(": not over, " in row for row in sections[0]["rows"]), sections[0]["rows"]
    # A server that comes back answers too late what was in its kernel's queue.
    recovered = sections[1]
    assert all(": OK after " in row for row in recovered["rows"]), recovered["rows"]
    too_late = [row for row in recovered["table"] if row[8] != "–"]
    assert len(too_late) == recovered["late"] > 50, (len(too_late), recovered["late"])
    assert all(row[3] == "timed out" for row in too_late), too_late[0]
    assert len(browser.run("return [...document.querySelectorAll('.trace .legend')]")) == 1


def check_links(browser, path):
    """Each run leads to the explorer at its setting: with what it says, and its own seed."""
    links = browser.run("return [...document.querySelectorAll('.run a')].map(each => each.href)")
    explorer = f"file://{os.path.dirname(path)}/explorer.html#v=1&run=1&"
    assert len(links) == 4 and all(link.startswith(explorer) for link in links), links
    assert not any("img" in link or "command" in link for link in links), links
    if os.path.getsize(os.path.dirname(path) + "/explorer.html") == 0:
        print("there is no explorer here: where the links lead was not tried")
        return
    for link, strategy, verdict in ((links[0], "", "collapsed"),
                                    (links[3], "--strategy=resilience4j --breaker-open-for=4s ", "recovered")):
        browser.open("about:blank")  # the same file with another fragment would not be loaded anew
        browser.open(link)
        eventually(lambda: browser.run("return document.documentElement.dataset.ready"), "it is there")
        look = browser.run("""
            const {look, ours} = explorer.app;
            return [look.command, ours.result.verdict, document.querySelector('#notice').textContent];""")
        assert look == [f"build/bin/simulate {strategy}--seed=5", verdict, ""], look


def check(browser, path):
    browser.chromium("Network.enable")
    browser.chromium("Network.emulateNetworkConditions", offline=True, latency=0,
                     downloadThroughput=0, uploadThroughput=0)
    browser.open("file://" + path)
    rows = browser.run("""
        return [...document.querySelectorAll('#table tbody tr')]
          .map(row => [...row.cells].map(cell => cell.textContent));""")
    assert [row[:4] for row in rows] == [
        ["fixed", "collapsed", "freeze", "fixed"],
        ["exponential", "recovered", "freeze", "exponential"],
        ["evil", "recovered", "freeze", "exponential"],
        ["breaker", "recovered", "freeze", "resilience4j"]], rows
    assert rows[0][5] == "5", rows
    eventually(lambda: all(colours > 20 for colours in browser.painted("canvas")),
               "all charts are drawn")
    # The one without a server's file has a chart less, and one as of an older client another.
    kinds = browser.run("return [...document.querySelectorAll('canvas')].map(c => c.dataset.chart)")
    assert len(kinds) == 5 + 5 + 3 + 5, kinds
    curves = browser.run("""
        return [...document.querySelectorAll('canvas[data-chart=rates]')]
          .map(canvas => Chart.getChart(canvas).data.datasets.length);""")
    assert curves == [3, 3, 3, 4], curves
    # Of what was not sent it counts the requests too: less than one attempt for each.
    ends = browser.run("""
        return [...document.querySelectorAll('canvas[data-chart=amplification]')]
          .map(canvas => Chart.getChart(canvas).data.datasets[0].data.at(-1).value);""")
    assert [f"{end:.2f}" for end in ends] == [row[9] for row in rows], (ends, rows)
    requests = browser.run("""
        const [head, ...rows] = document.querySelector('#requests').rows;
        const titles = [...head.cells].map(cell => cell.textContent);
        return rows.map(({cells}) => Object.fromEntries(titles.map((title, i) => [title, cells[i].textContent])));""")
    assert [row["run"] for row in requests] == [row[0] for row in rows], requests
    assert requests[1]["requests succeeded"] == "100 %" and requests[1]["given up"] == "0", requests
    assert requests[2]["requests succeeded"] == requests[2]["given up"] == "–", requests
    assert "gate " in requests[3]["given up"] and requests[3]["attempts not sent"] != "0", requests
    assert requests[3]["request time p50"] == "100 ms", requests
    axes = browser.run("""
        return [...document.querySelectorAll('canvas[data-chart=rates]')].map(canvas => {
          const {x, y} = Chart.getChart(canvas).scales;
          return [x.min, x.max, y.min, y.max];
        });""")
    assert len(set(map(tuple, axes))) == 1, axes
    commands = browser.run("return [...document.querySelectorAll('pre')].map(p => p.textContent)")
    assert commands[1] == "build/bin/simulate --strategy=fixed --seed=5", commands
    assert EVIL in commands[4], commands
    check_traces(browser)
    assert browser.run("return document.title") == "retrystorm: report"
    assert not browser.run("return performance.getEntriesByType('resource')"
                           ".filter(each => !each.name.startsWith('data:')).length")
    assert browser.errors() == [], browser.errors()
    browser.width(390)
    eventually(lambda: browser.run("return document.documentElement.scrollWidth") <= 390,
               "it fits a phone's width")
    screenshots = os.environ.get("SCREENSHOTS")
    if screenshots:
        browser.width(1280)
        browser.screenshot(screenshots + "/report.png")
    check_links(browser, path)


def main():
    with tempfile.TemporaryDirectory(prefix="retrystorm-report-") as folder:
        runs = [simulate(sys.argv[1], folder, strategy, f"--strategy={strategy}", "--seed=5", "--trace=60")
                for strategy in ("fixed", "exponential")]
        with open(runs[1], encoding="utf-8") as file:
            lines = file.read().splitlines()
        start = json.loads(lines[0])
        start["command"] += " " + EVIL
        # As an older client wrote them.
        for i, line in enumerate(lines):
            known = json.loads(line)
            newer = (("latency_ms", "gave_up_by", "not_sent", "requests")
                     if known["type"] == "interval" else
                     ("success_share", "failing", "gave_up", "gave_up_by", "not_sent",
                      "request_time_ms"))
            for field in newer:
                known.pop(field, None)
            lines[i] = json.dumps(known)
        breaker = simulate(sys.argv[1], folder, "breaker", "--strategy=resilience4j",
                           "--breaker-open-for=4s", "--seed=5")
        evil = folder + "/evil.jsonl"
        with open(evil, "w", encoding="utf-8") as file:
            file.write("\n".join([json.dumps(start), *lines[1:], '{"type":"half a li']))
        # The explorer lies beside the programs, where it was built.
        explorer = os.path.dirname(os.path.abspath(sys.argv[1])) + "/explorer.html"
        if os.path.exists(explorer):
            shutil.copy(explorer, folder)
        else:
            pathlib.Path(folder, "explorer.html").touch()
        report = folder + "/report.html"
        subprocess.run([ROOT + "/scripts/report", *runs, evil, breaker, "--output", report], check=True,
                       timeout=60)
        with Browser() as browser:
            check(browser, report)
    print("the report works")


main()
