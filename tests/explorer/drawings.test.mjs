// The data of the strips, the waits and the service, without the drawing.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {bandsOf} from '../../explorer/page/bands.js';
import {add, cellInWords, interval, newCell, newCells, nextInLine, share, whereInWords} from '../../explorer/page/down.js';
import {measure, place} from '../../explorer/page/durations.js';
import {heatColour, heatText, luminance} from '../../explorer/page/heat.js';
import {engine} from './support.mjs';

// The charts' number functions, which the page loads before its modules.
const charts = readFileSync(new URL('../../client/dashboard/page/charts.js', import.meta.url), 'utf8');
globalThis.Retrystorm = new Function(`${charts}; return Retrystorm;`)();
const {concurrencyAt, curveDelay, dropInWords, meanServiceTime, offeredLoad, orderInWords} =
  await import('../../explorer/page/service.js');
const {inWords, stateOf, useOf: useOfHost} = await import('../../explorer/page/hosts.js');
const {layersOf, placesOf, useOf, widthOf} = await import('../../explorer/page/graph.js');
const {marks, waitsInWords} = await import('../../explorer/page/waits.js');

const ask = await engine();
const {options} = ask({ask: 'catalogue'});
const option = name => options.find(each => each.name === name);

test('every stop of every option is a number, and they ascend', () => {
  for (const each of options.filter(({stops}) => stops)) {
    const values = each.stops.map(stop => measure(each, stop));
    for (let i = 1; i < values.length; ++i) assert.ok(values[i] > values[i - 1], `${each.name} ${each.stops[i]}`);
    each.stops.forEach((stop, i) => assert.equal(place(each, stop), i));
  }
});

test('the colours get lighter or darker all the way, and can be written upon', () => {
  for (const dark of [false, true]) {
    const shares = Array.from({length: 41}, (_, i) => i / 40);
    const lightness = shares.map(each => luminance(heatColour(each, dark)));
    for (let i = 1; i < lightness.length; ++i) assert.ok(dark ? lightness[i] > lightness[i - 1] : lightness[i] < lightness[i - 1]);
    for (const [i, each] of lightness.entries()) {
      const contrast = heatText(shares[i], dark) === '#000' ? (each + 0.05) / 0.05 : 1.05 / (each + 0.05);
      assert.ok(contrast >= 4.5, `${shares[i]}: ${contrast}`);
    }
  }
});

test('a run with kept connections says which are in use and how many are opened a second', () => {
  const interval = (t, connections) => ({type: 'interval', t, ok: 1, errors: 0, timed_out: 0, attempts: 1, retries: 0, connections});
  const values = (run, name) => run.series[name].map(({value}) => value);
  const kept = Retrystorm.Run.of({}, [interval(5, {open: 10, idle: 4, in_line: 0, opened: 10}), interval(10, {open: 10, idle: 0, in_line: 7, opened: 30})]);
  assert.deepEqual(values(kept, 'used'), [6, 10]);
  assert.deepEqual(values(kept, 'in_line'), [0, 7]);
  assert.deepEqual(values(kept, 'opened'), [2, 4]);
  assert.match(Retrystorm.describe('connections', kept), /in use 10, idle 0, attempts in line for one 7, opened a second 4/);
  // Only the simulator sees what lies before the service.
  const seen = Retrystorm.Run.of({}, [interval(5, {open: 10, idle: 4, in_line: 0, opened: 10, unread: 6, accept_queue: 2})]);
  assert.match(Retrystorm.describe('connections', seen), /attempts unread on them 6, in the accept queue 2/);
  // The live page may begin in the middle of a run: what was opened before is not of its first interval.
  const late = new Retrystorm.Run({});
  late.take(interval(100, {open: 5, idle: 5, in_line: 0, opened: 500}));
  late.take(interval(101, {open: 5, idle: 5, in_line: 0, opened: 503}));
  assert.deepEqual(values(late, 'opened'), [3]);
  const none = Retrystorm.Run.of({}, [interval(5, undefined)]);
  assert.deepEqual(values(none, 'used'), []);
});

