// The page's state, with an engine that answers when the test tells it to.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {mockTimers} from './support.mjs';

globalThis.Retrystorm = {Run: {of: (start, client) => ({client})}};
globalThis.requestAnimationFrame = () => {};
const {App} = await import('../../explorer/page/app.js');
const {Dropped} = await import('../../explorer/page/pool.js');

// Questions wait until they are answered by hand.
class Pool {
  asked = [];
  ask(question, {group = ''} = {}) {
    return new Promise((resolve, reject) => this.asked.push({question, group, resolve, reject}));
  }
  drop(group) {
    for (const each of this.asked.filter(task => task.group === group)) each.reject(new Dropped());
    this.asked = this.asked.filter(task => task.group !== group);
  }
  // Answers the first open question of this kind, and lets the waiting code continue.
  async answer(wanted, value) {
    const at = this.asked.findIndex(({question}) => question.ask === wanted.ask &&
      (!wanted.given || JSON.stringify(question.given) === JSON.stringify(wanted.given)));
    assert.ok(at >= 0, `${JSON.stringify(wanted)} is not asked: ${JSON.stringify(this.asked.map(each => each.question))}`);
    const [task] = this.asked.splice(at, 1);
    if (value instanceof Error) task.reject(value);
    else task.resolve(value);
    await rest();
    return task.question;
  }
}
const rest = () => new Promise(done => setImmediate(done));
async function waited(milliseconds) {
  timers.pass(milliseconds);
  await rest();
}

const timers = mockTimers();

const DESCRIPTION = {values: {}, defaults: {}, errors: {}, unused: {}};
const run = name => ({client: name, server: [], result: {verdict: 'recovered'}, interval_s: 1});
const state = (given, seed = '1', pinned = null) => ({given, pinned, seed, map: null, challenge: null, story: null, embed: false});

function fresh() {
  const pool = new Pool(), app = new App(pool, {options: [], of_one_service: []});
  return {pool, app};
}

async function computed(pool, given, name = 'run') {
  await pool.answer({ask: 'describe', given}, DESCRIPTION);
  await pool.answer({ask: 'run', given}, run(name));
}

test('of two links the later one holds, in whatever order they are looked at', async () => {
  const {pool, app} = fresh();
  const first = app.restore(state({clients: '1'})), second = app.restore(state({clients: '2'}));
  await pool.answer({ask: 'describe', given: {clients: '2'}}, DESCRIPTION);
  await pool.answer({ask: 'describe', given: {clients: '1'}}, DESCRIPTION);
  assert.equal(await first, null);
  assert.deepEqual(app.state.given, {clients: '2'});
  await computed(pool, {clients: '2'}, 'two');
  assert.deepEqual(await second, []);
  assert.equal(app.ours.run.client, 'two');
});

test('a knob that is turned while a link is looked at holds', async () => {
  const {pool, app} = fresh();
  const link = app.restore(state({clients: '1'}));
  app.change({clients: '2'});
  await pool.answer({ask: 'describe', given: {clients: '1'}}, DESCRIPTION);
  assert.equal(await link, null);
  assert.deepEqual(app.state.given, {clients: '2'});
});

test('the last setting is shown until the run is there, with a notice if that takes long', async () => {
  const {pool, app} = fresh();
  const events = [];
  app.on('computing', () => events.push(app.computing !== null));
  app.change({clients: '1'});
  assert.ok(app.behind);
  await computed(pool, {clients: '1'});
  assert.ok(!app.behind);
  await waited(200);
  assert.deepEqual(events, [], 'it was there at once');

  // A reader who keeps turning knobs has waited since the first change.
  app.change({clients: '2'});
  await waited(100);
  app.change({clients: '3'});
  await waited(100);
  assert.deepEqual(events, [true]);
  await computed(pool, {clients: '3'});
  assert.deepEqual(events, [true, false]);
  assert.ok(!app.behind);
});

test('what is refused or stopped leaves what was before, and says so', async () => {
  const {pool, app} = fresh();
  app.change({clients: '1'});
  await computed(pool, {clients: '1'}, 'one');
  app.change({clients: '2'});
  await pool.answer({ask: 'run', given: {clients: '2'}}, new Error('too many'));
  assert.ok(app.behind);
  assert.equal(app.error, 'too many');
  app.change({clients: '3'});
  await waited(200);
  assert.equal(app.error, null, 'the refusal was of another setting');
  const late = pool.asked.find(({question}) => question.ask === 'run');
  app.stop();
  late.resolve(run('three'));
  await rest();
  assert.equal(app.computing, null);
  assert.match(app.error, /^Stopped/);
  assert.ok(app.behind);
  assert.equal(app.ours.run.client, 'one');
});

test('one may unpin while the statistics of both are computed', async () => {
  const {pool, app} = fresh();
  const computing = app.restore(state({clients: '1'}, '1', {}));
  await pool.answer({ask: 'describe', given: {clients: '1'}}, DESCRIPTION);
  await pool.answer({ask: 'describe', given: {}}, DESCRIPTION);
  await computed(pool, {clients: '1'});
  await pool.answer({ask: 'run', given: {}}, run('pinned'));
  await computing;
  await waited(150);
  app.unpin();
  while (pool.asked.some(({question}) => question.ask === 'batch')) {
    await pool.answer({ask: 'batch'}, {results: [{}, {}], series: {}, t: []});
  }
  while (pool.asked.some(({question}) => question.ask === 'summarize')) await pool.answer({ask: 'summarize'}, {cell: {}});
  assert.equal(app.error, null);
  assert.equal(app.theirs, null);
  assert.equal(app.ours.many.count, 20);
});

test('seeds keep their 64 bits, and wrap around after the last one', async () => {
  const {pool, app} = fresh();
  app.restore(state({}, '18446744073709551614'));
  await pool.answer({ask: 'describe'}, DESCRIPTION);
  await computed(pool, {});
  await waited(150);
  const seeds = pool.asked.filter(({question}) => question.ask === 'batch').flatMap(({question}) => question.seeds);
  assert.deepEqual(seeds.slice(0, 4), ['18446744073709551614', '18446744073709551615', '0', '1']);
  assert.equal(seeds.length, 20);
});
