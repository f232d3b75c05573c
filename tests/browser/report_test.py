"""The report in a real browser, from a file and without a network: report_test.py SIMULATE"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import webdriver
from webdriver import Browser, eventually

webdriver.skip_without_browser()

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEED = 18446744073709551557  # more than 53 bits
# Text that must not escape from its place.
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
        f"{name}: the first 50 of 60 requests traced" for name in ("fixed", "exponential", "evil")]
    for each in sections:
        assert len(each["rows"]) == 50 and each["outages"] == 1, each["rows"]
        assert each["beyond"] == 0 and each["bad"] is None, (each["beyond"], each["bad"])
        # A bar for every attempt, and a line of the table.
        assert each["bars"] == len(each["table"]) >= 50, each["bars"]
    # After the collapse no request ends, and no wasted work in the server ends either.
    assert all(": not over, " in row for row in sections[0]["rows"]), sections[0]["rows"]
    # A server that comes back answers the attempts in its kernel's queue, too late.
    recovered = sections[1]
    assert all(": OK after " in row for row in recovered["rows"]), recovered["rows"]
    too_late = [row for row in recovered["table"] if row[8] != "–"]
    assert len(too_late) == recovered["late"] > 50, (len(too_late), recovered["late"])
    assert all(row[3] == "timed out" for row in too_late), too_late[0]
    assert len(browser.run("return [...document.querySelectorAll('.trace .legend')]")) == 1


def number(text):
    return float(text.replace(",", ""))


def check_links(browser, path):
    """Each run leads to the explorer at its setting: with what it says, and its own seed."""
    links = browser.run("return [...document.querySelectorAll('#commands a')].map(each => each.href)")
    explorer = f"file://{os.path.dirname(path)}/explorer.html#v=1&run=1&"
    assert len(links) == 4 and all(link.startswith(explorer) for link in links), links
    assert not any("img" in link or "command" in link for link in links), links
    if os.path.getsize(os.path.dirname(path) + "/explorer.html") == 0:
        print("there is no explorer here: where the links lead was not tried")
        return
    for link, strategy, seed, verdict in ((links[0], "", 5, "collapsed"),
                                          (links[3], "--strategy=resilience4j --breaker-open-for=4s ", SEED, "recovered")):
        browser.open("about:blank")  # the same file with another fragment would not be loaded again
        browser.open(link)
        eventually(lambda: browser.run("return document.documentElement.dataset.ready"), "it is there")
        look = browser.run("""
            const {description, ours} = explorer.app;
            return [description.command, ours.result.verdict, document.querySelector('#notice').textContent];""")
        assert look == [f"build/bin/simulate {strategy}--seed={seed}", verdict, ""], look


def check(browser, path):
    browser.chromium("Network.enable")
    browser.chromium("Network.emulateNetworkConditions", offline=True, latency=0,
                     downloadThroughput=0, uploadThroughput=0)
    browser.open("file://" + path)
    rows = browser.run("""
        return [...document.querySelectorAll('#table tbody tr')]
          .map(row => [...row.cells].map(cell => cell.textContent));""")
    assert [row[:4] for row in rows] == [
        ["fixed", "collapsed", "freeze", "fixed retries"],
        ["exponential", "recovered", "freeze", "exponential retries"],
        ["evil", "recovered", "freeze", "exponential retries"],
        ["breaker", "recovered", "freeze", "constant 500ms, 2 retries, breaker resilience4j"]], rows
    assert rows[0][5] == "5", rows
    # What only one of these servers tells of its kernel.
    assert [row[12:14] for row in rows] == [["–", "–"], ["33", "756"], ["–", "–"], ["–", "–"]], rows
    eventually(lambda: all(colours > 20 for colours in browser.painted("canvas")),
               "all charts are drawn")
    # A run without a server's file has one chart less, and so has one of an older client.
    kinds = browser.run("return [...document.querySelectorAll('canvas[data-chart]')].map(c => c.dataset.chart)")
    assert len(kinds) == 5 + 5 + 3 + 5, kinds
    curves = browser.run("""
        return [...document.querySelectorAll('canvas[data-chart=rates]')]
          .map(canvas => Chart.getChart(canvas).data.datasets.length);""")
    assert curves == [3, 3, 3, 4], curves
    queued = browser.run("""
        return [...document.querySelectorAll('canvas[data-chart=server]')].map(canvas =>
          Math.max(-1, ...Chart.getChart(canvas).data.datasets.filter(({label}) => label === 'accept queue')
            .flatMap(({data}) => data.map(({value}) => value))));""")
    assert queued == [-1, 33, -1], queued
    # One legend for each kind of chart, with the curves of all runs.
    legends = browser.run("return [...document.querySelectorAll('#charts .kind')].map(kind => [kind.querySelectorAll('.legends').length, kind.querySelector('.legends').textContent])")
    assert [each for each, _ in legends] == [1] * 5 and legends[0][1] == "OKerrorstimed outnot sent", legends
    assert not any(browser.run("return [...document.querySelectorAll('canvas[data-chart]')].map(c => Chart.getChart(c).options.plugins.legend.display)"))
    # In the calm a request takes one attempt, in the outage many, and after a recovery one again.
    lately = browser.run("return Chart.getChart(document.querySelectorAll('canvas[data-chart=amplification]')[1]).data.datasets[0].data.map(({x, value}) => [x, value])")
    for t, least, most in ((30, 0.99, 1.01), (50, 5, 20), (110, 0.99, 1.01)):
        assert least < next(value for x, value in lately if x == t) < most, (t, lately)
    # Requests that were not sent count too: less than one attempt for each.
    ends = browser.run("""
        return [...document.querySelectorAll('canvas[data-chart=amplification]')]
          .map(canvas => Chart.getChart(canvas).data.datasets[1].data.at(-1).value);""")
    assert [f"{end:.2f}" for end in ends] == [row[9] for row in rows], (ends, rows)
    requests, phases = browser.run("""
        return ['#requests', '#phases'].map(table => {
          const [head, ...rows] = document.querySelector(table).rows;
          const titles = [...head.cells].map(cell => cell.textContent);
          return rows.map(({cells}) => Object.fromEntries(titles.map((title, i) => [title, cells[i].textContent])));
        });""")
    assert [row["run"] for row in requests] == [row[0] for row in rows], requests
    assert requests[1]["requests succeeded"] == "100 %" and requests[1]["given up"] == "0", requests
    assert requests[2]["requests succeeded"] == requests[2]["given up"] == "–", requests
    # The share of the whole run is the last.
    assert browser.text("#requests th:last-child") == "requests succeeded", browser.text("#requests")
    # Three rows a run. A frozen server answers nothing, and one that is down nothing after that.
    assert [(each["run"], each["when"]) for each in phases] == [
        (row[0], when) for row in rows for when in ("before the outage", "in the outage", "after it")], phases
    assert [each["OK/s"] for each in phases[:3]][1:] == ["0.0", "0.0"] and number(phases[0]["OK/s"]) > 90, phases
    assert phases[2]["succeeded"] == "0.00 %" and re.fullmatch(r"over 5\d\.\d s", phases[2]["p99"]), phases
    assert phases[5]["p99"].endswith(" ms") and rows[1][8] == "within 5 s", (phases, rows)
    assert number(phases[4]["timed out"]) > 1000 and number(phases[4]["attempts/s"]) > number(phases[3]["attempts/s"]), phases
    # Those that gave up began before the outage, in it or after it.
    gave_up = [number(each["given up"]) for each in phases[-3:]]
    assert gave_up[1] > 0 and sum(gave_up) == number(requests[3]["given up"].split()[0]), (gave_up, requests[3])
    errors = browser.run("return Retrystorm.PHASE_COLUMNS.at(-1)[1]({figures: {errors_during: 5, errors_by_during: {refused: 2, 503: 3}}, phase: 'during'})")
    assert errors == "5 (503 3, refused 2)", errors
    assert "gate " in requests[3]["given up"] and requests[3]["attempts not sent"] != "0", requests
    assert requests[3]["request time p50"] == "100 ms", requests
    axes = browser.run("""
        return [...document.querySelectorAll('canvas[data-chart=rates]')].map(canvas => {
          const {x, y} = Chart.getChart(canvas).scales;
          return [x.min, x.max, y.min, y.max];
        });""")
    assert len(set(map(tuple, axes))) == 1, axes
    commands = browser.run("return [...document.querySelectorAll('pre')].map(p => p.textContent)")
    assert commands[0] == "build/bin/simulate --strategy=fixed --seed=5", commands
    assert EVIL in commands[2], commands
    # Nothing of the machine that it was made on is in it.
    assert not browser.run("return document.documentElement.innerHTML.includes(arguments[0])", os.path.dirname(path)), "a path is in it"
    # It begins with a sentence, and a picture of all runs: brown where nothing is OK, ice where all is well.
    assert browser.text("#outcome") == "fixed stays down; exponential and evil are back within 5 s; breaker is back after 5 s.", browser.text("#outcome")
    assert browser.run("return document.querySelector('main > section').contains(document.querySelector('#rows canvas'))")
    colours = browser.run("""
        const canvas = document.querySelector('#rows canvas'), ratio = canvas.width / canvas.clientWidth, end = Math.ceil(110 / 20) * 20;
        const at = (row, t) => [...canvas.getContext('2d').getImageData((110 + t / end * (canvas.clientWidth - 110)) * ratio, (row * 26 + 15) * ratio, 1, 1).data];
        return [[0, 20], [0, 40], [0, 100], [1, 20], [1, 40], [1, 100]].map(each => at(...each));""")
    for i, (r, _, b, _) in enumerate(colours):
        assert (b < 60 and r > 90) if i in (1, 2, 4) else b > 150, (i, colours)
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
        # As of a real server that holds 33 connections when it wakes.
        with open(runs[1].replace(".jsonl", ".server.jsonl"), "r+", encoding="utf-8") as file:
            told = [json.loads(line) for line in file]
            woken = next(i for i in range(2, len(told)) if told[i].get("t", 0) - told[i - 1].get("t", 0) > 5)
            for i, line in enumerate(told):
                if line["type"] == "interval":
                    line.update(accept_queue=33 * (i == woken), no_room=756 * (i >= woken))
            file.seek(0)
            file.write("\n".join(map(json.dumps, told)))
        start = json.loads(lines[0])
        start["command"] += " " + EVIL
        # As written by an older client.
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
                           "--breaker-open-for=4s", f"--seed={SEED}")
        evil = folder + "/evil.jsonl"
        with open(evil, "w", encoding="utf-8") as file:
            file.write("\n".join([json.dumps(start), *lines[1:], '{"type":"half a li']))
        # The explorer is beside the programs, if it was built.
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
