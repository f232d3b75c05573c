// Why a run ended as it did: one sentence, made from its intervals.
import {actionText} from './words.js';

const {minutes, number} = Retrystorm;

const LAST = 10; // seconds after the outage, and intervals at the end, over which rates are means
const MOSTLY = 0.5, NONE = 0.01; // shares
const SOME = 0.1; // a share of the attempts that matters
// A line that is more than this many times as high as the curves is not drawn.
const FAR = 100;

// With more requests than this in the service, busy and waiting, answers come too late. Infinity if no
// number is too many: a queue of workers may serve others first than the oldest, or drop what is too old.
export function lateLine({late_from: late}, workers = 0, values = {}) {
  const inOrder = values.service !== 'workers' ||
    values['queue-order'] === 'fifo' && values['queue-drop'] === 'none' && values.abandoned === 'serve';
  return late === null || late === undefined || !inOrder ? Infinity : Math.ceil(late + workers);
}

export const isFar = (line, most) => line > FAR * Math.max(10, most);

const intervals = lines => lines.filter(({type}) => type === 'interval')
  .map((each, i, all) => ({...each, length: each.t - (all[i - 1]?.t ?? 0)}));
const between = (all, from, to) => all.filter(({t}) => t > from && t <= to);
const seconds = all => all.reduce((sum, each) => sum + each.length, 0);
// Of figures per second: how many there were, and their mean. A frozen service reports its interval once it wakes.
const count = (all, of) => all.reduce((sum, each) => sum + of(each) * each.length, 0);
const mean = (all, of) => all.length > 0 ? count(all, of) / seconds(all) : 0;
const rate = value => number(value, value > 0 && value < 10 ? 1 : 0);
const total = object => Object.values(object ?? {}).reduce((sum, value) => sum + value, 0);
const capital = text => text[0].toUpperCase() + text.slice(1);
const sentences = (...all) => all.filter(Boolean).join(' ');

// What becomes of attempts that the service does not serve.
const REJECTIONS = {
  shed: 'turned away at once (shed)', queue_full: 'turned away from a full queue', rate_limited: 'turned away by the rate limit',
  dropped: 'dropped from the queue after too long a wait', abandoned: 'skipped, as their clients had hung up', error: 'answered with an error',
};
// Why requests are not sent again: at present, and in the past.
const ENDS = {
  budget: ['the retry budget is empty', 'the retry budget was empty'], attempts: ['they have had all their attempts', 'they had had all their attempts'],
  deadline: ['their deadline has passed', 'their deadline had passed'], not_retryable: ['such a failure is not retried', 'such a failure is not retried'],
};

// How many attempts were refused or not sent in these intervals, or requests given up, for each reason.
function hindrances(client, server) {
  const found = {not_sent: count(client, each => each.not_sent)};
  for (const name of Object.keys(server[0]?.rejected ?? {})) found[name] = count(server, each => each.rejected[name]);
  for (const name of Object.keys(client[0]?.gave_up_by ?? {})) if (name !== 'gate') found[name] = count(client, each => each.gave_up_by[name]);
  return found;
}

// The most frequent of them, as [name, how many, their share of the attempts]. Null if there are few.
function greatest(client, server, but) {
  const all = count(client, each => each.attempts + each.not_sent);
  const [[name, many]] = Object.entries(hindrances(client, server)).filter(([each]) => each !== but).sort(([, a], [, b]) => b - a);
  return many > SOME * all ? [name, many, many / all] : null;
}

// The breaker, the throttling or the concurrency limit, whichever the clients have: at present, and in the past.
function gateOf({values}) {
  if (values.breaker !== 'none') return ['the circuit breakers are open', 'the circuit breakers were open'];
  if (values.throttle !== 'none') return ['the clients throttle themselves', 'the clients throttled themselves'];
  if (values['concurrency-limit'] !== 'none') return ['the clients limit their own concurrency', 'the clients limited their own concurrency'];
  return ['the clients hold them back', 'the clients held them back'];
}

// The most requests that its connections leave room for. Zero is no limit.
const connectionsOf = ({values}) => values.connections === 'multiplexed' ? Infinity : Number(values['max-connections']) || Infinity;

const overInWords = ({line}, {from, count: many}) =>
  `At ${minutes(from)} ${number(many)} requests were in the service, ${number(many - line)} over the line`;

// What was done after `from`, and until `to`: "restart at 1:00".
const doneInWords = ({actions}, from, to) => actions.filter(({t}) => t > from && t <= to)
  .map(({t, what}) => `${actionText(what)} at ${minutes(t)}`).join(' and ');

// What becomes of attempts that fail.
function again({values}, all) {
  const sent = mean(all, each => each.attempts), gaveUp = mean(all, each => each.gave_up), limit = values['max-retries'];
  if (mean(all, each => each.retries) < MOSTLY * sent) return 'so most requests fail';
  if (gaveUp < NONE * sent) return 'so all are sent again';
  return limit === 'none' ? 'so most are sent again' : `so they are sent again, up to ${number(Number(limit))} ${limit === '1' ? 'time' : 'times'} each`;
}

