// What the page knows: the reader's setting, and what has been computed for it so far.
//
// Events, each told to listeners with the app as it then is:
//   look     `look` is that of the setting: values in force, errors, command lines
//   run      `ours.run` is the first run of the setting, `ours.many` is none yet
//   painted  the run can be seen: for all that the reader does not wait for
//   many     `ours.many`: 20 seeds, then 100; `theirs.many` too, if there is a pinned setting
//   pinned   a setting was pinned or unpinned
//   error    `error` is a sentence (or null again): the setting cannot be run
import {settingKey} from './link.js';
import {Dropped} from './pool.js';

const {Run} = Retrystorm;
const FEW = 20, MANY = 100;
const CHUNK = 2; // seeds of one question: so soon a thread is free for the reader's next change
const SETTLED = 120; // milliseconds after the last change before statistics begin
const REMEMBERED = 20; // settings whose results are kept, a megabyte each

export class App {
  constructor(pool, catalogue) {
    this.pool = pool;
    this.catalogue = catalogue;
    this.options = new Map(catalogue.options.map(option => [option.name, option]));
    this.state = {given: {}, pinned: null, seed: 1, map: null, challenge: null};
    this.look = null;
    this.error = null;
    this.ours = {run: null, result: null, interval_s: null, many: null};
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

  // The text of an option that is in force.
  value(name) {
    return this.look?.values[name] ?? this.options.get(name).default;
  }

  // Sets options by name; null is back to what they are by themselves.
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

  // Keeps the setting to compare others with it; `given` is another one than the present.
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

  // Restores a state as a link has it, without the values that the command line would refuse.
  // Resolves to their sentences.
  async restore(state) {
    const refused = new Set();
    for (const given of [state.given, state.pinned]) {
      if (!given) continue;
      const {errors} = await this.pool.ask({ask: 'look', given, seed: state.seed});
      for (const [name, sentence] of Object.entries(errors)) {
        // Where no option alone is to blame, none is left.
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

  // Resolves when the first run is there (or refused).
  async compute() {
    const generation = ++this.generation;
    const current = () => generation === this.generation;
    clearTimeout(this.settled);
    this.pool.drop('setting');
    const {given, seed, pinned} = this.state;
    const ask = (question, order) => this.pool.ask(question, {order, group: 'setting'});
    try {
      const [, run, other] = await Promise.all([
        ask({ask: 'look', given, seed}, 0).then(look => {
          if (current()) {
            this.look = look;
            this.tell('look');
          }
        }),
        this.first(given, seed, ask),
        pinned && this.first(pinned, seed, ask),
      ]);
      if (!current()) return;
      this.ours = {...run, many: this.recall(given, seed)};
      this.theirs = other && {...other, many: this.recall(pinned, seed)};
      this.difference = null;
      this.fail(null);
      this.tell('run');
      requestAnimationFrame(() => setTimeout(() => {
        if (current()) this.tell('painted');
      }));
    } catch (error) {
      if (error instanceof Dropped || !current()) return;
      this.fail(error.message);
      return;
    }
    this.settled = setTimeout(() => this.statistics(current, ask), SETTLED);
  }

  fail(sentence) {
    if (this.error === sentence) return;
    this.error = sentence;
    this.tell('error');
  }

  async first(given, seed, ask) {
    const {client, server, result, interval_s} = await ask({ask: 'run', given, seed}, 0);
    return {run: Run.of({seed}, client, server), result, interval_s};
  }

  async statistics(current, ask) {
    const {given, seed, pinned} = this.state;
    try {
      for (const count of [FEW, MANY]) {
        const [ours, theirs] = await Promise.all([
          this.many(given, seed, count, this.ours, ask), pinned && this.many(pinned, seed, count, this.theirs, ask)]);
        if (!current()) return;
        this.ours.many = ours;
        if (theirs) {
          this.theirs.many = theirs;
          // Of one setting more seeds may be known than of the other.
          const pairs = Math.min(ours.count, theirs.count);
          const [results, against] = [ours, theirs].map(each => each.results.slice(0, pairs));
          this.difference = (await ask({ask: 'summarize', results, against}, 1)).difference;
          if (!current()) return;
        }
        this.tell('many');
      }
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

  // {count, results, t, series, cell} of so many seeds, of which those that are known are kept.
  async many(given, seed, count, {interval_s}, ask) {
    const known = this.recall(given, seed);
    if (known && known.count >= count) return known;
    const from = known?.count ?? 0;
    const chunks = [];
    for (let at = from; at < count; at += CHUNK) {
      const seeds = Array.from({length: Math.min(CHUNK, count - at)}, (_, i) => seed + at + i);
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
