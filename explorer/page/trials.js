// What the answer hangs on: other values of what was not set, such as the backlog, tried once the answer is there.
import {find, make} from './dom.js';
import {Dropped} from './pool.js';
import {asOnPage} from './words.js';

const RUNS = 20; // of each trial
const PATIENCE = 30; // seconds

export function mountTrials(app) {
  const box = find('trials');
  const known = new Map();
  const hide = () => { box.hidden = true; };
  const show = (title, texts) => {
    box.hidden = false;
    box.replaceChildren(make('p', {}, make('strong', {}, title)), make('ul', {}, ...texts.map(text => make('li', {}, `${asOnPage(text)}.`))));
  };

  async function tryOthers() {
    const {given, seed} = app.state, {results} = app.ours.many, key = app.key(given, seed);
    if (!known.has(key)) {
      show('Trying what the answer may hang on\u2026', []);
      known.set(key, await app.pool.ask({ask: 'trials', given, seed, results, runs: RUNS, patience_s: PATIENCE}, {order: 3, group: 'setting'}));
    }
    if (key !== app.key(app.state.given, app.state.seed)) return;
    const {any, hangs, lines} = known.get(key);
    if (!any) hide();
    else show(hangs ? 'The answer hangs on:' : 'It hangs on nothing that was tried.', lines);
  }

  app.on('run', hide);
  app.on('all', () => tryOthers().catch(error => {
    if (error instanceof Dropped) hide();
    else show('What the answer hangs on', [error.message]);
  }));
}