// It got over the line, and stayed there.
function held(run) {
  const {client, over, end} = run, then = between(client, over.from, Infinity);
  const sent = mean(then, each => each.attempts), last = then.findLast(({ok}) => ok > 0)?.t ?? over.from;
  const silent = end - last > MOSTLY * (end - over.from) || end - last > 2 * LAST;
  const since = silent && last > over.from ? minutes(last) : 'then';
  const which = silent ? `none of the ${rate(sent)} attempts/s is` : `${rate(sent - mean(then, each => each.ok))} of ${rate(sent)} attempts/s are not`;
  return `${overInWords(run, over)}; since ${since} ${which} answered in time, ${again(run, then)}.`;
}

// Down to the end: what keeps it there.
function down(run) {
  const {client, server, over, line, end} = run;
  const late = client.slice(-LAST), its = server.slice(-LAST);
  const attempts = mean(late, each => each.attempts), ok = mean(late, each => each.ok), notSent = mean(late, each => each.not_sent);
  const refused = mean(its, each => total(each.rejected)), hinders = greatest(late, its), isOver = over?.to === Infinity;
  const done = isOver && doneInWords(run, over.from, end), inVain = done ? `${capital(done)} did not help.` : '';
  const succeed = ok > 0 ? `${rate(ok)} succeed` : 'none succeeds';
  if (notSent > attempts) {
    return `At ${minutes(end)} ${rate(notSent)} attempts/s are not sent because ${gateOf(run)[0]}; of the ${rate(attempts)} that are sent, ${succeed}.`;
  }
  if (hinders && REJECTIONS[hinders[0]] && refused > MOSTLY * attempts) {
    const now = its.at(-1).concurrency, finished = mean(its, each => each.completed);
    const inside = isOver ? `${number(now)} requests are still in the service, ${number(now - line)} over the line, and it finishes ${finished < 0.05 ? 'none' : `${rate(finished)}/s`}. ` : '';
    const which = refused > (1 - NONE) * attempts ? `${inside ? 'All' : 'all'} ${rate(attempts)}` : `${rate(refused)} of ${rate(attempts)}`;
    return `At ${minutes(end)} ${inside}${which} attempts/s are ${REJECTIONS[hinders[0]]}: ${succeed}.`;
  }
  if (isOver) return sentences(held(run), inVain);
  if (hinders && ENDS[hinders[0]]) {
    return `At ${minutes(end)} ${rate(hinders[1] / seconds(late))} requests/s are given up because ${ENDS[hinders[0]][0]}; ${rate(ok)} of ${rate(attempts)} attempts/s succeed.`;
  }
  const connections = connectionsOf(run);
  if (its.at(-1)?.concurrency > 0.9 * connections) {
    return `At ${minutes(end)} the service has all ${number(connections)} connections that it takes, and others wait for a place: of ${rate(attempts)} attempts/s ${ok > 0 ? rate(ok) : 'none'} succeed${ok > 0 ? '' : 's'}.`;
  }
  return `At ${minutes(end)} ${ok > 0 ? rate(ok) : 'none'} of ${rate(attempts)} attempts/s succeed${ok > 0 ? '' : 's'}: ${rate(run.before)} did before the outage.`;
}

// How many requests were in the service, and whether they were too many.
function story(run) {
  const {over, line, peak, seen, values} = run, most = number(peak), connections = connectionsOf(run);
  if (over) {
    const done = doneInWords(run, over.from, over.to);
    return `${overInWords(run, over)}; at ${minutes(over.to)} it was below it again${done ? `, after ${done}` : ''}`;
  }
  if (Number.isFinite(line) && isFar(line, peak)) return `At most ${most} requests were in the service; answers come too late from ${number(line)} on`;
  if (peak >= line) return `The service was over the line only for a moment, with up to ${most} requests in it`;
  if (connections < line && peak >= connections) return `The service takes at most ${number(connections)} connections, and so stayed below the line`;
  if (Number.isFinite(line)) return `The service stayed below the line, with at most ${most} requests in it${peak > 2 * seen ? ' for a moment' : ''}`;
  if (values.timeout === 'none') return `At most ${most} requests were in the service, and their clients wait however long an answer takes`;
  if (values.service === 'workers' && values['queue-order'].includes('lifo')) return `Up to ${most} requests were in the service, which serves the newest first: those that come are answered in time, whatever else waits`;
  return `Up to ${most} requests were in the service`;
}

// The waits of clients whose attempts all fail get longer and longer.
const grows = ({figures: {median_waits_s: waits}, values}) =>
  values['max-retries'] === 'none' && waits?.length > 1 && waits.at(-1) > 1.5 * waits[0];

