// The sentence that says why a run ended as it did, for runs made by hand.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

const charts = readFileSync(new URL('../../client/dashboard/page/charts.js', import.meta.url), 'utf8');
globalThis.Retrystorm = new Function(`${charts}; return Retrystorm;`)();
const {lateLine, why} = await import('../../explorer/page/why.js');

const BEGIN = 30, STOP = 50, END = 110;
const NO_REJECTIONS = {shed: 0, queue_full: 0, rate_limited: 0, dropped: 0, abandoned: 0, error: 0};
const VALUES = {
  service: 'curve', 'queue-order': 'fifo', 'queue-drop': 'none', abandoned: 'serve', timeout: '2s', 'max-retries': 'none',
  'max-connections': '20000', breaker: 'none', throttle: 'none', 'concurrency-limit': 'none',
};
const FIGURES = {late_from: 951.005, capacity_per_s: 1247, attempts_per_s_if_all_time_out: 476, attempts_per_s_if_all_err: 10000, median_waits_s: [0.1]};

// A run with an outage from 30 to 50 s: `client(t)` and `server(t)` change the intervals of a calm one. A frozen server
// has none in the outage, and one for the whole of it when it wakes.
function said({verdict = 'recovered', what = 'freeze', client = () => ({}), server = () => ({}), values = {}, figures = {}, actions = [], summary = {}, peak = 0, end = END}) {
  const seconds = Array.from({length: end}, (_, i) => i + 1);
  const frozen = t => what === 'freeze' && t > BEGIN && t <= STOP;
  return why({
    client: [
      ...what ? [{type: 'outage', event: 'stop', t: BEGIN, what}, {type: 'outage', event: 'continue', t: STOP, what}] : [],
      ...actions,
      ...seconds.map(t => ({type: 'interval', t, ok: 100, attempts: 100, retries: 0, gave_up: 0, gave_up_by: {budget: 0, attempts: 0, gate: 0}, not_sent: 0,
        waiting_to_retry: 0, ...frozen(t) && {ok: 0, attempts: 476, retries: 476, waiting_to_retry: 50}, ...client(t)})),
      {type: 'summary', baseline_ok: 100, reason: '', ...summary}],
    server: seconds.filter(t => !frozen(t)).map(t => ({type: 'interval', t, concurrency: 10, completed: 100, rejected: NO_REJECTIONS, ...server(t)})),
    result: {verdict, peak_concurrency: peak}, figures: {...FIGURES, ...figures}, values: {...VALUES, ...values},
  });
}
const after = (t, object) => t > STOP ? object : {};
const STORM = t => after(t, {ok: 0, attempts: 476, retries: 476});
const FULL = t => after(t, {concurrency: 1095 + 476 * (t - 51), completed: 0});

test('held down by its clients: since when nothing is answered in time, and what becomes of it', () => {
  const start = 'At 0:51 1,095 requests were in the service, 143 over the line; since ';
  assert.equal(said({verdict: 'collapsed', client: STORM, server: FULL}), `${start}then none of the 476 attempts/s is answered in time, so all are sent again.`);
  assert.equal(said({verdict: 'collapsed', client: t => ({...STORM(t), ...t > 50 && t <= 53 && {ok: 20}}), server: FULL}),
    `${start}0:53 none of the 476 attempts/s is answered in time, so all are sent again.`);
  assert.equal(said({verdict: 'collapsed', client: t => after(t, {ok: 6, attempts: 476, retries: 470}), server: FULL}),
    `${start}then 470 of 476 attempts/s are not answered in time, so all are sent again.`);
  assert.equal(said({verdict: 'collapsed', client: t => after(t, {ok: 0, attempts: 400, retries: 300, gave_up: 100}), server: FULL, values: {'max-retries': '3'}}),
    `${start}then none of the 400 attempts/s is answered in time, so they are sent again, up to 3 times each.`, 'not for ever');
  assert.equal(said({verdict: 'collapsed', client: t => after(t, {ok: 0, attempts: 100, retries: 0, gave_up: 100}), server: FULL}),
    `${start}then none of the 100 attempts/s is answered in time, so most requests fail.`);
  assert.match(said({verdict: 'relapsed', client: STORM, server: FULL}), /^It came back, and went down again\. At 0:51 /);
  // Without an outage too.
  assert.equal(said({verdict: 'collapsed', what: '', client: () => ({ok: 0, attempts: 476, retries: 476}), server: t => ({concurrency: 952 + t})}),
    'At 0:01 953 requests were in the service, 1 over the line; since then none of the 476 attempts/s is answered in time, so all are sent again.');
});

