// Usage: node gallery.mjs ENGINE OUTPUT
//
// Runs the settings of the gallery's cards (cards.json) with the explorer's ENGINE, a hundred seeds each,
// and writes what the page shows of them. A card's setting is that of its link, or of a scenario file.
import {readFileSync, writeFileSync} from 'node:fs';
import {instantiate} from '../page/engine.js';
import {endings} from '../page/endings.js';
import {fromFragment, settingKey, toFragment} from '../page/link.js';
import {optionsOf} from '../page/options.js';
import {seedAfter, seedsAfter} from '../page/seeds.js';

const RUNS = 100;
const AT_A_TIME = 10; // an answer must not take long
const POINTS = 80; // of a curve
const PATIENCE = 300; // seconds; the machine may be busy

const [engine, output] = process.argv.slice(2);
const answer = await instantiate(new WebAssembly.Module(readFileSync(engine)));
function ask(question) {
  const found = JSON.parse(answer({patience_s: PATIENCE, ...question}));
  if (found.error) throw new Error(found.error);
  return found;
}
const known = optionsOf(ask({ask: 'catalogue'}));

// {given, lines: [[kind, text], ...]} of a scenario file. The lines say what is published and what is
// assumed.
function scenario(name) {
  const given = {}, lines = [];
  for (const line of readFileSync(new URL(`../../scripts/scenarios/${name}.ini`, import.meta.url), 'utf8').split('\n')) {
    const [, option, text] = /^([a-z-]+) = "?(.*?)"?$/.exec(line) ?? [];
    const [, kind, words] = /^# (Source|published|assumed): (.*)$/.exec(line) ?? [];
    if (option) given[option] = text;
    if (kind) lines.push([kind, words]);
  }
  return {given, lines};
}

function settings({link, scenario: name, without}) {
  if (!name) {
    const {state, problem} = fromFragment(link, known);
    if (problem) throw new Error(`${link}: ${problem}`);
    return {state, lines: []};
  }
  const {given, lines} = scenario(name);
  const {state} = fromFragment('', () => true);
  const pinned = without ? Object.fromEntries(Object.entries(given).filter(([option]) => option !== without)) : null;
  return {state: {...state, given, pinned}, lines};
}

const computed = new Map(); // by setting

// Its runs in figures, with the curve of the first one that ends as most of them do, and of the first one
// that does not.
function figures(given) {
  const key = settingKey(given);
  if (!computed.has(key)) computed.set(key, compute(given));
  return computed.get(key);
}

function compute(given) {
  const results = [];
  while (results.length < RUNS) results.push(...ask({ask: 'batch', given, seeds: seedsAfter('1', results.length, AT_A_TIME)}).results);
  const {cell} = ask({ask: 'summarize', results});
  const [usual, rare] = endings(results).map(({runs}) => curve(given, seedAfter('1', runs[0])));
  return {
    down: cell.collapsed + cell.relapsed, runs: cell.runs, low: cell.down_low, high: cell.down_high, recovering: cell.recovering, during: cell.success_during, clients: cell.clients,
    ...usual, rare,
  };
}

function curve(given, seed) {
  const {client} = ask({ask: 'run', given, seed});
  const intervals = client.filter(({type}) => type === 'interval'), every = Math.ceil(intervals.length / POINTS);
  const ok = [];
  for (let i = 0; i < intervals.length; i += every) {
    const some = intervals.slice(i, i + every);
    ok.push([some.at(-1).t, Math.round(some.reduce((sum, each) => sum + each.ok, 0) / some.length)]);
  }
  const times = client.filter(({type}) => type === 'outage').map(({t}) => t), end = intervals.at(-1).t;
  return {ok, end, outages: times.filter((_, i) => i % 2 === 0).map((from, i) => [from, times[2 * i + 1] ?? end])};
}

const all = JSON.parse(readFileSync(new URL('cards.json', import.meta.url))).map(card => {
  const {state, lines} = settings(card);
  return {
    id: card.id, claim: card.claim, link: toFragment(state), title: card.other, during: card.during, lines,
    command: ask({ask: 'describe', given: state.given, seed: '1'}).command,
    now: figures(state.given), other: state.pinned && figures(state.pinned),
  };
});
writeFileSync(output, JSON.stringify(all));
