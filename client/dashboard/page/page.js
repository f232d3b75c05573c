// The live page: shows the client's events and sends it the reader's commands.
'use strict';

const {Run, caption, curvesSeen, draw, duration, fillTable, milliseconds, number, percent, PHASE_COLUMNS, PHASES_NOTE, phaseRows, reasons, requestTime} = Retrystorm;
const element = id => document.getElementById(id);
const canvases = [...document.querySelectorAll('canvas[data-chart]')];

const MARGIN = 58; // pixels beside all plots, so that the outage is at the same place in each

let run = new Run({});
let charts = [];
let ended = [];
let last = null;
let connected = false;
let refreshWanted = false;

// --- the token ----------------------------------------------------------------------------------

// Removes the token from the address, so that it does not stay in the browser's history.
const token = (() => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given) {
    sessionStorage.setItem('token', given);
    history.replaceState(null, '', location.pathname);
  }
  return given ?? sessionStorage.getItem('token');
})();

// --- showing ------------------------------------------------------------------------------------

// Writes only changes, so that a screen reader does not repeat the same text.
function write(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

function drawAll() {
  for (const chart of charts) chart.destroy();
  // Most runs keep no connections.
  const shown = canvases.filter(({dataset: {chart}}) => chart !== 'connections' || run.series.used.length > 0);
  for (const canvas of canvases) canvas.closest('figure').hidden = !shown.includes(canvas);
  charts = shown.map(canvas => draw(canvas, canvas.dataset.chart, run, {margin: () => MARGIN}));
}

function showState() {
  const outage = run.outages.at(-1);
  const disturbed = outage !== undefined && outage.to === null;
  const frozen = disturbed && outage.what === 'freeze';
  const [text, kind] = !connected ? ['client unreachable', 'gone'] : run.summary ? ['ended', 'gone']
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
    // The last message matters more.
  } else if (!token) {
    write('note', 'To change the run, open the address that the client printed when it started: it contains the token.');
  } else if (connected && run.start.can_freeze === false) {
    write('note', 'To freeze the server from here, start the client with --server-pid=$(pidof server).');
  }
}

// The most that a delay is shown as: beyond it only that it is longer matters.
const LONG = 600;
const delayText = seconds => seconds > LONG ? 'over 10 min' : duration(seconds);

// After an outage that is over: why the service does not come back, and what may help.
function showHeld() {
  const held = run.summary ? undefined : last?.held;
  element('held').hidden = !held;
  if (!held) return;
  write('held-why', held.why);
  write('shed', `Turn away above ${number(held.shed_above)}`);
  element('shed').dataset.action = `set shed-above=${held.shed_above}`;
  for (const button of element('held').querySelectorAll('button')) {
    button.disabled = !token || !connected || 'order' in button.dataset && !run.start.can_order;
  }
  write('held-note', token && !run.start.can_order ? 'For the first two start both programs with --admin-token-file=FILE.' : '');
}

function showVerdict(recovery) {
  write('verdict', recovery.verdict);
  write('reason', recovery.reason ?? '');
  if (recovery.verdict === 'no outage') return write('facts', '');
  const after = time => time === null ? 'not yet' : `after ${number(time)} s`;
  write('facts', `· baseline ${number(recovery.baseline_ok, 1)} OK/s · errors gone ${after(recovery.errors_gone_s)}` +
    ` · 90 % of the baseline ${after(recovery.time_to_recovery_s)} · ${number(recovery.ok_lost)} OK lost` +
    ` · at most ${number(recovery.peak_attempts)} attempts/s`);
}

// `figures`: those of the summary, or of the run so far. Figures that were always zero are not shown.
function showFigures(figures) {
  write('amplification', number(figures.amplification, 2));
  write('success', percent(figures.success_share));
  for (const name of ['p50', 'p95', 'p99', 'max']) write(name, milliseconds(figures.latency_ms[name]));
  for (const name of ['p50', 'p99']) write('request_' + name, requestTime(figures.request_time_ms, name));
  write('longest', duration(figures.longest_without_ok_s));
  write('gave_up', number(figures.gave_up));
  write('gave_up_by', reasons(figures.gave_up_by));
  write('not_sent_so_far', number(figures.not_sent));
  write('first_error', `the first: ${figures.first_error}`);
  element('first_error').hidden = !figures.first_error;
  element('gave_up').closest('.tile').hidden = figures.gave_up === 0;
  element('not_sent').closest('.tile').hidden = figures.not_sent === 0;
}