test('a run says where its requests lie, also while the service is frozen, and whom nobody waits for', () => {
  const columns = (at_caller, accept_queue, accept_queue_stale, buffers, buffers_stale, service, service_stale) =>
    ({at_caller, accept_queue, accept_queue_stale, buffers, buffers_stale, service, service_stale});
  const places = {t: [1, 2, 3], services: [
    columns([0, 70, 0], [0, 33, 0], [0, 30, 0], [0, 0, 0], [0, 0, 0], [5, 5, 90], [0, 5, 60]), columns([0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 7, 0], [0, 6, 0], [1, 1, 1], [0, 0, 0])]};
  const server = [1, 3].map(t => ({t, concurrency: 9, waited_for: 1, last_delay_s: 0.5})); // it reports nothing at 2
  const run = Retrystorm.Run.of({}, [], server, places);
  const values = name => run.series[name].map(({value}) => value);
  assert.deepEqual(values('waited_for'), [5, 0, 30]);
  assert.deepEqual(values('abandoned'), [0, 5, 60]);
  assert.deepEqual(values('accept_queue'), [0, 33, 0]);
  assert.deepEqual(values('at_caller'), [0, 70, 0]);
  assert.equal(run.greatestStack(...Retrystorm.STACK), 90);
  const labels = () => Retrystorm.curvesOf('service', run).map(({label}) => label);
  assert.deepEqual(labels(), ['in the service', 'for nobody any more', 'accept queue', 'at the client']);
  assert.match(Retrystorm.describe('service', run), /^Where requests lie: in the service 30 \(at most 30\), .* accept queue 0 \(at most 33\), at the client 0 \(at most 70\) at/);
  run.takePlaces(places, 1, 'db');
  assert.deepEqual(values('buffers'), [0, 7, 0]);
  assert.deepEqual(labels(), ['in the service', 'for nobody any more', 'sockets\u2019 buffers']);
  assert.match(Retrystorm.describe('service', run), /^Where requests lie: db: /);
});

const nodesOf = names => names.split(' ').map(name => ({name}));
const edgesOf = text => text.split(' ').map(each => Object.fromEntries(each.split('>').map((name, i) => [i === 0 ? 'from' : 'to', name])));

test('services are in the layer after all that call them, and calls over several layers pass beside them', () => {
  const edges = edgesOf('clients>api api>cart api>price api>db cart>db price>db');
  const layers = layersOf(nodesOf('api cart price db'), edges);
  assert.deepEqual(layers.map(layer => layer.map(({name, edge}) => name ?? `${edge.from}>${edge.to}`)),
    [['clients'], ['api'], ['cart', 'price', 'api>db'], ['db']]);
  for (const [width, down] of [[760, false], [340, true]]) {
    const {boxes, lines, ...whole} = placesOf(layers, edges, width);
    assert.equal(whole.down, down);
    assert.ok(whole.width <= width + 0.01, `${whole.width} of ${width}`);
    const all = [...boxes.values()];
    all.forEach((a, i) => {
      assert.ok(a.x >= -0.01 && a.y >= -0.01 && a.x + a.width <= whole.width + 0.01 && a.y + a.height <= whole.height + 0.01);
      for (const b of all.slice(i + 1)) assert.ok(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y, 'they are apart');
    });
    // The line past the middle layer crosses no box there.
    const points = lines.get(edges[3]);
    assert.equal(points.length, 4);
    for (const name of ['cart', 'price']) {
      const {x, y, width: w, height: h} = boxes.get(name);
      for (const [a, b] of points) assert.ok(a < x || a > x + w || b < y || b > y + h, `${name} is not crossed`);
    }
  }
});

test('clients of several kinds are boxes beside each other', () => {
  const layers = layersOf(nodesOf('api db'), edgesOf('clients.app>api clients.job>api api>db'));
  assert.deepEqual(layers, [[{name: 'clients.app'}, {name: 'clients.job'}], [{name: 'api'}], [{name: 'db'}]]);
});