// How the service got out.
function back(run) {
  const {client, server, actions, over, line, begin, stop, length, figures, what} = run, said = story(run);
  const because = Number.isFinite(line) ? ', because' : ';';
  if (over && actions.some(({t}) => t > over.from && t <= over.to)) return `${said}.`;
  // In the outage, and after it. Errors do not reduce the load.
  const found = [[begin, stop], [stop, stop + LAST]].map(([from, to]) => greatest(between(client, from, to), between(server, from, to), 'error'))
    .filter(Boolean).sort(([, , a], [, , b]) => b - a)[0];
  if (found) {
    const [name] = found, many = number(hindrances(between(client, begin, stop + LAST), between(server, begin, stop + LAST))[name]);
    if (name === 'not_sent') return `${said}${because} ${gateOf(run)[1]}: ${many} attempts were not sent.`;
    if (REJECTIONS[name]) return `${said}${because} ${many} attempts were ${REJECTIONS[name]}.`;
    return `${said}${because} ${many} requests were given up: ${run.values['max-retries'] === '0' && name === 'attempts' ? 'each has one attempt' : ENDS[name][1]}.`;
  }
  const ending = between(client, stop - Math.min(5, length), stop), came = mean(ending, each => each.attempts);
  const most = what.startsWith('drop') || what.startsWith('errors') ? figures.attempts_per_s_if_all_err : figures.attempts_per_s_if_all_time_out;
  if (grows(run) && mean(ending, each => each.ok) === 0 && came < 0.6 * most && mean(ending, each => each.waiting_to_retry) > 0) {
    return `${said}. The waits had grown: in the last seconds of the outage the clients sent ${rate(came)} attempts/s; if every wait were as short as the first, it would be ${rate(most)}.`;
  }
  const after = mean(between(client, stop, stop + LAST), each => each.attempts), capacity = figures.capacity_per_s ?? Infinity;
  if (after >= capacity) return `${said}.`;
  return `${said}: ${rate(after)} attempts/s came in the ${LAST} s after the outage, and ${capacity === Infinity ? 'any number' : rate(capacity)} can be served.`;
}

function notYet(run, verdict) {
  const {client, server, end, before, line, reason} = run, last = client.slice(-5), now = server.at(-1), ok = mean(last, each => each.ok);
  const holds = mean(last, each => each.not_sent) > mean(last, each => each.attempts);
  const clients = holds ? gateOf(run)[0] : `${number(client.at(-1).waiting_to_retry)} clients wait to retry`;
  const inside = now ? `; ${number(now.concurrency)} requests are in the service${Number.isFinite(line) ? ` (too late from ${number(line)} on)` : ''}` : '';
  if (verdict === 'undecided' && !/^(not watched|no attempt)/.test(reason)) return `No verdict: ${reason}.`;
  if (ok >= 0.9 * before) return `Back for too short a time: at ${minutes(end)} ${rate(ok)} OK/s, ${rate(before)} before the outage${inside}.`;
  return `Not yet: at ${minutes(end)} ${rate(ok)} OK/s, ${rate(before)} before the outage${inside}, and ${clients}.`;
}

// `client`, `server`: the lines of the run. `result`: its figures. `figures`: the outlook's. `values`: the
// options in force. Returns null if there was no outage, and all is well.
export function why({client, server, result: {verdict, peak_concurrency: greatestOne = 0}, figures, values}) {
  if (verdict === 'no outage') return null;
  const outage = client.filter(({type}) => type === 'outage');
  const first = outage.find(({event}) => event === 'stop'), stop = outage.findLast(({event}) => event === 'continue')?.t;
  const begin = first?.t ?? 0, what = first?.what ?? '';
  const summary = client.findLast(({type}) => type === 'summary');
  const actions = client.filter(({type}) => type === 'action');
  const run = {client: intervals(client), server: intervals(server), actions, figures, values, begin, stop, length: stop - begin, what,
    before: summary?.baseline_ok ?? 0, reason: summary?.reason ?? ''};
  run.end = run.client.at(-1)?.t ?? 0;
  run.line = lateLine(figures, run.server.at(-1)?.workers, values);
  // At the ends of the intervals, which the chart shows, and at any time.
  run.seen = run.server.reduce((most, {concurrency}) => Math.max(most, concurrency), 0);
  run.peak = Math.max(run.seen, greatestOne);
  // The last time that it was over the line: until when, or Infinity. While it is slower the line is lower.
  const later = run.server.filter(({t}) => t > (/^(slow|capacity)/.test(what) ? stop ?? begin : begin));
  for (const [i, {t, concurrency}] of later.entries()) {
    if (concurrency < run.line) {
      if (run.over) run.over.to = Math.min(run.over.to, t);
    } else if (i === 0 || later[i - 1].concurrency < run.line) {
      run.over = {from: t, to: Infinity, count: concurrency};
    }
  }
  if (verdict === 'collapsed') return down(run);
  if (verdict === 'relapsed') return `It came back, and went down again. ${down(run)}`;
  return verdict === 'recovered' ? back(run) : notYet(run, verdict);
}
