// The page's state: the reader's setting, and what has been computed for it so far.
//
// Events. Listeners are called after the state has changed:
//   description  what the engine says of the setting: values in force, errors, command lines
//   computing    `computing` is since when the reader has waited for the run, or null again
//   run          `ours.run` is the first run of the setting; `ours.many` is not there yet
//   painted      the run is visible: for work that the reader does not wait for
//   many         `ours.many`: 20 seeds, then 100; `theirs.many` too, if a setting is pinned
//   all          `ours.many` has all seeds
//   drawn        `ours.run` is that of another seed, because its ending is more frequent, or asked for
//   pinned       a setting was pinned or unpinned
//   time         services behind services, or hosts, are shown at another time
//   error        `error` says why the setting cannot be run, or is null again
import {endings} from './endings.js';
import {settingKey} from './link.js';
import {optionsOf} from './options.js';
import {Dropped} from './pool.js';
import {seedAfter, seedsAfter} from './seeds.js';

const {Run} = Retrystorm;
const FEW = 20, MANY = 100;
const CHUNK = 2; // seeds per question; few, so that a thread is soon free for the reader's next change
const NOTICED = 150; // milliseconds after which the page says that it computes
const SETTLED = 120; // milliseconds after the last change before statistics begin
const REMEMBERED = 20; // settings whose results are kept, a megabyte each

export class App {
  constructor(pool, catalogue) {
    this.pool = pool;
    this.catalogue = catalogue;
    this.option = optionsOf(catalogue);
    this.state = {given: {}, pinned: null, seed: '1', map: null, challenge: null, story: null, embed: false};
    this.description = null;
    this.error = null;
    this.computing = null; // a time of `performance.now()`
    this.behind = false; // true while `ours` and `theirs` belong to an earlier setting
    // `run` is the one to draw, `drawn` its {seed, client, server, result}. `result` is that of the first seed.
    this.ours = {run: null, drawn: null, result: null, interval_s: null, outlook: null, many: null};
    this.moment = null; // the TimeBar of services behind services or of hosts, if there are any
    this.ending = null; // the ending of the run to draw; null: the most frequent one
    this.theirs = null;
    this.difference = null;
    this.listeners = new Map();
    this.remembered = new Map();
    this.generation = 0;
  }

  on(event, listener) {
    if (!this.listeners.has(event)) this.listeners.set(event, []);
    this.listeners.get(event).push(listener);
  }

  tell(event) {
    for (const listener of this.listeners.get(event) ?? []) listener(this);
  }

  // The value of an option that is in force, as text.
  value(name) {
    return this.description?.values[name] ?? this.option(name).default;
  }

  // Sets options by name. Null resets an option to its default.
  change(texts) {
    const given = {...this.state.given};
    for (const [name, text] of Object.entries(texts)) {
      if (text === null) delete given[name];
      else given[name] = String(text);
    }
    this.replace(given);
  }

  replace(given) {
    this.state.given = given;
    this.compute();
  }

  // Keeps a setting, to compare others with it. `given`: a setting other than the current one.
  pin(given = this.state.given) {
    this.state.pinned = {...given};
    this.tell('pinned');
    this.compute();
  }

  unpin() {
    this.state.pinned = null;
    this.theirs = this.difference = null;
    this.tell('pinned');
    this.tell('many');
  }

  // Restores the state of a link, without the values that the command line would refuse.
  // Resolves to the reasons, or to null if another state has been requested meanwhile.
  async restore(state) {
    const generation = ++this.generation;
    const refused = new Set();
    for (const given of [state.given, state.pinned]) {
      if (!given) continue;
      const {errors} = await this.pool.ask({ask: 'describe', given, seed: state.seed});
      if (generation !== this.generation) return null;
      for (const [name, sentence] of Object.entries(errors)) {
        // If no single option is the cause, all are left out.
        for (const each of name ? [name] : Object.keys(given)) delete given[each];
        refused.add(sentence);
      }
    }
    this.state = state;
    this.theirs = this.difference = null;
    this.tell('pinned');
    await this.compute();
    return [...refused];
  }

  // Resolves once the first run is there or was refused.
  async compute() {
    const generation = ++this.generation;
    const current = () => generation === this.generation;
    this.wait();
    this.ending = null;
    const {given, seed, pinned} = this.state;
    const ask = (question, order) => this.pool.ask(question, {order, group: 'setting'});
    try {
      const [, run, other] = await Promise.all([
        ask({ask: 'describe', given, seed}, 0).then(description => {
          if (current()) {
            this.description = description;
            this.tell('description');
          }
        }),
        this.first(given, seed, ask),
        pinned && this.first(pinned, seed, ask),
      ]);
      if (!current()) return;
      this.ours = {...run, many: this.recall(given, seed)};
      // It may have been unpinned meanwhile.
      this.theirs = this.state.pinned && {...other, many: this.recall(pinned, seed)};
      this.difference = null;
      this.behind = false;
      this.stopWaiting();
      this.fail(null);
      this.tell('run');
      requestAnimationFrame(() => setTimeout(() => {
        if (current()) this.tell('painted');
      }));
    } catch (error) {
      if (error instanceof Dropped || !current()) return;
      this.stopWaiting();
      this.fail(error.message);
      return;
    }
    this.settled = setTimeout(() => this.statistics(current, ask), SETTLED);
  }

