// The challenges: settings that fail, and goals. Judging them does not need the page, so that the tests
// can solve each.

// Seeds after which a goal that is not met counts as missed.
export const ENOUGH = 100;

// A goal: {name, wanted, judge(cell) -> {met: true | false | null, low, high, value}}. It is met if the
// whole 95 % interval meets it, missed if the whole interval misses it, and otherwise not known. Once
// all seeds are there, a goal that is not met is missed.
const decide = (met, missed, cell) => met ? true : missed || cell.runs >= ENOUGH ? false : null;
const number = (value, digits) => value === null || value === undefined ? '–' : value.toFixed(digits);
const percent = (share, digits) => `${number(100 * share, digits)} %`;

export const hardlyCollapses = {
  name: 'Down at the end in under 5 % of the runs',
  judge: cell => ({
    met: decide(cell.down !== null && cell.down_high < 0.05, cell.down_low > 0.05, cell),
    figure: `${cell.collapsed + cell.relapsed} of ${cell.runs} are: up to ${percent(cell.down_high, 1)}`,
  }),
};

// For at least half of the runs: judges the median with its interval. An end is null if it falls on a
// run in which the event never happened, or if there are fewer than six runs.
const half = (seconds, {median, low, high}, cell, otherwise) => ({
  met: decide(high !== null && high <= seconds, cell.runs >= 6 && (low === null || low > seconds), cell),
  figure: median === null ? otherwise
    : `median ${number(median, 0)} s` + (low === null ? '' : `, ${number(low, 0)} to ${high === null ? 'never' : number(high, 0)}`),
});

export const backWithin = seconds => ({
  name: `Back within ${seconds} s`,
  judge: cell => half(seconds, {median: cell.recovery_median_s, low: cell.recovery_low_s, high: cell.recovery_high_s}, cell,
    `${cell.recovered} of ${cell.runs} come back`),
});

export const doneWithin = seconds => ({
  name: `The job is done within ${seconds} s`,
  judge: cell => half(seconds, {median: cell.makespan_median_s, low: cell.makespan_low_s, high: cell.makespan_high_s}, cell, 'not done'),
});

export const attemptsUpTo = most => ({
  name: `At most ${most} attempts per request`,
  judge: cell => ({
    met: decide(cell.amplification_high !== null && cell.amplification_high <= most, cell.amplification_low > most, cell),
    figure: `${number(cell.amplification, 3)} (${number(cell.amplification_low, 3)} to ${number(cell.amplification_high, 3)})`,
  }),
});

// "99.9 %", with the digits that it was written with.
export const successAbove = share => ({
  name: `Success above ${+(100 * share).toFixed(6)} %`,
  judge: cell => ({
    met: decide(cell.success_share_low !== null && cell.success_share_low >= share,
      cell.success_share_high !== null && cell.success_share_high < share, cell),
    figure: `${percent(cell.success_share, 2)} (${percent(cell.success_share_low, 2)} to ${percent(cell.success_share_high, 2)})`,
  }),
});

// Which options may be changed, by their part and group in the catalogue.
export const isOfRetries = option => option.part === 'clients' && !/^(Clients|Job|Reconnects)/.test(option.group);
const retriesSaid = 'Only how the clients retry: their strategy or its parts. Not their number, load or timeout, not the service, and not the outage.';
const QUEUE = new Set(['queue-order', 'queue-drop', 'queue-length', 'shed-above', 'rate-limit', 'rate-burst']);

// {id, title, story, given, may(option), said, goals, solution}. `solution` is a setting that meets the
// goals, for the tests.
export const CHALLENGES = [
  {
    id: 'freeze',
    title: 'Come back from a freeze',
    story: 'Clients retry every 100 ms. After a freeze of 20 s the service stays down, although nothing is broken any more.',
    given: {},
    may: isOfRetries,
    said: retriesSaid,
    goals: [hardlyCollapses, backWithin(10)],
    solution: {strategy: 'exponential'},
  },
  {
    id: 'blip',
    title: 'Lose nothing in a blip',
    story: 'The service freezes for 5 s, and requests keep coming, 100 a second. With gRPC\u2019s retry budget there is no retry storm, but five of a hundred requests fail.',
    given: {strategy: 'grpc', arrivals: 'open', 'outage-for': '5s'},
    may: isOfRetries,
    said: retriesSaid,
    goals: [hardlyCollapses, backWithin(30), attemptsUpTo(1.2), successAbove(0.999)],
    solution: {strategy: 'truncated', arrivals: 'open', 'outage-for': '5s'},
  },
  {
    id: 'backlog',
    title: 'Out of the backlog',
    story: 'Twenty workers serve a queue, oldest first. Clients give up after three retries, and yet the queue stays long: when it is a request\u2019s turn, nobody waits for its answer any more.',
    given: {service: 'workers', arrivals: 'open', 'max-retries': '3'},
    may: option => QUEUE.has(option.name),
    said: `Only the service\u2019s queue and what it turns away (${[...QUEUE].join(', ')}). Not the workers, and not the clients.`,
    goals: [hardlyCollapses, backWithin(10), successAbove(0.84)],
    solution: {service: 'workers', arrivals: 'open', 'max-retries': '3', 'queue-order': 'lifo'},
  },
  {
    id: 'deploy',
    title: 'A deploy and a thundering herd',
    story: 'For 20 s every connection is refused. Refusals are quick, so a thousand clients retry ten times a second each, and all of them come back at once when the workers are up again.',
    given: {outage: 'drop', service: 'workers'},
    may: isOfRetries,
    said: retriesSaid,
    goals: [hardlyCollapses, attemptsUpTo(1.5), successAbove(0.999)],
    solution: {outage: 'drop', service: 'workers', strategy: 'truncated'},
  },
  {
    id: 'throttled',
    title: 'A throttled job',
    story: 'Workers write to a table that throttles them and whose capacity grows late. With three retries the job ends early, but two thirds of its calls fail.',
    given: {
      arrivals: 'job', strategy: 'aws-dynamodb', 'outage-for': '0s', tasks: '40', calls: '500', 'workers-start': '2s',
      'rate-limit': '50', 'rate-burst': '30s', 'throttle-status': '400', autoscale: 'target-tracking',
    },
    may: isOfRetries,
    said: retriesSaid.replace('load', 'job'),
    goals: [successAbove(0.999), attemptsUpTo(1.1), doneWithin(360)],
    get solution() {
      return {...this.given, strategy: 'aws-adaptive'};
    },
  },
];

// 'solved', 'open' (not known yet) or 'unsolved', from the results of the goals.
export function stateOf(judged) {
  if (judged.every(({met}) => met === true)) return 'solved';
  return judged.some(({met}) => met === false) ? 'unsolved' : 'open';
}

// The names of options that were changed although they must not be. Compares the values in force now
// with those at the start. A value that is given neither now nor at the start follows from others.
export function turnedThough(challenge, options, given, values, start) {
  const isGiven = ({name, second_names: others = []}) =>
    [name, ...others].some(each => each in given || each in challenge.given);
  return options
    .filter(option => !challenge.may(option) && isGiven(option) && values[option.name] !== start[option.name])
    .map(({name}) => name);
}