test('a box is filled by what its workers do, and a line is as wide as its calls', () => {
  // 10 workers, 4 at work, a quarter of it for nobody, and 5 held.
  const now = {busy: 4, calling: 5, workers: 10, for_nobody_share: 0.25};
  assert.deepEqual(useOf(now, true), [['wanted', 0.3], ['nobody', 0.1], ['held', 0.5]]);
  // Those of an event loop are not held; and never more than there are.
  assert.deepEqual(useOf(now, false)[2], ['held', 0]);
  assert.deepEqual(useOf({...now, busy: 8, calling: 90}, true).map(([, part]) => +part.toFixed(3)), [0.6, 0.2, 0.2]);
  assert.ok(widthOf(0) >= 1 && widthOf(9) - widthOf(3) === 2 * (widthOf(3) - widthOf(0)) && widthOf(1e6) < 30);
});

test('a host is coloured by what is wrong with it, filled by its use, and said in words', () => {
  const box = (state, out = 0, attempts = 10, failed = 0) => [state, out, 3, 20, 5, attempts, failed];
  const state = (now, ...before) => stateOf(now, () => before);
  assert.equal(state(box('up')), 'up');
  assert.equal(state(box('up', 0, 10, 5)), 'up');
  assert.equal(state(box('up', 0, 10, 6)), 'failing');
  assert.equal(state(box('up', 1, 10, 6)), 'ejected');
  assert.equal(state(box('up', 0.4)), 'up', 'few of the processes have ejected it');
  assert.equal(state(box('unwell', 1)), 'unwell');
  // One that an autoscaler adds is new.
  assert.equal(state(box('starting'), box('off'), box('starting')), 'starting');
  assert.equal(state(box('starting'), box('up'), box('starting')), 'restarting');
  assert.equal(useOfHost(box('up'), 30), 0.15);
  assert.equal(useOfHost(['up', 0, 0, 0, 45, 1, 0], 30), 1, 'without workers, above its limit');
  assert.equal(inWords(box('up', 1), 'host 1', 'ejected'), 'host 1: ejected, 3 of 20 workers busy, 2 wait');
  assert.equal(inWords(['unwell', 0.04, 0, 0, 45, 9, 2], 'hosts 4 to 6', 'unwell'),
    'hosts 4 to 6: failing its probe, 45 requests in it, ejected by 4 % of the processes, 9 attempts sent, 2 failed');
});

const counted = (count, down) => ({...newCell(), count, down});

test('runs are counted by their verdicts', () => {
  const cell = newCell();
  assert.equal(share(cell), null);
  add(cell, ['collapsed', 'relapsed', 'recovered', 'collapsed'].map(verdict => ({verdict})));
  assert.equal(share(cell), 0.75, 'what came back and died again is down too');
  assert.equal(cellInWords(cell, {low: 0.3, high: 0.95}), 'stays down in 3 of 4 (30–95 %)');
  add(cell, ['undecided', 'undecided', 'undecided', 'undecided'].map(verdict => ({verdict})));
  assert.equal(share(cell), 0.75, 'undecided runs do not count');
  assert.equal(cellInWords(cell), 'stays down in 3 of 4');
  const none = newCell();
  add(none, [{verdict: 'no outage'}]);
  assert.equal(share(none), 0, 'without an outage it is not down either');
  assert.equal(cellInWords(none), 'stays down in 0 of 1');
  add(none, [{verdict: 'collapsed'}]);
  assert.equal(share(none), 0.5, 'what collapsed by itself is down, the other is not');
  const mute = newCell();
  add(mute, [{verdict: 'undecided'}, {verdict: 'undecided'}]);
  assert.equal(share(mute), null);
  assert.match(cellInWords(mute), /^undecided/);
  assert.equal(cellInWords({...newCell(), refused: 'no such value'}), 'no such value');
});

// They may come back or not: the interval reaches to where all of them are down.
test('runs that are still recovering count as not down yet', async () => {
  const of = (...verdicts) => {
    const cell = newCell();
    add(cell, verdicts.map(verdict => ({verdict})));
    return cell;
  };
  const all = of('recovering', 'recovering');
  assert.equal(share(all), null);
  assert.equal(cellInWords(all), 'still recovering at the end of 2 of 2: a longer observe decides');
  const some = of('recovered', 'collapsed', 'recovering', 'recovering');
  assert.equal(share(some), 0.25, 'as in the tables');
  const app = {pool: {ask: async ({hits, runs}) => ({low: hits / runs - 0.2, high: hits / runs + 0.2})}};
  const between = await interval(app, some);
  assert.ok(Math.abs(between.low - 0.05) < 1e-9 && Math.abs(between.high - 0.95) < 1e-9, '1 of 4 and 3 of 4');
  assert.equal(cellInWords(some, between), 'stays down in 1 of 4 (5–95 %), 2 are still recovering');
});