  // From now on the page shows the last setting's results. It says so unless the run is there soon.
  wait() {
    clearTimeout(this.settled);
    this.pool.drop('setting');
    this.behind = true;
    const since = this.since = performance.now();
    if (this.computing !== null) this.tellComputing(since);
    else this.noticed ??= setTimeout(() => {
      this.fail(null);
      this.tellComputing(this.since);
    }, NOTICED);
  }

  stopWaiting() {
    clearTimeout(this.noticed);
    this.noticed = null;
    if (this.computing !== null) this.tellComputing(null);
  }

  tellComputing(since) {
    this.computing = since;
    this.tell('computing');
  }

  // Called if the reader does not want to wait any longer.
  stop() {
    ++this.generation;
    this.pool.drop('setting');
    this.stopWaiting();
    this.fail('Stopped: this setting has not been simulated.');
  }

  fail(sentence) {
    if (this.error === sentence) return;
    this.error = sentence;
    this.tell('error');
  }

  async first(given, seed, ask) {
    const {client, server, result, interval_s, outlook, places, graph, hosts} = await ask({ask: 'run', given, seed}, 0);
    return {run: Run.of({seed}, client, server, places), drawn: {seed, client, server, result, graph, hosts}, result, interval_s, outlook};
  }

  // Draws a run of another ending.
  see(ending) {
    const generation = this.generation;
    this.ending = ending;
    this.drawEnding(() => generation === this.generation, (question, order) => this.pool.ask(question, {order, group: 'setting'}))
      .catch(error => { if (!(error instanceof Dropped)) this.fail(error.message); });
  }

  // If runs end differently, draws the first one of the ending that the reader asks for, or of the most
  // frequent one; of a pinned setting, the run with the same seed.
  async drawEnding(current, ask) {
    const {given, seed, pinned} = this.state, {ours, theirs} = this;
    const all = endings(ours.many.results);
    const ending = all.find(({name}) => name === this.ending) ?? all[0];
    const wanted = seedAfter(seed, ending?.runs[0] ?? 0);
    if (wanted === ours.drawn.seed) return;
    const [our, their] = await Promise.all([this.first(given, wanted, ask), theirs && this.first(pinned, wanted, ask)]);
    if (!current()) return;
    Object.assign(ours, {run: our.run, drawn: our.drawn});
    if (this.theirs) Object.assign(this.theirs, {run: their.run, drawn: their.drawn});
    this.tell('drawn');
  }

  async statistics(current, ask) {
    const {given, seed, pinned} = this.state;
    try {
      for (const count of [FEW, MANY]) {
        const [ours, theirs] = await Promise.all([
          this.many(given, seed, count, this.ours, ask), this.theirs && this.many(pinned, seed, count, this.theirs, ask)]);
        if (!current()) return;
        this.ours.many = ours;
        if (this.theirs) { // it may have been unpinned meanwhile
          this.theirs.many = theirs;
          // One setting may have results of more seeds than the other.
          const pairs = Math.min(ours.count, theirs.count);
          const [results, against] = [ours, theirs].map(each => each.results.slice(0, pairs));
          const {difference} = await ask({ask: 'summarize', results, against}, 1);
          if (!current()) return;
          this.difference = this.theirs && difference;
        }
        this.tell('many');
        await this.drawEnding(current, ask);
      }
      if (current()) this.tell('all');
    } catch (error) {
      if (!(error instanceof Dropped) && current()) this.fail(error.message);
    }
  }

  key(given, seed) {
    return `${settingKey(given)} ${seed}`;
  }

  recall(given, seed) {
    return this.remembered.get(this.key(given, seed)) ?? null;
  }

  // {count, results, t, series, cell} of `count` seeds. Keeps the results that are already known.
  async many(given, seed, count, {interval_s}, ask) {
    const known = this.recall(given, seed);
    if (known && known.count >= count) return known;
    const from = known?.count ?? 0;
    const chunks = [];
    for (let at = from; at < count; at += CHUNK) {
      const seeds = seedsAfter(seed, at, Math.min(CHUNK, count - at));
      chunks.push(ask({ask: 'batch', given, seeds, interval_s}, 2));
    }
    const batches = await Promise.all(chunks);
    const parts = known ? [known, ...batches] : batches;
    const results = parts.flatMap(part => part.results);
    const series = {};
    for (const name of Object.keys(parts[0].series)) series[name] = parts.flatMap(part => part.series[name]);
    const t = parts.reduce((longest, part) => part.t.length > longest.length ? part.t : longest, []);
    const {cell} = await ask({ask: 'summarize', results}, 1);
    const all = {count, results, series, t, cell};
    const key = this.key(given, seed);
    this.remembered.delete(key);
    this.remembered.set(key, all);
    if (this.remembered.size > REMEMBERED) this.remembered.delete(this.remembered.keys().next().value);
    return all;
  }
}
