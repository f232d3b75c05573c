// Texts of options as numbers.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {nanoseconds, place, seconds, valueOf, withPoints} from '../../explorer/page/durations.js';

test('durations are read as Go writes them', () => {
  for (const [text, expected] of [['0', 0n], ['0s', 0n], ['100ms', 100000000n], ['1m30s', 90000000000n],
    ['2m8.580906589s', 128580906589n], ['1.5µs', 1500n], ['3ns', 3n], ['1h0m1s', 3601000000000n]]) {
    assert.equal(nanoseconds(text), expected, text);
  }
  for (const text of ['', 'none', '5', '1s2', '-1s', 's', '1,5s']) assert.equal(nanoseconds(text), null, text);
  assert.equal(seconds('250ms'), 0.25);
});

test('a value is a number, or a duration in seconds', () => {
  assert.equal(valueOf('12'), 12);
  assert.equal(valueOf('1.5'), 1.5);
  assert.equal(valueOf('2m'), 120);
  assert.equal(valueOf('none'), null);
  assert.equal(valueOf(''), null);
});

test('a text stands among the stops of its option', () => {
  const option = {kind: 'duration', stops: ['0s', '1s', '3s', 'none']};
  assert.equal(place(option, '1s'), 1);
  assert.equal(place(option, '2s'), 1.5);
  assert.equal(place(option, '9s'), 2);
  assert.equal(place(option, 'none'), 3);
  assert.equal(place(option, 'later'), null);
});

test('a decimal comma is a point, one that separates is none', () => {
  for (const [typed, meant] of [['0,5', '0.5'], ['1,5s', '1.5s'], ['normal:0,1', 'normal:0.1'],
    ['60s load 0,5', '60s load 0.5'], ['0s 1,60s 0.3', '0s 1,60s 0.3'], ['0s 1, 60s 0,3', '0s 1, 60s 0.3']]) {
    assert.equal(withPoints(typed), meant);
  }
});