test('where it stays down, in words', () => {
  const stops = ['0', '10', '20', '30', '40'];
  const words = shares => whereInWords(stops, shares.map(each => each === null ? newCell() : counted(10, each * 10)));
  assert.equal(words([0, 0, 0, 0, 0]), 'never stays down');
  assert.equal(words([1, 1, 1, 1, 1]), 'stays down everywhere');
  assert.equal(words([0, 0, 0.6, 1, 1]), 'stays down from 20 up');
  assert.equal(words([1, 0.5, 0.4, 0, 0]), 'stays down up to 10');
  assert.equal(words([1, 0, 0, 1, 1]), 'stays down at 0 and from 30 up');
  assert.equal(words([0, 1, 1, 0, 0]), 'stays down from 10 to 20');
  assert.equal(words([0, 0.3, 0, 0, 0]), 'stays down now and then, at 10');
  assert.equal(words([0, null, null, null, 1]), 'stays down at 40');
  assert.equal(words([null, null, null, null, null]), '');
});

// All steps for a line whose cells stay down with these shares, in their order.
function work(shares) {
  const cells = newCells(shares.length), steps = [];
  for (let step; (step = nextInLine(cells)); steps.push(step)) {
    assert.ok(steps.length < 1000, 'it comes to an end');
    const cell = cells[step.index];
    const results = Array.from({length: step.count}, (_, i) => ({verdict: (cell.count + i) % 10 < shares[step.index] * 10 ? 'collapsed' : 'recovered'}));
    add(cell, results);
  }
  return {cells, steps};
}

test('a strip is computed coarse first, then most where it turns', () => {
  const {cells, steps} = work([0, 0, 0, 0, 0, 0, 0.5, 1, 1, 1]);
  assert.deepEqual(steps.slice(0, 4).map(({index, count}) => [index, count]), [[0, 2], [4, 2], [8, 2], [9, 2]]);
  assert.deepEqual(steps.slice(4, 10).map(({index}) => index), [1, 2, 3, 5, 6, 7]);
  const phases = steps.map(({phase}) => phase);
  assert.ok(phases.slice(10).every(phase => phase >= 2));
  assert.ok(phases.slice(phases.indexOf(4)).every(phase => phase === 4), 'the rest comes last');
  assert.deepEqual(cells.map(({count}) => count), [5, 5, 5, 5, 5, 10, 10, 10, 5, 5]);
});

test('a strip that does not turn has few runs, and what is refused or asked for is not asked again', () => {
  const {cells} = work([1, 1, 1, 1, 1]);
  assert.ok(cells.every(({count}) => count === 5));
  const some = newCells(3);
  some[0].refused = 'no';
  some[1].asked = true;
  assert.equal(nextInLine(some).index, 2);
  some[2].asked = true;
  assert.equal(nextInLine(some), null);
});

test('the interval of a share is the engine\'s', async () => {
  const sent = [];
  const app = {pool: {ask: async question => {
    sent.push(question);
    return ask(question);
  }}};
  const between = await interval(app, counted(10, 3));
  // Wilson's, for 3 of 10.
  assert.ok(Math.abs(between.low - 0.1078) < 1e-4 && Math.abs(between.high - 0.6032) < 1e-4, JSON.stringify(between));
  await interval(app, counted(10, 3));
  assert.equal(sent.length, 1, 'it is remembered');
});

