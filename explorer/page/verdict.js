// What the runs say, in words and figures, each word with its meaning; beside those of a pinned
// setting, if there is one.
import {find, make} from './dom.js';
import {term} from './glossary.js';

const {number, percent, duration, milliseconds} = Retrystorm;

const VERDICTS = ['collapsed', 'relapsed', 'recovering', 'undecided', 'recovered'];
const VERBS = {
  collapsed: 'collapses', relapsed: 'relapses', recovering: 'is still recovering at the end', undecided: 'is undecided',
  recovered: 'recovers',
};

export const interval = (low, high) => `${Math.round(low * 100)}–${Math.round(high * 100)} %`;

// What a cell says, as [verdict, words] in the order of how bad it is.
export function headline(cell) {
  const told = VERDICTS.filter(verdict => cell[verdict] > 0);
  if (told.length === 0) return [];
  const [first, ...others] = told.map(verdict => [verdict, `${VERBS[verdict]} in ${cell[verdict]} of ${cell.runs}`]);
  if (first[0] === 'collapsed') first[1] += ` (${interval(cell.collapsed_low, cell.collapsed_high)})`;
  return [first, ...others];
}

// The figures of a cell: [term, text, name of the difference, its text].
const signed = (value, text) => `${value < 0 ? '−' : '+'}${text(Math.abs(value))}`;
// A median of times, with its interval, of which an end may be never.
function half(median, low, high) {
  const [from, to] = [low, high].map(end => end === null ? 'never' : duration(end));
  return duration(median) + (low === null || from === to ? '' : ` (${from} to ${to})`);
}
const FIGURES = [
  ['recovery', cell => cell.recovered === 0 ? 'never' : cell.recovery_median_s === null ? 'most never'
    : half(cell.recovery_median_s, cell.recovery_low_s, cell.recovery_high_s), 'recovery_s', duration, 'outage'],
  ['errors gone', cell => cell.errors_gone_median_s === null ? 'never' : duration(cell.errors_gone_median_s), null, null, 'outage'],
  ['makespan', cell => half(cell.makespan_median_s, cell.makespan_low_s, cell.makespan_high_s), 'makespan_s', duration, 'job'],
  ['requests succeeded', cell => percent(cell.success_share), 'success_share', value => `${number(100 * value, 2)} points`],
  ['amplification', cell => `${number(cell.amplification, 2)} attempts a request`, 'amplification', value => number(value, 2)],
  ['OK lost', cell => number(cell.ok_lost), 'ok_lost', value => number(value), 'outage'],
  ['given up', cell => number(cell.gave_up)],
  ['not sent', cell => number(cell.not_sent)],
  ['throttled', cell => percent(cell.throttled_share), null, null, 'throttled'],
  ['idle', cell => percent(cell.idle_share), null, null, 'idle'],
  ['peak concurrency', cell => number(cell.peak_concurrency)],
  ['request time', cell => `p50 ${milliseconds(cell.request_p50_ms)}, p99 ${milliseconds(cell.request_p99_ms)}`],
];
const THERE = {
  outage: cell => VERDICTS.some(verdict => cell[verdict] > 0),
  job: cell => cell.makespan_median_s !== null,
  throttled: cell => cell.throttled_share !== null,
  idle: cell => cell.idle_share !== null,
};

function differenceText(difference, text) {
  if (!difference) return '';
  const {value, low, high} = difference;
  const range = low === null ? '' : ` (${signed(low, text)} to ${signed(high, text)})`;
  return signed(value, text) + range;
}

// How two settings differ, in the words of the command line.
export function settingText(given) {
  const words = Object.entries(given).map(([name, text]) => `${name}=${text}`);
  return words.length > 0 ? words.join(', ') : 'all at their defaults';
}

export function mountVerdict(app) {
  const sentence = make('div', {className: 'verdict-sentence', role: 'status'});
  const bar = make('div', {className: 'verdict-bar', 'aria-hidden': 'true'});
  const table = make('table', {className: 'verdict-figures'});
  const pin = make('button', {type: 'button', id: 'pin', onclick: () => app.pin()}, 'Pin this setting');
  const back = make('button', {type: 'button', id: 'go-back', onclick: () => app.replace({...app.state.pinned})}, 'Back to the pinned one');
  const unpin = make('button', {type: 'button', id: 'unpin', onclick: () => app.unpin()}, 'Unpin');
  const pinned = make('p', {className: 'muted'});
  find('headline').append(sentence, bar);
  find('verdict').append(make('h2', {}, 'What becomes of the service'),
    make('div', {className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': 'Figures'}, table),
    make('div', {className: 'verdict-pin'}, pin, back, unpin, pinned));

  function words(cell) {
    const told = headline(cell);
    if (told.length === 0) {
      return cell.makespan_median_s === null ? ['No outage, no verdict.'] : [`The job is done after ${duration(cell.makespan_median_s)}.`];
    }
    return told.flatMap(([verdict, text], i) =>
      [term(verdict, (i > 0 ? text : text[0].toUpperCase() + text.slice(1)) + (i < told.length - 1 ? ',' : '')), ' ']);
  }

  function showMany() {
    const {ours, theirs, difference} = app;
    const {cell} = ours.many;
    sentence.replaceChildren(...words(cell), make('span', {className: 'verdict-seeds muted'}, ` ${cell.runs} seeds`));
    if (theirs?.many) {
      const other = make('p', {className: 'muted verdict-other'}, 'Pinned: ', ...words(theirs.many.cell));
      if (difference && THERE.outage(cell)) {
        const {value, low, high} = difference.collapsed;
        other.append('· ', term('difference', 'Difference'), ` of P(collapse): ${signed(100 * value, x => number(x))} points (${signed(100 * low, x => number(x))} to ${signed(100 * high, x => number(x))})`);
      }
      sentence.append(other);
    }
    bar.replaceChildren(...VERDICTS.filter(verdict => cell[verdict] > 0).map(verdict => {
      const part = make('span', {className: `verdict-${verdict}`});
      part.style.flexGrow = cell[verdict];
      return part;
    }));
    const rows = FIGURES.filter(([, , , , there]) => !there || THERE[there](cell));
    const head = ['', 'now', ...theirs?.many ? ['pinned', 'difference'] : []];
    table.replaceChildren(
      make('thead', {}, make('tr', {}, ...head.map(text => make(text ? 'th' : 'td', {scope: text ? 'col' : null}, text)))),
      make('tbody', {}, ...rows.map(([name, text, key, differs]) => make('tr', {},
        make('th', {scope: 'row'}, term(name)), make('td', {}, text(cell)),
        ...theirs?.many ? [make('td', {}, text(theirs.many.cell)), make('td', {}, key ? differenceText(difference?.[key], differs) : '')] : []))));
  }

  function showOne() {
    const {verdict} = app.ours.result;
    const text = verdict === 'no outage' ? 'No outage, no verdict.' : `1 seed: ${verdict}.`;
    sentence.replaceChildren(VERBS[verdict] ? term(verdict, text) : text, make('span', {className: 'verdict-seeds muted'}, ' more are being simulated'));
    bar.replaceChildren();
  }

  function showPin() {
    const {pinned: setting} = app.state;
    back.hidden = unpin.hidden = !setting;
    pin.textContent = setting ? 'Pin the present setting instead' : 'Pin this setting, to compare others with it';
    pinned.textContent = setting ? `Pinned: ${settingText(setting)}` : '';
  }

  app.on('run', () => app.ours.many ? showMany() : showOne());
  app.on('many', () => app.ours.many && showMany());
  app.on('pinned', showPin);
  showPin();
}
