// The results of the runs in words and figures. Each word shows its meaning. A pinned setting's results
// are next to them.
import {find, make} from './dom.js';
import {brief} from './durations.js';
import {MEANINGS, term} from './glossary.js';

const {number, percent, duration, fillTable, PHASE_COLUMNS, PHASES_NOTE, phaseRows, reasons, requestTime} = Retrystorm;

const MOST = '10 s'; // after which the engine gives up
const VERDICTS = ['collapsed', 'relapsed', 'recovering', 'undecided', 'recovered'];
const VERBS = {
  collapsed: 'stays down', relapsed: 'comes back and goes down again', recovering: 'is still recovering at the end', undecided: 'is undecided',
  recovered: 'comes back',
};

export const interval = (low, high) => `${Math.round(low * 100)}–${Math.round(high * 100)} %`;

// The verdicts of a cell as [verdict, words], in the order of severity.
export function headline(cell) {
  const counted = VERDICTS.filter(verdict => cell[verdict] > 0);
  if (counted.length === 0) return [];
  const [first, ...others] = counted.map((verdict, i) => [verdict, `${VERBS[verdict]} in ${cell[verdict]} of ${cell.runs}${i === 0 ? ' runs' : ''}`]);
  // The interval is for all runs that are down at the end.
  if (first[0] === 'collapsed' && cell.relapsed === 0) first[1] += ` (${interval(cell.down_low, cell.down_high)})`;
  return [first, ...others];
}

const signed = (value, text) => `${value < 0 ? '−' : '+'}${text(Math.abs(value))}`;
// The verdict looks at windows of this many seconds, so no time is known better.
const WINDOW = 5;
const after = seconds => seconds < WINDOW ? `within ${WINDOW} s` : brief(seconds);

// A median of times with its interval. An end may be "never".
function half(median, low, high) {
  const [from, to] = [low, high].map(end => end === null ? 'never' : after(end));
  return after(median) + (low === null || from === to || from === after(median) && to === 'never' ? '' : ` (${from} to ${to})`);
}

// A median, and a mean, over runs that end differently.
const areMixed = cell => VERDICTS.filter(verdict => cell[verdict] > 0).length > 1;
const mostly = (cell, text) => areMixed(cell) ? `mostly ${text}` : text;
const onAverage = (cell, text) => areMixed(cell) ? `mean ${text}` : text;

// How long the slowest of a hundred requests that begin after the outage takes.
const slowest = cell => mostly(cell, requestTime(cell, 'request_p99_after_ms'));

// Most runs are down, or some of them may still come back.
const notBack = cell => 2 * (cell.collapsed + cell.relapsed) > cell.runs || cell.recovering === 0 ? 'never' : 'not yet';
const back = cell => cell.recovered === 0 ? notBack(cell) : mostly(cell, cell.recovery_median_s === null ? notBack(cell)
  : half(cell.recovery_median_s, cell.recovery_low_s, cell.recovery_high_s));

// The figures of a cell: [term, text, name of the difference, its text, where it is there].
const FIGURES = [
  ['back after', back, 'recovery_s', duration, 'outage'],
  ['errors gone', cell => cell.errors_gone_median_s === null ? 'never' : after(cell.errors_gone_median_s), null, null, 'outage'],
  ['makespan', cell => half(cell.makespan_median_s, cell.makespan_low_s, cell.makespan_high_s), 'makespan_s', duration, 'job'],
  ['dies first', cell => `${cell.died_first}, in ${percent(cell.died_first_share)} of the runs`, null, null, 'services'],
  ['attempts per request', cell => number(cell.amplification, 2), 'amplification', value => number(value, 2)],
  ['answers missing', cell => number(cell.ok_lost), 'ok_lost', value => number(value), 'outage'],
  ['given up', cell => number(cell.gave_up), null, null, 'given up'],
  ['not sent', cell => number(cell.not_sent), null, null, 'not sent'],
  ['throttled', cell => percent(cell.throttled_share), null, null, 'throttled'],
  ['idle', cell => percent(cell.idle_share), null, null, 'idle'],
  ['peak concurrency', cell => number(cell.peak_concurrency)],
  ['request time', cell => `p50 ${requestTime(cell, 'request_p50_ms')}, p99 ${requestTime(cell, 'request_p99_ms')}`],
  // The calm dilutes it: the last to be looked at.
  ['answered', cell => `${percent(cell.success_share)} of the whole run`, 'success_share', value => `${number(100 * value, 2)} points`],
];

