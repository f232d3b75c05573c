// Why a run ended as it did: one sentence, made from its intervals.

const {minutes, number} = Retrystorm;

const LAST = 10; // seconds at the end, or after the outage, over which rates are means
const MOSTLY = 0.5, ALL = 0.99; // shares

// With more requests than this in the service, busy and waiting, answers come too late. Infinity if no
// number is too many.
export function lateLine({late_from: late}, workers = 0) {
  return late === null || late === undefined ? Infinity : Math.ceil(late + workers);
}

const intervals = lines => lines.filter(({type}) => type === 'interval');
const between = (all, from, to) => all.filter(({t}) => t > from && t <= to);
const mean = (all, of) => all.length > 0 ? all.reduce((sum, each) => sum + of(each), 0) / all.length : 0;
const rate = value => number(value, value < 10 ? 1 : 0);
const total = object => Object.values(object ?? {}).reduce((sum, value) => sum + value, 0);
const capital = text => text[0].toUpperCase() + text.slice(1);

// The most frequent reason in these intervals why attempts are refused or not sent: [name, per second]. Null
// if that is less than a tenth of the attempts.
function hindrance(client, server) {
  const rejected = Object.keys(server[0]?.rejected ?? {}).map(name => [name, mean(server, each => each.rejected[name])]);
  const gaveUp = Object.keys(client[0]?.gave_up_by ?? {}).filter(name => name !== 'gate')
    .map(name => [name, mean(client, each => each.gave_up_by[name])]);
  const all = [['not_sent', mean(client, each => each.not_sent)], ...rejected, ...gaveUp].sort(([, a], [, b]) => b - a);
  return all[0][1] > 0.1 * mean(client, each => each.attempts + each.not_sent) ? all[0] : null;
}

const REJECTIONS = {
  shed: 'turned away at once (shed)', queue_full: 'turned away because the queue is full', rate_limited: 'turned away by the rate limit',
  dropped: 'dropped from the queue because they have waited too long', abandoned: 'skipped because their clients have hung up', error: 'answered with an error',
};
// Why requests are not sent again.
const ENDS = {
  budget: 'the retry budget is empty', attempts: 'they have had all their attempts', deadline: 'their deadline has passed',
  not_retryable: 'such a failure is not retried',
};

// The breaker, the throttling or the concurrency limit, whichever the clients have.
function gateOf({values}) {
  if (values.breaker !== 'none') return 'the circuit breakers are open';
  if (values.throttle !== 'none') return 'the clients throttle themselves';
  if (values['concurrency-limit'] !== 'none') return 'the clients limit their own concurrency';
  return 'the clients hold them back';
}

// Down to the end: what keeps it there.
function down(run) {
  const {client, server, over, line, end} = run;
  const late = client.slice(-LAST), its = server.slice(-LAST);
  const attempts = mean(late, each => each.attempts), ok = mean(late, each => each.ok), notSent = mean(late, each => each.not_sent);
  const refused = mean(its, each => total(each.rejected)), hinders = hindrance(late, its);
  if (notSent > attempts) {
    return `At ${minutes(end)} ${rate(notSent)} attempts/s are not sent because ${gateOf(run)}; of the ${rate(attempts)} that are sent, ${rate(ok)} succeed.`;
  }
  if (hinders && REJECTIONS[hinders[0]] && refused > MOSTLY * attempts) {
    const inside = over && over.to === Infinity ? `${number(its.at(-1).concurrency)} requests are in the service, over the line, and ` : '';
    return `At ${minutes(end)} ${inside}${rate(refused)} of ${rate(attempts)} attempts/s are ${REJECTIONS[hinders[0]]}: ${ok > 0 ? `${rate(ok)} succeed` : 'none succeeds'}.`;
  }
  if (over && over.to === Infinity) {
    const then = between(client, over.from, Infinity), sent = mean(then, each => each.attempts), good = mean(then, each => each.ok);
    const which = good < (1 - ALL) * sent ? `all ${rate(sent)}` : `${rate(sent - good)} of ${rate(sent)}`;
    const again = mean(then, each => each.retries) > MOSTLY * sent ? `so ${good < (1 - ALL) * sent ? 'all' : 'they'} are sent again` : 'so they fail';
    return `At ${minutes(over.from)} ${number(over.count)} requests were in the service, ${number(over.count - line)} over the line; ` +
      `since then ${which} attempts/s are answered too late, ${again}.`;
  }
  if (hinders && ENDS[hinders[0]]) {
    return `At ${minutes(end)} ${rate(hinders[1])} requests/s are given up because ${ENDS[hinders[0]]}; ${rate(ok)} of ${rate(attempts)} attempts/s succeed.`;
  }
  return `At ${minutes(end)} ${rate(ok)} of ${rate(attempts)} attempts/s succeed: ${rate(run.before)} did before the outage.`;
}

