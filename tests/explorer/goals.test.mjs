// The challenges: each fails at the start, and has a solution that the statistics accept.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {backWithin, CHALLENGES, ENOUGH, stateOf, turnedThough} from '../../explorer/page/goals.js';
import {engine} from './support.mjs';

const ask = await engine();
const {options} = ask({ask: 'catalogue'});
const valuesOf = given => ask({ask: 'describe', given, seed: 1}).values;

// The results after this many seeds.
function judged(challenge, given, seeds) {
  const results = [];
  // In portions, as the page does: each has an end.
  for (let seed = 1; seed <= seeds; seed += 5) {
    results.push(...ask({ask: 'batch', given, seeds: [0, 1, 2, 3, 4].map(i => seed + i)}).results);
  }
  const {cell} = ask({ask: 'summarize', results});
  return challenge.goals.map(goal => goal.judge(cell));
}

test('there are five, all with different names', () => {
  assert.equal(new Set(CHALLENGES.map(({id}) => id)).size, 5);
});

test('a median meets a goal with the whole of its interval, and misses it likewise', () => {
  const judge = (seconds, low, high, runs = 20) =>
    backWithin(seconds).judge({runs, recovered: runs, recovery_median_s: 8, recovery_low_s: low, recovery_high_s: high});
  assert.deepEqual(judge(10, 7, 9), {met: true, figure: 'median 8 s, 7 to 9'});
  assert.equal(judge(6, 7, 9).met, false);
  assert.equal(judge(8, 7, 9).met, null);
  assert.equal(judge(8, 7, 9, ENOUGH).met, false);
  assert.deepEqual(judge(10, 7, null), {met: null, figure: 'median 8 s, 7 to never'});
  assert.equal(judge(10, null, null).met, false, 'the median run never came back');
  assert.deepEqual(judge(10, null, null, 5), {met: null, figure: 'median 8 s'}, 'too few runs');
});

for (const challenge of CHALLENGES) {
  test(`${challenge.id} goes wrong, and is solved by what may be turned`, () => {
    const {given, solution} = challenge;
    assert.equal(stateOf(judged(challenge, given, ENOUGH)), 'unsolved');
    const goals = judged(challenge, solution, ENOUGH);
    assert.equal(stateOf(goals), 'solved', JSON.stringify(goals));
    for (const {figure} of goals) assert.doesNotMatch(figure, /NaN|undefined|null/);
    assert.deepEqual(turnedThough(challenge, options, solution, valuesOf(solution), valuesOf(given)), []);
  });

  test(`${challenge.id} is not solved by changing what it is about`, () => {
    const {given} = challenge;
    const turned = now => turnedThough(challenge, options, now, valuesOf(now), valuesOf(given));
    assert.deepEqual(turned({...given, clients: '10'}), ['clients']); // the number of processes follows
    assert.deepEqual(turned({...given, processes: '7'}), ['processes']);
    assert.deepEqual(turned({...given, 'think-time': '7s'}), ['lambda']);
    assert.deepEqual(turned({...given, timeout: valuesOf(given).timeout}), []);
    if ('arrivals' in given) assert.deepEqual(turned({...given, arrivals: 'closed'}), ['arrivals']);
  });
}