const ENDED_COLUMNS = [
  ['strategy', ({start}) => start.strategy],
  ['verdict', ({summary}) => summary.verdict],
  ['baseline OK/s', ({summary}) => number(summary.baseline_ok, 1)],
  ['errors gone after', ({summary}) => duration(summary.errors_gone_s)],
  ['recovered after', ({summary}) => duration(summary.time_to_recovery_s)],
  ['given up', ({summary}) => number(summary.gave_up), ({summary}) => summary.gave_up > 0],
  ['not sent', ({summary}) => number(summary.not_sent), ({summary}) => summary.not_sent > 0],
  ['amplification', ({summary}) => number(summary.amplification, 2)],
  ['p99', ({summary}) => milliseconds(summary.latency_ms.p99)],
  ['request time p99', ({summary}) => requestTime(summary.request_time_ms, 'p99')],
  ['succeeded in the whole run', ({summary}) => percent(summary.success_share)],
];

function showEnded() {
  element('earlier').hidden = ended.length === 0;
  fillTable(element('ended'), ENDED_COLUMNS, ended);
  const phases = ended.flatMap(({start, summary}) => phaseRows(summary, {strategy: start.strategy}));
  element('phases-of').hidden = phases.length === 0;
  write('phases-note', PHASES_NOTE);
  fillTable(element('phases'), [['strategy', ({strategy}) => strategy], ...PHASE_COLUMNS], phases);
}

function refresh() {
  refreshWanted = false;
  const {start} = run;
  if (start.strategy) {
    const callers = start.arrivals === 'open' ? `${number(start.rate)} requests a second`
      : `${number(start.clients)} clients`;
    write('run', `${start.title}, ${callers}, seed ${start.seed}, ` +
      `${Retrystorm.minutes(run.end)} min`);
  }
  if (last) {
    write('ok', number(last.ok, 1));
    write('errors', number(last.errors, 1));
    write('errors_by', last.errors > 0 ? Object.keys(last.errors_by ?? {}).join(', ') : '');
    write('timed_out', number(last.timed_out, 1));
    write('not_sent', number(last.not_sent, 1));
    write('concurrency', last.server ? number(last.server.concurrency) : 'no answer');
    const {workers, busy, waiting} = last.server ?? {};
    if (workers !== undefined) write('busy', `${number(busy)} of ${number(workers)}`);
    if (workers !== undefined) write('waiting', number(waiting));
    for (const name of ['busy', 'waiting']) element(name).closest('.tile').hidden = workers === undefined;
    element('concurrency').closest('.tile').hidden = workers !== undefined;
    write('delay', last.server ? delayText(last.server.last_delay_s) : '–');
    showVerdict(run.summary ?? last.recovery);
    showFigures(run.summary ?? last.so_far);
  }
  showState();
  showHeld();
  showEnded();
  for (const chart of charts) chart.update('none');
  for (const {canvas} of charts) caption(canvas, canvas.dataset.chart, run);
}

// The history comes as many events at once. They are drawn once.
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
    // The whole history is sent again.
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
  if (!run.summary && !confirm('This ends the present run. Start again?')) return;
  const busy = last?.server && last.server.last_delay_s > 10;
  command('restart', {strategy: element('strategy').value}).then(() => {
    if (busy) {
      write('note', 'The server still holds requests of the last run, more than it can work off: ' +
        'end both programs and start the server again.');
    }
  });
});

element('held').addEventListener('click', ({target}) => {
  if (target.dataset.action) command('act', {action: target.dataset.action});
});

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
drawAll();
showState();
listen();
