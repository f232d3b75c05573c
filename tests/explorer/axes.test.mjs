// The axes of the map.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {beside, chosen, islandOf, isCoarse} from '../../explorer/page/axes.js';

const STOPS = Array.from({length: 25}, (_, i) => `${i}s`);

test('an axis has both ends and as many values as it is to have', () => {
  assert.deepEqual(chosen(STOPS, 5, '12s', 12), ['0s', '6s', '12s', '18s', '24s']);
  assert.deepEqual(chosen(['1', '2', '3'], 12, '2', 1), ['1', '2', '3']);
});

test('the value in force takes the place of its neighbour', () => {
  assert.deepEqual(chosen(STOPS, 5, '7s', 7), ['0s', '7s', '12s', '18s', '24s']);
  assert.deepEqual(chosen(STOPS, 5, '99s', 24), ['0s', '6s', '12s', '18s', '99s']);
  assert.deepEqual(chosen(STOPS, 5, 'what', null), ['0s', '6s', '12s', '18s', '24s']);
});

test('a cell has the neighbours that there are', () => {
  assert.deepEqual(beside(0, 4, 3), [1, 4]);
  assert.deepEqual(beside(5, 4, 3).sort((a, b) => a - b), [1, 4, 6, 9]);
  assert.deepEqual(beside(11, 4, 3), [10, 7]);
});

test('the coarse cells hold the corners', () => {
  const coarse = Array.from({length: 120}, (_, i) => i).filter(i => isCoarse(i, 12, 10));
  for (const corner of [0, 11, 108, 119]) assert.ok(coarse.includes(corner));
  assert.equal(coarse.length, 5 * 4);
});

test('an island is worse than both ends', () => {
  assert.deepEqual(islandOf([0, 0.2, 0.5, 1, 0.4, 0]), [2, 3]);
  assert.equal(islandOf([0, 0, 1, 1]), null);
  assert.equal(islandOf([1, 1, 0, 0]), null);
  assert.deepEqual(islandOf([1, 0, 1, 0]), [2, 2]);
  assert.equal(islandOf([0, 1, null, 0]), null, 'what is not known yet may be worse');
  assert.equal(islandOf([null, 1, 0]), null);
  assert.equal(islandOf([0, 0.5, 0.5, 0]), null, 'one run of two may be chance');
  assert.equal(islandOf([]), null);
});