test('a band holds the middle four fifths of the runs, moment by moment', () => {
  const runs = Array.from({length: 10}, (_, i) => i + 1);
  const of = value => runs.map(run => [value(run), value(run) + 100]);
  const series = {
    ok: of(run => run), errors: of(() => 0), timed_out: of(() => 0), not_sent: of(() => 0),
    in_flight: of(run => run), waiting_to_retry: of(run => 2 * run),
    concurrency: runs.map(run => [run, null]),
  };
  const bands = bandsOf({t: [1, 2], series, results: runs.map(() => ({verdict: 'recovered'}))});
  assert.deepEqual(bands.ok, [{points: [{x: 0.5, low: 1, high: 9}, {x: 1.5, low: 101, high: 109}]}]);
  const [{points}] = bands.waiting_to_retry;
  assert.deepEqual(points[0], {x: 0.5, low: 3, high: 27}, 'the edge of a stack is that of the sum');
  assert.deepEqual(points[1], {x: 1.5, low: 203, high: 227});
  const [first, second] = bands.abandoned[0].points;
  assert.deepEqual(first, {x: 1, low: 1, high: 9});
  assert.ok(Number.isNaN(second.low), 'of nothing there is none');
  assert.deepEqual(bandsOf(null), {});

  // Runs that end differently are not mixed: four stay down.
  const mixed = bandsOf({t: [1, 2], series, results: runs.map(run => ({verdict: run <= 3 ? 'collapsed' : run === 4 ? 'relapsed' : 'recovered'}))});
  assert.deepEqual(mixed.ok.map(({points: [{low, high}]}) => [low, high]), [[5, 10], [1, 4]], 'the more frequent ending first');
  assert.notEqual(mixed.ok[0].color, mixed.ok[1].color);
  assert.equal(mixed.errors, undefined);
});

test('the curve is the service\'s', () => {
  const curve = {base: 0.1, limit: 30, factor: 1.05, k: 15};
  assert.equal(curveDelay(curve, 0), 0.1);
  assert.equal(curveDelay(curve, 30), 0.1);
  assert.ok(Math.abs(curveDelay(curve, 45) - 0.105) < 1e-12);
  assert.ok(Math.abs(curveDelay(curve, concurrencyAt(curve, 2)) - 2) < 1e-9);
  assert.equal(concurrencyAt({...curve, factor: 1}, 2), Infinity);
  assert.equal(concurrencyAt({...curve, base: 3}, 2), 0);
});

test('the load is that of the clients', () => {
  const {values} = ask({ask: 'describe', given: {}, seed: 1});
  assert.ok(Math.abs(offeredLoad(values, 0.1).rate - 1000 / 10.1) < 1e-9);
  assert.equal(offeredLoad({...values, scale: '0.1'}, 0).rate, 10);
  assert.equal(offeredLoad({...values, arrivals: 'open', rate: '50'}, 0.1).rate, 50);
  assert.equal(offeredLoad({...values, arrivals: 'job'}, 0.1).rate, null);
});

test('the means of service times', () => {
  const {examples} = option('service-time');
  for (const text of examples) assert.ok(meanServiceTime(text) > 0, text);
  assert.equal(meanServiceTime('100ms'), 0.1);
  assert.equal(meanServiceTime('lognormal:100ms:1.5'), 0.1);
  assert.ok(Math.abs(meanServiceTime('bimodal:50ms:0.05:1s') - 0.0975) < 1e-12);
});

test('the queue\'s rules in words', () => {
  assert.equal(orderInWords('unfair:0.1'), 'oldest first, but one that has just come in 10 % of the cases');
  assert.equal(orderInWords('adaptive-lifo:100'), 'oldest first, but newest first while 100 others wait');
  assert.match(dropInWords('codel'), /5 ms for 100 ms/);
  assert.equal(dropInWords('codel'), dropInWords('codel:5ms:100ms'));
  assert.match(dropInWords('age:1s'), /over 1\.0 s get 503/);
});

test('the marks below the waits are round', () => {
  assert.deepEqual(marks({isLog: true, first: 0.1, longest: 4000}), [0.1, 1, 10, 60, 600, 3600]);
  assert.deepEqual(marks({isLog: false, first: 0.1, longest: 3}), [1, 2, 3]);
});

test('the waits in words', () => {
  const of = given => ask({ask: 'waits', given, seed: 1, clients: 1, attempts: 30}).clients[0];
  assert.equal(waitsInWords(of({})), 'Always waits 100 ms; still tries after 31 attempts.');
  assert.equal(waitsInWords(of({growth: 'exponential', 'max-attempts': '5'})),
    'First wait 100 ms, then 200 ms, 400 ms, 800 ms; gives up after 5 attempts, 1.5 s after the first.');
  assert.equal(waitsInWords(of({'max-attempts': '1'})), 'Gives up after the first attempt.');
});
