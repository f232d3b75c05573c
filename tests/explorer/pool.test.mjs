// The pool of the page's threads, with threads that answer when the test tells them to.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Dropped, Pool} from '../../explorer/page/pool.js';
import {mockTimers} from './support.mjs';

class Thread {
  constructor() {
    this.asked = [];
    this.ended = false;
  }
  postMessage(message) {
    assert.ok(!this.ended);
    this.asked.push(message);
  }
  terminate() {
    this.ended = true;
  }
  // Answers the last question.
  answer(value) {
    this.onmessage({data: {id: this.asked.at(-1).id, text: JSON.stringify(value)}});
  }
  breaks(sentence) {
    this.onmessage({data: {id: this.asked.at(-1).id, broken: sentence}});
  }
  get question() {
    return this.asked.at(-1)?.question;
  }
}

function pool(size) {
  const threads = [];
  const made = new Pool(() => {
    threads.push(new Thread());
    return threads.at(-1);
  }, size);
  return {pool: made, threads, questions: () => threads.filter(each => !each.ended).map(each => each.question)};
}

test('answers are those of their questions', async () => {
  const {pool: one, threads} = pool(2);
  const answers = [one.ask('a'), one.ask('b')];
  threads[1].answer({b: 1});
  threads[0].answer({a: 1});
  assert.deepEqual(await Promise.all(answers), [{a: 1}, {b: 1}]);
});

test('what is refused rejects with the sentence, and the thread goes on', async () => {
  const {pool: one, threads} = pool(1);
  const refused = one.ask('a'), next = one.ask('b');
  threads[0].answer({error: 'clients: no'});
  await assert.rejects(refused, {message: 'clients: no'});
  threads[0].answer({});
  assert.deepEqual(await next, {});
  assert.equal(threads.length, 1);
});

test('the lower the order, the earlier; of the same, the first asked', () => {
  const {pool: one, threads} = pool(2);
  one.ask('busy 1');
  one.ask('busy 2');
  for (const [name, order] of [['late', 1], ['strip', 3], ['first', 0], ['second', 0], ['later', 1]]) {
    one.ask(name, {order});
  }
  const taken = [];
  for (let i = 0; i < 4; ++i) {
    threads[0].answer({});
    taken.push(threads[0].question);
  }
  assert.deepEqual(taken, ['first', 'second', 'late', 'later']);
});

test('one thread is left free for what the reader does', () => {
  const {pool: one, threads, questions} = pool(3);
  for (const each of ['s1', 's2', 's3', 's4']) one.ask(each, {order: 2});
  assert.deepEqual(questions(), ['s1', 's2', undefined]);
  one.ask('knob', {order: 0});
  assert.deepEqual(questions(), ['s1', 's2', 'knob']);
  threads[0].answer({});
  assert.deepEqual(questions(), ['s1', 's2', 'knob'], 'it waits until two are free');
  threads[2].answer({});
  assert.equal(questions().filter(each => each === 's3').length, 1);
});

test('at least two threads, also by default', () => {
  for (const [cores, size] of [[1, 2], [2, 2], [6, 6], [64, 8], [undefined, 2]]) {
    Object.defineProperty(globalThis, 'navigator', {value: {hardwareConcurrency: cores}, configurable: true});
    assert.equal(new Pool(() => new Thread()).size, size);
  }
});

test('a group is dropped as a whole: what waits at once, what runs is ended after a while', async () => {
  const timers = mockTimers();
  try {
    const {pool: one, threads} = pool(2);
    const running = one.ask('runs', {group: 'setting'});
    const other = one.ask('other', {group: 'map'});
    const waiting = one.ask('waits', {group: 'setting'});
    one.drop('setting');
    await assert.rejects(running, Dropped);
    await assert.rejects(waiting, Dropped);
    assert.equal(threads[0].ended, false, 'it may be done in a moment');
    const next = one.ask('next');
    timers.pass(149);
    assert.equal(threads[0].ended, false);
    timers.pass(1);
    assert.equal(threads[0].ended, true);
    assert.equal(threads.length, 3);
    threads[2].answer({});
    assert.deepEqual(await next, {});
    threads[1].answer({});
    assert.deepEqual(await other, {});
  } finally {
    timers.restore();
  }
});

test('a dropped question that ends in time keeps its thread', async () => {
  const timers = mockTimers();
  try {
    const {pool: one, threads} = pool(1);
    const dropped = one.ask('runs', {group: 'setting'});
    one.drop('setting');
    one.drop('setting');
    await assert.rejects(dropped, Dropped);
    const next = one.ask('next', {group: 'setting'});
    threads[0].answer({});
    assert.equal(threads[0].question, 'next');
    timers.pass(1000);
    assert.equal(threads[0].ended, false, 'the next question is not the dropped one');
    threads[0].answer({ok: 1});
    assert.deepEqual(await next, {ok: 1});
  } finally {
    timers.restore();
  }
});

test('a broken thread is replaced', async () => {
  const {pool: one, threads} = pool(1);
  const broken = one.ask('a'), next = one.ask('b');
  threads[0].breaks('unreachable');
  await assert.rejects(broken, {message: 'unreachable'});
  assert.equal(threads[0].ended, true);
  assert.equal(threads[1].question, 'b');
  threads[1].answer({});
  await next;
});

test('a thread that ends unexpectedly is replaced too', async () => {
  const {pool: one, threads} = pool(1);
  const ended = one.ask('a'), next = one.ask('b');
  let prevented = false;
  threads[0].onerror({message: 'out of memory', preventDefault: () => prevented = true});
  assert.ok(prevented);
  await assert.rejects(ended, {message: 'out of memory'});
  assert.equal(threads.at(-1).question, 'b');
  assert.equal(threads.length, 2);
  threads[1].answer({});
  await next;
});