test('an action that came too late, and one that helped', () => {
  const actions = [{type: 'action', t: 60, what: 'load 0.5'}];
  assert.match(said({verdict: 'collapsed', client: STORM, server: FULL, actions}), /sent again\. Half the load at 1:00 did not help\.$/);
  assert.equal(said({client: STORM, server: t => t > 65 ? {} : FULL(t), actions: [{type: 'action', t: 60, what: 'restart'}]}),
    'At 0:51 1,095 requests were in the service, 143 over the line; at 1:06 it was below it again, after restart at 1:00.');
});

test('while the service is slower, its line is lower: what counts is the end of the outage', () => {
  assert.match(said({verdict: 'collapsed', what: 'slow:30', client: STORM, server: t => ({concurrency: t > BEGIN ? 300 * (t - BEGIN) : 10})}),
    /^At 0:51 6,300 requests were in the service, 5,348 over the line; /);
  assert.match(said({verdict: 'collapsed', what: 'load:5', client: STORM, server: t => ({concurrency: t > BEGIN ? 300 * (t - BEGIN) : 10})}),
    /^At 0:34 1,200 requests were in the service, 248 over the line; /);
});

test('no number is too many where the newest is served first, or the old is dropped', () => {
  const workers = {...VALUES, service: 'workers'};
  assert.equal(lateLine({late_from: 380}, 20, workers), 400);
  for (const other of [{'queue-order': 'lifo'}, {'queue-order': 'adaptive-lifo:100'}, {'queue-drop': 'codel'}, {abandoned: 'skip'}]) {
    assert.equal(lateLine({late_from: 380}, 20, {...workers, ...other}), Infinity);
  }
  assert.equal(lateLine({late_from: null}, 0, VALUES), Infinity);
  assert.equal(said({values: {service: 'workers', 'queue-order': 'lifo'}, server: t => after(t, {concurrency: t < 70 ? 900 : 10}), client: t => after(t, {attempts: 227}), figures: {capacity_per_s: 200}}),
    'Up to 900 requests were in the service, which serves the newest first: those that come are answered in time, whatever else waits.');
});

test('back, as there were never too many: the most of them is that of the run, not of its intervals', () => {
  assert.equal(said({peak: 371}), 'The service stayed below the line, with at most 371 requests in it for a moment: 100 attempts/s came in the 10 s after the outage, and 1,247 can be served.');
  assert.match(said({peak: 1000}), /^The service was over the line only for a moment, with up to 1,000 requests in it/);
  assert.match(said({peak: 300, values: {'max-connections': '300'}}), /^The service takes at most 300 connections, and so stayed below the line/);
  assert.match(said({peak: 300, values: {'max-connections': '300', connections: 'multiplexed'}}), /^The service stayed below the line/, 'each takes many requests');
  assert.equal(said({verdict: 'collapsed', client: STORM, server: t => after(t, {concurrency: 300}), values: {'max-connections': '300'}}),
    'At 1:50 the service has all 300 connections that it takes, and others wait for a place: of 476 attempts/s none succeeds.');
  assert.match(said({values: {timeout: 'none'}, figures: {late_from: null}}), /^At most 10 requests were in the service, and their clients wait however long an answer takes: /);
  assert.match(said({figures: {late_from: 1e6}}), /^At most 10 requests were in the service; answers come too late from 1,000,000 on: /);
});

