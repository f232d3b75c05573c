// The challenges: settings that go wrong, and what would be right. Nothing of the page is needed to
// judge them, so that the tests solve each.

// Seeds after which a goal that is not met counts as missed.
export const ENOUGH = 100;

// A goal: {name, wanted, judge(cell) -> {met: true | false | null, low, high, value}}. It is met when
// the 95 % interval says so, missed when it says the contrary, and not known in between; with all the
// seeds there are, what is not met is missed.
const decide = (met, missed, cell) => met ? true : missed || cell.runs >= ENOUGH ? false : null;
const number = (value, digits) => value === null || value === undefined ? '–' : value.toFixed(digits);
const percent = (share, digits) => `${number(100 * share, digits)} %`;

export const hardlyCollapses = {
  name: 'P(collapse) under 5 %',
  judge: cell => ({
    met: decide(cell.collapsed_high < 0.05, cell.collapsed_low > 0.05, cell),
    figure: `${cell.collapsed} of ${cell.runs} collapse: up to ${percent(cell.collapsed_high, 1)}`,
  }),
};

// Half of the runs at least: the median, with its interval. Its ends are null where they fall on runs
// in which it never happened, and where there are fewer than six runs.
const half = (seconds, {median, low, high}, cell, otherwise) => ({
  met: decide(high !== null && high <= seconds, cell.runs >= 6 && (low === null || low > seconds), cell),
  figure: median === null ? otherwise
    : `median ${number(median, 0)} s` + (low === null ? '' : `, ${number(low, 0)} to ${high === null ? 'never' : number(high, 0)}`),
});

export const backWithin = seconds => ({
  name: `Back within ${seconds} s`,
  judge: cell => half(seconds, {median: cell.recovery_median_s, low: cell.recovery_low_s, high: cell.recovery_high_s}, cell,
    `${cell.recovered} of ${cell.runs} recover`),
});

export const doneWithin = seconds => ({
  name: `The job is done within ${seconds} s`,
  judge: cell => half(seconds, {median: cell.makespan_median_s, low: cell.makespan_low_s, high: cell.makespan_high_s}, cell, 'not done'),
});

export const attemptsUpTo = most => ({
  name: `At most ${most} attempts a request`,
  judge: cell => ({
    met: decide(cell.amplification_high !== null && cell.amplification_high <= most, cell.amplification_low > most, cell),
    figure: `${number(cell.amplification, 3)} (${number(cell.amplification_low, 3)} to ${number(cell.amplification_high, 3)})`,
  }),
});

// "99.9 %" in the digits that it was given with.
export const successAbove = share => ({
  name: `Success above ${+(100 * share).toFixed(6)} %`,
  judge: cell => ({
    met: decide(cell.success_share_low !== null && cell.success_share_low >= share,
      cell.success_share_high !== null && cell.success_share_high < share, cell),
    figure: `${percent(cell.success_share, 2)} (${percent(cell.success_share_low, 2)} to ${percent(cell.success_share_high, 2)})`,
  }),
});

// What may be turned: by the options' part and group, as the catalogue has them.
const retries = option => option.part === 'clients' && !/^(Clients|Job)/.test(option.group);
const retriesSaid = 'Only how the clients retry: their strategy, or its parts. Not how many there are, what they want, their timeout, the service, nor what befalls it.';
const QUEUE = new Set(['queue-order', 'queue-drop', 'queue-length', 'shed-above', 'rate-limit', 'rate-burst']);

// {id, title, story, given, may(option), said, goals, solution}: `solution` is a setting that meets
// them, for the tests.
export const CHALLENGES = [
  {
    id: 'freeze',
    title: 'Come back from a freeze',
    story: 'A fixed wait of 100 ms between retries. After 20 s of freeze the service is held down for good, though nothing is broken any more.',
    given: {},
    may: retries,
    said: retriesSaid,
    goals: [hardlyCollapses, backWithin(10)],
    solution: {strategy: 'exponential'},
  },
  {
    id: 'blip',
    title: 'Lose nothing in a blip',
    story: 'The service freezes for 5 s, and requests keep coming, 100 a second. With the budget of gRPC there is no storm, but of a hundred requests five fail.',
    given: {strategy: 'grpc', arrivals: 'open', 'outage-for': '5s'},
    may: retries,
    said: retriesSaid,
    goals: [hardlyCollapses, backWithin(30), attemptsUpTo(1.2), successAbove(0.999)],
    solution: {strategy: 'truncated', arrivals: 'open', 'outage-for': '5s'},
  },
  {
    id: 'backlog',
    title: 'Out of the backlog',
    story: 'Twenty workers serve a queue, oldest first. Requests are given up after three retries, and yet the queue never gets short again: by the time it is a request\u2019s turn, nobody waits for the answer.',
    given: {service: 'workers', arrivals: 'open', 'max-retries': '3'},
    may: option => QUEUE.has(option.name),
    said: `Only the service\u2019s queue and what it turns away (${[...QUEUE].join(', ')}). Not the workers, nor the clients.`,
    goals: [hardlyCollapses, backWithin(10), successAbove(0.84)],
    solution: {service: 'workers', arrivals: 'open', 'max-retries': '3', 'queue-order': 'lifo'},
  },
  {
    id: 'deploy',
    title: 'A deploy and its herd',
    story: 'For 20 s every connection is refused. Refusals are quick, so that a thousand clients come back ten times a second, and all at once when the workers are up again.',
    given: {outage: 'drop', service: 'workers'},
    may: retries,
    said: retriesSaid,
    goals: [hardlyCollapses, attemptsUpTo(1.5), successAbove(0.999)],
    solution: {outage: 'drop', service: 'workers', strategy: 'truncated'},
  },
  {
    id: 'throttled',
    title: 'A job and its throttle',
    story: 'Workers write to a table that throttles them and whose capacity grows late. With three retries the job is done soon, and two thirds of its calls are lost.',
    given: {
      arrivals: 'job', strategy: 'aws-dynamodb', 'outage-for': '0s', tasks: '40', calls: '500', 'workers-start': '2s',
      'rate-limit': '50', 'rate-burst': '30s', 'throttle-status': '400', autoscale: 'target-tracking',
    },
    may: retries,
    said: retriesSaid.replace('what they want', 'the job'),
    goals: [successAbove(0.999), attemptsUpTo(1.05), doneWithin(360)],
    get solution() {
      return {...this.given, strategy: 'aws-adaptive'};
    },
  },
];

// 'solved', 'open' (not known yet) or 'unsolved', of what goals said.
export function stateOf(judged) {
  if (judged.every(({met}) => met === true)) return 'solved';
  return judged.some(({met}) => met === false) ? 'unsolved' : 'open';
}

// The names of options that may not be turned and were: by what is in force now and at the start.
export function turnedThough(challenge, options, values, start) {
  return options.filter(option => !challenge.may(option) && values[option.name] !== start[option.name]).map(({name}) => name);
}
