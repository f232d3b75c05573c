// The page's state as a link's fragment.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fromFragment, toFragment} from '../../explorer/page/link.js';

const names = new Set(['strategy', 'clients', 'at', 'capacity', 'retry-on', 'jitter', 'outage-for']);
const known = name => names.has(name);
const usual = {given: {}, pinned: null, seed: 1, map: null, challenge: null};
const back = state => fromFragment(`#${toFragment(state)}`, known);

test('a state comes back as it was', () => {
  for (const state of [
    usual,
    {...usual, given: {strategy: 'exponential', clients: '2000'}, seed: 42},
    {...usual, pinned: {}},
    {...usual, given: {clients: '5'}, pinned: {strategy: 'polly', at: '60s set shed-above=200; 70s load 0.5'}},
    {...usual, map: {x: 'clients', y: 'outage-for'}, challenge: 'a-blip'},
    {...usual, given: {'retry-on': '408+429+5xx-501', capacity: "50s 0.3; 60s..90s 1", jitter: '1%', at: 'ä&=#+ \'"<b>'}},
    {...usual, given: {clients: ''}, seed: 999999999999999},
  ]) {
    assert.deepEqual(back(structuredClone(state)), {state, problem: null, ofRun: false});
  }
});

test('an old link goes on working: version 1', () => {
  const {state, problem} = fromFragment(
    '#v=1&strategy=exponential&at=60s+restart&seed=7&b=1&b.clients=500&map=clients,outage-for&challenge=x', known);
  assert.equal(problem, null);
  assert.deepEqual(state, {given: {strategy: 'exponential', at: '60s restart'}, pinned: {clients: '500'},
    seed: 7, map: {x: 'clients', y: 'outage-for'}, challenge: 'x'});
});

test('no fragment is the defaults, and no complaint', () => {
  for (const text of ['', '#']) assert.deepEqual(fromFragment(text, known), {state: usual, problem: null, ofRun: false});
});

test('a mangled link opens the defaults and says why', () => {
  for (const [text, why] of [
    ['#v=1&clients=%zz', /it is mangled/],
    ['#v=1&clients=%e4', /it is mangled/],
    ['#clients=5', /does not say its version/],
    ['#garbage', /does not say its version/],
    ['#v=2&clients=5', /is of version 2, made by a newer explorer/],
    ['#v=1&cleints=5', /there is no option 'cleints'/],
    ['#v=1&b.cleints=5', /there is no option 'b.cleints'/],
    ['#v=1&seed=none', /its seed 'none' is no number/],
    ['#v=1&seed=-1', /its seed '-1' is no number/],
    ['#v=1&seed=9999999999999999', /is no number/],
    ['#v=1&clients=5&map=clients', /its map is of unknown options/],
    ['#v=1&map=clients,what', /its map is of unknown options/],
    ['#v=1&__proto__=5', /there is no option/],
  ]) {
    const {state, problem} = fromFragment(text, known);
    assert.match(problem, why, text);
    assert.match(problem, /these are the defaults\.$/, text);
    assert.deepEqual(state, usual, text);
  }
});

test('a link of a run passes over what the simulation does not have', () => {
  const {state, problem} = fromFragment('#v=1&run=1&url=http://x&clients=5&server-pid=3', known);
  assert.equal(problem, null);
  assert.deepEqual(state, {...usual, given: {clients: '5'}});
});
