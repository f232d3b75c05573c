// The page's state as a link's fragment.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fromFragment, toFragment} from '../../explorer/page/link.js';

import {optionsOf} from '../../explorer/page/options.js';
const names = ['strategy', 'clients', 'at', 'capacity', 'retry-on', 'jitter', 'outage-for', 'timeout', 'workers'];
const known = optionsOf({
  options: names.map(name => ({name, help: name})), of_one_service: [{name: 'calls', help: 'whom it calls'}, {name: 'workers', help: 'its workers'}],
  node: ['workers', 'calls'], edge: ['timeout', 'strategy'], kind: ['clients'],
});
const defaults = {given: {}, pinned: null, seed: '1', map: null, challenge: null, story: null, embed: false};
const back = state => fromFragment(`#${toFragment(state)}`, known);

test('a state comes back as it was', () => {
  for (const state of [
    defaults,
    {...defaults, given: {strategy: 'exponential', clients: '2000'}, seed: '42'},
    {...defaults, pinned: {}},
    {...defaults, given: {clients: '5'}, pinned: {strategy: 'polly', at: '60s set shed-above=200; 70s load 0.5'}},
    {...defaults, map: {x: 'clients', y: 'outage-for'}, challenge: 'a-blip', story: 3, embed: true},
    {...defaults, given: {'retry-on': '408+429+5xx-501', capacity: "50s 0.3; 60s..90s 1", jitter: '1%', at: 'ä&=#+ \'"<b>'}},
    {...defaults, given: {'api.workers': '3', 'api.calls': 'b & c?, db*2', 'api.b.timeout': '1s'}, pinned: {'b.workers': '4', 'b.b.timeout': '2s', clients: '9'}},
    {...defaults, given: {clients: ''}, seed: '18446744073709551615'},
  ]) {
    assert.deepEqual(back(structuredClone(state)), {state, problem: null, ofRun: false});
  }
});

test('an old link goes on working: version 1', () => {
  const {state, problem} = fromFragment(
    '#v=1&strategy=exponential&at=60s+restart&seed=7&b=1&b.clients=500&map=clients,outage-for&challenge=x', known);
  assert.equal(problem, null);
  assert.deepEqual(state, {given: {strategy: 'exponential', at: '60s restart'}, pinned: {clients: '500'},
    seed: '7', map: {x: 'clients', y: 'outage-for'}, challenge: 'x', story: null, embed: false});
});

test('no fragment is the defaults, and no complaint', () => {
  for (const text of ['', '#']) assert.deepEqual(fromFragment(text, known), {state: defaults, problem: null, ofRun: false});
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
    ['#v=1&seed=none', /its seed 'none' is not a whole number of 64 bits/],
    ['#v=1&seed=-1', /its seed '-1' is not a whole number/],
    ['#v=1&seed=18446744073709551616', /is not a whole number of 64 bits/],
    ['#v=1&clients=5&map=clients', /its map is of unknown options/],
    ['#v=1&map=clients,what', /its map is of unknown options/],
    ['#v=1&__proto__=5', /there is no option/],
    ['#v=1&s.__proto__.workers=5', /there is no option/],
    ['#v=1&s.api.clients=5', /there is no option 's.api.clients'/],
    ['#v=1&s.api.db.workers=5', /there is no option/],
    ['#v=1&s.a.b.c.timeout=5', /there is no option/],
    ['#v=1&s.clients=5', /there is no option 's.clients'/],
    ['#v=1&api.workers=5', /there is no option 'api.workers'/],
    [`#v=1&s.${'a'.repeat(33)}.workers=5`, /there is no option/],
    ['#v=1&map=api.workers,clients', /its map is of unknown options/],
    [`#v=1&clients=${'9'.repeat(30000)}`, /it is longer than 30000 characters/],
  ]) {
    const {state, problem} = fromFragment(text, known);
    assert.match(problem, why, text);
    assert.match(problem, /these are the defaults\.$/, text);
    assert.deepEqual(state, defaults, text);
  }
});

test('a link of a run passes over what the simulation does not have', () => {
  const {state, problem} = fromFragment('#v=1&run=1&url=http://x&clients=5&server-pid=3', known);
  assert.equal(problem, null);
  assert.deepEqual(state, {...defaults, given: {clients: '5'}});
});

test('an option of a service is as that of all, with its own name', () => {
  assert.equal(known('api.workers').help, 'its workers');
  assert.equal(known('api.db.timeout').help, 'timeout');
  const {name, base, section, part} = known('api.db.timeout');
  assert.deepEqual([name, base, section, part], ['api.db.timeout', 'timeout', 'api.db', 'services']);
  assert.equal(known('clients.app.clients').section, 'clients.app');
  assert.equal(known('clients.app.workers'), undefined);
  assert.equal(known('workers').name, 'workers');
});