// How the service got out.
function back(run) {
  const {client, server, actions, over, line, begin, stop, length, figures} = run;
  const then = between(client, begin, stop + LAST), its = between(server, begin, stop + LAST);
  const hinders = hindrance(then, its), at = over && over.to < Infinity ? over : null;
  const peak = server.reduce((most, each) => each.t > begin && each.concurrency > most.concurrency ? each : most, {concurrency: 0});
  const done = at && actions.filter(({t}) => t > at.from && t <= at.to).map(({t, what}) => `${what} at ${minutes(t)}`).join(', ');
  const story = at ? `At ${minutes(at.from)} ${number(at.count)} requests were in the service, ${number(at.count - line)} over the line; at ${minutes(at.to)} it was below it again${done ? `, after ${done}` : ''}`
    : Number.isFinite(line) ? `It stayed below the line, with at most ${number(peak.concurrency)} requests in the service`
      : `At most ${number(peak.concurrency)} requests were in the service, and it answers any number in time`;
  if (done) return `${story}.`;
  if (hinders && hinders[0] !== 'error') { // errors do not reduce the load
    const [name, much] = hinders, count = number(much * then.length);
    if (name === 'not_sent') return `${story}, because ${gateOf(run)}: ${count} attempts were not sent.`.replace(' are open', ' were open');
    if (REJECTIONS[name]) return `${story}, because ${count} attempts were ${REJECTIONS[name].replace('have waited', 'had waited').replace(' is ', ' was ')}.`;
    return `${story}, because ${count} requests were given up: ${ENDS[name].replace(' is ', ' was ').replace(' have ', ' had ').replace(' has ', ' had ')}.`;
  }
  const ending = between(client, stop - Math.min(5, length), stop), came = mean(ending, each => each.attempts);
  const most = figures.attempts_per_s_if_all_fail;
  if (most !== null && came < 0.6 * most && mean(ending, each => each.waiting_to_retry) > 0) {
    return `${story}. The waits had grown: in the last seconds of the outage the clients sent ${rate(came)} attempts/s; with the first wait each time it would be ${rate(most)}.`;
  }
  const after = mean(between(client, stop, stop + LAST), each => each.attempts);
  return `${story}: ${rate(after)} attempts/s came after the outage, and ${figures.capacity_per_s === null ? 'any number' : `${rate(figures.capacity_per_s)}`} can be served.`;
}

function notYet({client, server, end, before, line}) {
  const last = client.slice(-5), now = server.at(-1), ok = mean(last, each => each.ok);
  const waiting = number(client.at(-1).waiting_to_retry);
  const inside = now ? `; ${number(now.concurrency)} requests are in the service${Number.isFinite(line) ? ` (too late from ${number(line)} on)` : ''}` : '';
  if (ok >= 0.9 * before) return `Back for too short a time: at ${minutes(end)} ${rate(ok)} OK/s, ${rate(before)} before the outage${inside}.`;
  return `Not yet: at ${minutes(end)} ${rate(ok)} OK/s, ${rate(before)} before the outage${inside}, and ${waiting} clients wait to retry.`;
}

// `client`, `server`: the lines of the run. `figures`: the outlook's. `values`: the options in force.
// Returns null if there was no outage.
export function why({client, server, result: {verdict}, figures, values}) {
  const outage = client.filter(({type}) => type === 'outage');
  const begin = outage.find(({event}) => event === 'stop')?.t, stop = outage.findLast(({event}) => event === 'continue')?.t;
  if (begin === undefined || stop === undefined || verdict === 'no outage') return null;
  const summary = client.findLast(({type}) => type === 'summary');
  const actions = client.filter(({type}) => type === 'action');
  const run = {client: intervals(client), server: intervals(server), actions, figures, values, begin, stop, length: stop - begin, before: summary?.baseline_ok ?? 0};
  run.end = run.client.at(-1)?.t ?? 0;
  run.line = lateLine(figures, run.server.at(-1)?.workers);
  // The last time that it was over the line: until when, or Infinity.
  const later = run.server.filter(({t}) => t > begin);
  for (const [i, {t, concurrency}] of later.entries()) {
    if (concurrency < run.line) {
      if (run.over) run.over.to = Math.min(run.over.to, t);
    } else if (i === 0 || later[i - 1].concurrency < run.line) {
      run.over = {from: t, to: Infinity, count: concurrency};
    }
  }
  if (verdict === 'collapsed') return down(run);
  if (verdict === 'relapsed') return `It came back, and went down again. ${down(run)}`;
  return verdict === 'recovered' ? back(run) : notYet(run);
}