// "Errors of the run that is drawn: 503 12 in the outage, 503 1 after it."
function errorsOfOne(summary) {
  const said = phaseRows(summary).map(({phase, words}) => [reasons(summary[`errors_by_${phase}`]), words]).filter(([errors]) => errors);
  return said.length === 0 ? '' : `Errors of the run that is drawn, by status: ${said.map(each => each.join(' ')).join('; ')}.`;
}

// The five figures to look at first: [title, text].
const TILES = [
  ['back', back], ['answered afterwards', cell => cell.success_after === 0 ? 'none' : onAverage(cell, percent(cell.success_after))],
  ['attempts per request', cell => onAverage(cell, number(cell.amplification, 1))],
  ['answers missing', cell => onAverage(cell, number(Math.max(cell.ok_lost, 0)))], ['slowest 1 % take', slowest],
];
const THERE = {
  'given up': cell => cell.gave_up > 0,
  'not sent': cell => cell.not_sent > 0,
  services: cell => Boolean(cell.died_first),
  outage: cell => VERDICTS.some(verdict => cell[verdict] > 0),
  job: cell => cell.makespan_median_s !== null,
  throttled: cell => cell.throttled_share !== null,
  idle: cell => cell.idle_share !== null,
};

// What became of the clients of a kind.
function kindText(cell, name) {
  const [, success, attempts] = (cell.clients ?? []).find(([each]) => each === name) ?? [];
  return success === undefined ? '–' : `${percent(success)}, ${number(attempts, 2)} attempts per request`;
}

function differenceText(difference, text) {
  if (!difference) return '';
  const {value, low, high} = difference;
  if ([value, low ?? 0, high ?? 0].every(each => text(Math.abs(each)) === text(0))) return 'none';
  const range = low === null ? '' : ` (${signed(low, text)} to ${signed(high, text)})`;
  return signed(value, text) + range;
}

// The difference of two settings, in the words of the command line.
export function settingText(given) {
  const words = Object.entries(given).map(([name, text]) => `${name}=${text}`);
  return words.length > 0 ? words.join(', ') : 'all at their defaults';
}