test('the waits have grown only if they do', () => {
  const fewer = t => t > BEGIN && t <= STOP ? {ok: 0, attempts: 190, waiting_to_retry: 500} : {};
  const growing = {median_waits_s: [0.1, 0.2, 0.4, 0.8]};
  assert.match(said({client: fewer, figures: growing}),
    /\. The waits had grown: in the last seconds of the outage the clients sent 190 attempts\/s; if every wait were as short as the first, it would be 476\.$/);
  assert.doesNotMatch(said({client: fewer}), /grown/, 'they are all alike');
  assert.doesNotMatch(said({client: fewer, figures: growing, values: {'max-retries': '3'}}), /grown/, 'then there are also fewer attempts');
  assert.doesNotMatch(said({client: t => ({...fewer(t), ok: 50}), what: 'errors:0.5', figures: growing}), /grown/, 'some succeed');
});

test('what was turned away is counted over the whole interval of a frozen service', () => {
  // Of the 21 s until 0:51 the service reports the mean.
  const shed = t => t === 51 ? {rejected: {...NO_REJECTIONS, shed: 20}} : {};
  assert.match(said({server: shed, client: t => t === 51 ? {attempts: 800} : {}}), /, because 420 attempts were turned away at once \(shed\)\.$/);
  assert.match(said({server: shed, client: t => t === 51 ? {attempts: 5000} : {}}), /can be served\.$/, 'a few of many are no reason');
  assert.match(said({server: t => after(t, {rejected: {...NO_REJECTIONS, error: 50}})}), /can be served\.$/, 'errors do not reduce the load');
});

test('what the clients did not send, or gave up', () => {
  const all = {ok: 0, attempts: 20, not_sent: 80};
  assert.match(said({client: t => t > BEGIN && t <= STOP ? all : {}, values: {breaker: 'polly'}}), /, because the circuit breakers were open: 1,600 attempts were not sent\.$/);
  assert.equal(said({verdict: 'collapsed', client: t => after(t, all), values: {breaker: 'polly'}}),
    'At 1:50 80 attempts/s are not sent because the circuit breakers are open; of the 20 that are sent, none succeeds.');
  const given = t => t > BEGIN && t <= STOP ? {ok: 0, attempts: 100, gave_up: 90, gave_up_by: {budget: 90, attempts: 0, gate: 0}} : {};
  assert.match(said({client: given}), /, because 1,800 requests were given up: the retry budget was empty\.$/);
});

test('a service that turns all away since it cannot finish what it has', () => {
  assert.equal(said({verdict: 'collapsed', client: t => after(t, {ok: 0, attempts: 9990, retries: 9990}),
    server: t => after(t, {concurrency: 5086, completed: 0, rejected: {...NO_REJECTIONS, shed: 9990}})}),
  'At 1:50 5,086 requests are still in the service, 4,134 over the line, and it finishes none. All 9,990 attempts/s are turned away at once (shed): none succeeds.');
});

test('not yet, or no verdict', () => {
  assert.equal(said({verdict: 'undecided', end: 55, client: t => after(t, {ok: 95}), summary: {reason: 'not watched for 15 s after the outage'}}),
    'Back for too short a time: at 0:55 95 OK/s, 100 before the outage; 10 requests are in the service (too late from 952 on).');
  assert.equal(said({verdict: 'undecided', client: () => ({ok: 0}), summary: {baseline_ok: 0, reason: 'down before the outage: none of 2,500 attempts was OK'}}),
    'No verdict: down before the outage: none of 2,500 attempts was OK.');
  assert.equal(said({verdict: 'undecided', summary: {reason: 'the service was not well: 5 % of its attempts were OK'}}), 'No verdict: the service was not well: 5 % of its attempts were OK.');
  assert.match(said({verdict: 'recovering', client: t => after(t, {ok: 30, waiting_to_retry: 700})}), /^Not yet: at 1:50 30 OK\/s, 100 before the outage; .*, and 700 clients wait to retry\.$/);
  assert.equal(said({verdict: 'no outage', what: ''}), null);
});
