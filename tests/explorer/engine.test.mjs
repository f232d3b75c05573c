// The engine as compiled for the page, compared with the native simulator.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {engine, settings, simulated} from './support.mjs';

const ask = await engine();

for (const [name, given] of Object.entries(settings)) {
  test(`writes the same bytes as simulate: ${name}`, () => {
    for (const seed of [1, 20261122]) {
      const {client, server} = ask({ask: 'lines', given, seed});
      const native = simulated(given, seed);
      assert.ok(client.length > 1000 && server.length > 1000, 'there is something to compare');
      assert.ok(client === native.client, 'the clients\' lines are the same');
      assert.ok(server === native.server, 'the server\'s lines are the same');
    }
  });
}

test('has a command that writes the same bytes', () => {
  for (const given of Object.values(settings)) {
    const {command, errors} = ask({ask: 'describe', given, seed: 1});
    assert.deepEqual(errors, {});
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
    assert.equal(words.shift(), 'build/bin/simulate');
    const meant = Object.fromEntries(words.map(word => word.slice(2).split(/=(.*)/s)));
    assert.equal(meant.seed, '1');
    delete meant.seed;
    const ours = ask({ask: 'lines', given, seed: 1});
    assert.ok(ours.client === simulated(meant, 1).client, command);
  }
});

test('gives the same run whatever it was asked before', async () => {
  const given = settings['breaker and more load'];
  const fresh = await engine();
  assert.deepEqual(fresh({ask: 'run', given, seed: 5}), ask({ask: 'run', given, seed: 5}));
});

test('refuses with a sentence and goes on', () => {
  assert.throws(() => ask({ask: 'run', given: {clients: '0'}}),
    {message: "clients: '0' is not a whole number from 1 to 1000000000"});
  assert.throws(() => ask({ask: 'run', given: {'error-share': '0,5'}}), /'0,5' is not a number from 0 to 1/);
  assert.throws(() => ask({ask: 'run', given: {clients: '1000000000'}}), /GB of memory/);
  assert.throws(() => ask({ask: 'nothing'}), {message: "'nothing' is no question"});
  assert.equal(ask({ask: 'batch', given: {}, seeds: [1]}).results[0].verdict, 'collapsed');
});

test('gives up what takes too long by the clock of the page', () => {
  assert.throws(() => ask({ask: 'run', given: {observe: '1000h'}, patience_s: 0.05}),
    /this takes longer than 50ms here/);
});
