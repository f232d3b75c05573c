// The live page: listens to the client's events and sends it the reader's commands.
'use strict';

const {Run, caption, curvesSeen, draw, duration, fillTable, milliseconds, number, percent, reasons} = Retrystorm;
const element = id => document.getElementById(id);
const canvases = [...document.querySelectorAll('canvas[data-chart]')];

let run = new Run({});
let charts = [];
let ended = [];
let last = null;
let connected = false;
let refreshWanted = false;

// --- the token ----------------------------------------------------------------------------------

// The address holds it only until it is read: it shall not stay in the history.
const token = (() => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given) {
    sessionStorage.setItem('token', given);
    history.replaceState(null, '', location.pathname);
  }
  return given ?? sessionStorage.getItem('token');
})();

// --- showing ------------------------------------------------------------------------------------

// Only what changes is written: a screen reader must not hear the same again.
function write(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

function drawAll() {
  for (const chart of charts) chart.destroy();
  charts = canvases.map(canvas => draw(canvas, canvas.dataset.chart, run));
}

function showState() {
  const outage = run.outages.at(-1);
  const disturbed = outage !== undefined && outage.to === null;
  const frozen = disturbed && outage.what === 'freeze';
  const [text, kind] = !connected ? ['client gone', 'gone'] : run.summary ? ['ended', 'gone']
    : disturbed ? [frozen ? 'server frozen' : outage.what, 'frozen'] : ['running', 'running'];
  write('state', text);
  element('state').className = 'pill ' + kind;
  const able = Boolean(token) && connected && !run.summary;
  for (const control of document.querySelectorAll('#restart button, #restart select')) control.disabled = !able;
  for (const control of document.querySelectorAll('#freeze button, #freeze input')) {
    control.disabled = !able || !run.start.can_freeze;
  }
  element('wake').disabled ||= !frozen;
  if (element('note').textContent !== '') {
    // What was said last matters more.
  } else if (!token) {
    write('note', 'To change the run, open the address that the client printed at its start: it holds the token.');
  } else if (connected && run.start.can_freeze === false) {
    write('note', 'To freeze the server from here, start the client with --server-pid=$(pidof server).');
  }
}

function showVerdict(recovery) {
  write('verdict', recovery.verdict);
  if (recovery.verdict === 'no outage') return write('facts', '');
  const after = time => time === null ? 'not yet' : `after ${number(time)} s`;
  write('facts', `· baseline ${number(recovery.baseline_ok, 1)} OK/s · errors gone ${after(recovery.errors_gone_s)}` +
    ` · 90 % of the baseline ${after(recovery.time_to_recovery_s)} · ${number(recovery.ok_lost)} OK lost` +
    ` · at most ${number(recovery.peak_attempts)} attempts/s`);
}

// `figures` are those of the summary, or of the run so far. What is zero all along is not shown.
function showFigures(figures) {
  write('amplification', number(figures.amplification, 2));
  write('success', percent(figures.success_share));
  for (const name of ['p50', 'p95', 'p99', 'max']) write(name, milliseconds(figures.latency_ms[name]));
  for (const name of ['p50', 'p99']) write('request_' + name, milliseconds(figures.request_time_ms[name]));
  write('longest', duration(figures.longest_without_ok_s));
  write('gave_up', number(figures.gave_up));
  write('gave_up_by', reasons(figures.gave_up_by));
  write('not_sent_so_far', number(figures.not_sent));
  element('gave_up').closest('.tile').hidden = figures.gave_up === 0;
  element('not_sent').closest('.tile').hidden = figures.not_sent === 0;
}

const ENDED_COLUMNS = [
  ['strategy', ({start}) => start.strategy],
  ['verdict', ({summary}) => summary.verdict],
  ['baseline OK/s', ({summary}) => number(summary.baseline_ok, 1)],
  ['errors gone after', ({summary}) => duration(summary.errors_gone_s)],
  ['recovered after', ({summary}) => duration(summary.time_to_recovery_s)],
  ['requests succeeded', ({summary}) => percent(summary.success_share)],
  ['given up', ({summary}) => number(summary.gave_up), ({summary}) => summary.gave_up > 0],
  ['not sent', ({summary}) => number(summary.not_sent), ({summary}) => summary.not_sent > 0],
  ['amplification', ({summary}) => number(summary.amplification, 2)],
  ['p99', ({summary}) => milliseconds(summary.latency_ms.p99)],
  ['request time p99', ({summary}) => milliseconds(summary.request_time_ms.p99)],
];

function showEnded() {
  element('earlier').hidden = ended.length === 0;
  fillTable(element('earlier').querySelector('table'), ENDED_COLUMNS, ended);
}

function refresh() {
  refreshWanted = false;
  const {start} = run;
  if (start.strategy) {
    const callers = start.arrivals === 'open' ? `${number(start.rate)} requests a second`
      : `${number(start.clients)} clients`;
    write('run', `${start.strategy} retries, ${callers}, seed ${start.seed}, ` +
      `${Retrystorm.minutes(run.end)} min`);
  }
  if (last) {
    write('ok', number(last.ok, 1));
    write('errors', number(last.errors, 1));
    write('timed_out', number(last.timed_out, 1));
    write('not_sent', number(last.not_sent, 1));
    write('concurrency', last.server ? number(last.server.concurrency) : 'no answer');
    const {workers, busy, waiting} = last.server ?? {};
    if (workers !== undefined) write('busy', `${number(busy)} of ${number(workers)}`);
    if (workers !== undefined) write('waiting', number(waiting));
    for (const name of ['busy', 'waiting']) element(name).closest('.tile').hidden = workers === undefined;
    element('concurrency').closest('.tile').hidden = workers !== undefined;
    write('delay', last.server ? duration(last.server.last_delay_s) : '–');
    showVerdict(run.summary ?? last.recovery);
    showFigures(run.summary ?? last.so_far);
  }
  showState();
  showEnded();
  for (const chart of charts) chart.update('none');
  for (const canvas of canvases) caption(canvas, canvas.dataset.chart, run);
}

// The history comes as a heap of events: they are shown once.
function wantRefresh() {
  if (refreshWanted) return;
  refreshWanted = true;
  setTimeout(refresh, 30);
}

// --- listening ----------------------------------------------------------------------------------

function take(event) {
  if (event.type === 'start') {
    run = new Run(event);
    last = null;
    drawAll();
    element('strategy').replaceChildren(...event.strategies.map(name => new Option(name)));
    element('strategy').value = event.strategy;
  } else if (event.type === 'notice') {
    write('note', event.text);
  } else {
    const curves = curvesSeen(run);
    run.take(event);
    if (curvesSeen(run) !== curves) drawAll();
    if (event.type === 'interval') last = event;
    if (event.type === 'summary') ended.push({start: run.start, summary: event});
  }
  wantRefresh();
}

function listen() {
  const source = new EventSource('events');
  source.onopen = () => {
    // The whole history comes anew.
    connected = true;
    ended = [];
    wantRefresh();
  };
  source.onmessage = message => take(JSON.parse(message.data));
  source.onerror = () => {
    connected = false;
    wantRefresh();
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  };
}

// --- commands -----------------------------------------------------------------------------------

async function command(what, body) {
  write('note', '');
  try {
    const response = await fetch('control/' + what, {
      method: 'POST',
      headers: {'Content-Type': 'application/json', 'X-Retrystorm-Token': token},
      body: JSON.stringify(body),
    });
    if (!response.ok) write('note', (await response.json()).error);
  } catch {
    write('note', 'The client does not answer.');
  }
}

element('freeze').addEventListener('submit', event => {
  event.preventDefault();
  command('freeze', {seconds: Number(element('seconds').value)});
});
element('wake').addEventListener('click', () => command('wake', {}));
element('restart').addEventListener('submit', event => {
  event.preventDefault();
  const busy = last?.server && last.server.last_delay_s > 10;
  command('restart', {strategy: element('strategy').value}).then(() => {
    if (busy) {
      write('note', 'The server is still full of the last run’s requests and will never be done with them: ' +
        'end both programs and start the server anew.');
    }
  });
});

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
drawAll();
showState();
listen();
