// What the words mean: each of them explains itself where it stands.
import {make} from './dom.js';

const MEANINGS = {
  seed: 'One run with its own random numbers. The same seed gives the same run, to the byte; another seed is another day with the same setting.',
  collapsed: 'In the last windows of 5 s there were still errors and less than a tenth of the answers of before: the service is held down by its clients alone.',
  recovered: 'The OK answers were back at 90 % of the baseline for three windows of 5 s running, and did not fall under 75 % again.',
  relapsed: 'The OK answers were back at 90 % of the baseline, and later fell under 75 % of it.',
  recovering: 'Not back at 90 % of the baseline when the run ended, but errors are gone, or a part of the answers has come back.',
  undecided: 'There is too little to tell: too short a run, or too few answers before the outage.',
  interval: 'With so many seeds, the true share lies in here 95 times of 100 (Wilson\u2019s interval).',
  baseline: 'The mean OK answers per second before the outage, its first 5 s left out.',
  recovery: 'From the end of the outage to the first of three windows of 5 s running with 90 % of the baseline: the median over the seeds, in which a run that did not recover took longer than all others.',
  'errors gone': 'From the end of the outage to the first of three windows of 5 s running in which at most 1 % of the attempts failed: the median over the seeds.',
  'requests succeeded': 'Of the requests that are over or failing, the share that got its answer in the end, with whatever retries.',
  amplification: 'Attempts sent for each request: 1 without retries. What the service has to bear more than its clients want.',
  'OK lost': 'The answers missing from the baseline, from the beginning of the outage to the recovery.',
  'given up': 'Requests that failed for good: no attempts left, past the deadline, no budget, or a gate said no.',
  'not sent': 'Attempts that the clients\u2019 own breaker, throttling or limit held back.',
  'peak concurrency': 'The most requests that were in the service at a time, in any of the runs.',
  'request time': 'From the first attempt of a request to its end, waits included.',
  makespan: 'The time that the job took, from its start to its last call.',
  throttled: 'The share of the attempts by whose answer the service asked for less.',
  idle: 'The share of the capacity provided that nobody used.',
  difference: 'This setting less the pinned one, seed by seed: the mean of the differences with its 95 % interval. An interval without 0 is a difference that is not chance.',
};

let number = 0;

// A word with its meaning: shown on a click, and by the keyboard.
export function term(name, text = name) {
  const id = `term-${++number}`;
  const meaning = make('span', {id, className: 'term-meaning', role: 'note', hidden: true}, MEANINGS[name]);
  const button = make('button', {type: 'button', className: 'term', 'aria-expanded': 'false', 'aria-controls': id, title: MEANINGS[name]}, text);
  button.addEventListener('click', () => {
    meaning.hidden = !meaning.hidden;
    button.setAttribute('aria-expanded', String(!meaning.hidden));
  });
  return make('span', {className: 'term-of'}, button, meaning);
}