export function mountVerdict(app) {
  const sentence = make('div', {className: 'verdict-sentence', role: 'status'});
  const computing = make('span', {'aria-hidden': 'true'}); // how long it has taken so far
  const stop = make('button', {type: 'button', id: 'stop', onclick: () => app.stop()}, 'Stop');
  const bar = make('div', {className: 'verdict-bar', 'aria-hidden': 'true'});
  const table = make('table', {className: 'verdict-figures'});
  const phases = make('table', {className: 'verdict-phases'}), note = make('p', {className: 'muted'});
  const inPhases = make('div', {hidden: true}, make('div', {className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': 'Before, in and after the outage'}, phases), note);
  const pin = make('button', {type: 'button', id: 'pin', onclick: () => app.pin()}, 'Pin this setting');
  const goBack = make('button', {type: 'button', id: 'go-back', onclick: () => app.replace({...app.state.pinned})}, 'Back to the pinned one');
  const unpin = make('button', {type: 'button', id: 'unpin', onclick: () => app.unpin()}, 'Unpin');
  const pinned = make('p', {className: 'muted'});
  const tiles = make('dl', {className: 'verdict-tiles'});
  find('headline').append(sentence, bar);
  find('tiles').append(tiles);
  // On a phone a chart stays below it.
  new ResizeObserver(() => document.documentElement.style.setProperty('--headline', `${find('headline').offsetHeight}px`)).observe(find('headline'));
  find('verdict').append(make('h2', {}, 'Results'), inPhases,
    make('div', {className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': 'Figures'}, table));
  find('setting').append(make('div', {className: 'verdict-pin'}, pin, goBack, unpin, pinned));

  function words(cell) {
    const counted = headline(cell);
    if (counted.length === 0) {
      return cell.makespan_median_s === null ? ['No outage, and the service is not down.'] : [`The job is done after ${duration(cell.makespan_median_s)}.`];
    }
    return counted.flatMap(([verdict, text], i) =>
      [term(verdict, (i > 0 ? text : text[0].toUpperCase() + text.slice(1)) + (i < counted.length - 1 ? ',' : '')), ' ']);
  }

  function showMany() {
    const {ours, theirs, difference} = app;
    const {cell} = ours.many;
    sentence.replaceChildren(...before(), ...words(cell), make('span', {className: 'verdict-seeds muted'}, cell.collapsed > 0 && !areMixed(cell) ? ' 95 % interval' : ''));
    if (theirs?.many) {
      const other = make('p', {className: 'muted verdict-other'}, 'Pinned: ', ...words(theirs.many.cell));
      if (difference?.down) {
        const {value, low, high} = difference.down, range = [low, high].map(end => signed(100 * end, x => number(x))).join(' to ');
        other.append('· ', term('difference', value === 0 ? 'Now as often' : `Now ${number(Math.abs(100 * value))} points ${value < 0 ? 'less' : 'more'} often`), ` (${range})`);
      }
      sentence.append(other);
    }
    bar.replaceChildren(...VERDICTS.filter(verdict => cell[verdict] > 0).map(verdict => {
      const part = make('span', {className: `verdict-${verdict}`});
      part.style.flexGrow = cell[verdict];
      return part;
    }));
    // Without an outage there is nothing before and after it.
    tiles.hidden = cell.success_before === null && cell.success_during === null;
    tiles.replaceChildren(...TILES.map(([title, text]) => [title, text(cell)]).filter(([, text]) => text !== '–')
      .map(([title, text]) => make('div', {}, make('dt', {}, title), make('dd', {}, text))));
    const rowsOf = (all, which) => all?.many ? phaseRows(all.many.cell, {which}) : [];
    const inEach = [...rowsOf(ours, 'now'), ...rowsOf(theirs, 'pinned')];
    inPhases.hidden = inEach.length === 0;
    fillTable(phases, [['setting', ({which}) => which, () => Boolean(theirs?.many)], ...PHASE_COLUMNS], inEach);
    note.textContent = `Means of ${cell.runs} runs, and medians of their quantiles. ${PHASES_NOTE} ${errorsOfOne(app.ours.run?.summary)}`;
    const rows = [...FIGURES.filter(([, , , , there]) => !there || THERE[there](cell) || theirs?.many && THERE[there](theirs.many.cell)),
      ...(cell.clients ?? []).map(([name]) => [`success of ${name}`, each => kindText(each, name)])];
    const head = ['', 'now', ...theirs?.many ? ['pinned', 'difference'] : []];
    table.replaceChildren(
      make('thead', {}, make('tr', {}, ...head.map(text => make(text ? 'th' : 'td', {scope: text ? 'col' : null}, text)))),
      make('tbody', {}, ...rows.map(([name, text, key, differs]) => make('tr', {},
        make('th', {scope: 'row'}, MEANINGS[name] ? term(name) : name), make('td', {}, text(cell)),
        ...theirs?.many ? [make('td', {}, text(theirs.many.cell)), make('td', {}, key ? differenceText(difference?.[key], differs) : '')] : []))));
  }

  function showOne() {
    const {verdict} = app.ours.result;
    const text = verdict === 'no outage' ? 'No outage, and the service is not down.' : `1 seed: ${verdict}.`;
    sentence.replaceChildren(...before(), VERBS[verdict] ? term(verdict, text) : text,
      make('span', {className: 'verdict-seeds muted'}, app.error === null ? ' more are being simulated' : ''));
    bar.replaceChildren();
  }

  // If the current setting was refused, the results of the last one stay.
  const before = () => app.behind ? [make('span', {className: 'muted'}, 'Before this change: ')] : [];

  function showTime() {
    computing.textContent = ` ${Math.round((performance.now() - app.computing) / 1000)} s (at most ${MOST})`;
  }

  let clock = null;
  function show() {
    clearInterval(clock);
    if (app.computing !== null) {
      sentence.replaceChildren('Computing ...', computing, ' ', stop);
      bar.replaceChildren();
      showTime();
      clock = setInterval(showTime, 200);
    } else if (app.ours.many) {
      showMany();
    } else if (app.ours.run) {
      showOne();
    } else {
      sentence.replaceChildren();
    }
    // Figures of an earlier setting stay until there are new ones. The title says so.
    const old = app.behind || !app.ours.many, now = table.querySelector('thead th');
    for (const each of [table, phases, tiles]) each.classList.toggle('verdict-before', old);
    if (now) now.textContent = old ? 'before' : 'now';
  }

  function showPin() {
    const {pinned: setting} = app.state;
    goBack.hidden = unpin.hidden = !setting;
    pin.textContent = setting ? 'Pin this one instead' : 'Pin, to compare others with it';
    pinned.textContent = setting ? `Pinned: ${settingText(setting)}` : '';
  }

  for (const event of ['computing', 'run', 'many', 'error']) app.on(event, show);
  app.on('pinned', showPin);
  showPin();
}
