// The options, and the actions of a run, in the words of those who run services. The options' names are shown
// beside them.

const WORDS = {
  strategy: 'How clients retry', 'max-attempts': 'Attempts per request', 'max-retries': 'Retries per request',
  timeout: 'An attempt is given up after', clients: 'How many clients', 'outage-for': 'The outage lasts',
  arrivals: 'How requests come', rate: 'Requests per second', lambda: 'A client thinks for', processes: 'Client processes',
  deadline: 'A request is given up after', growth: 'How the waits grow', 'backoff-base': 'The first wait (backoff)', 'backoff-factor': 'Each wait is longer by a factor of',
  'backoff-cap': 'The longest wait', jitter: 'Randomness of the waits', 'retry-on': 'What is retried', 'retry-after': 'The server’s hint how long to wait',
  breaker: 'Circuit breaker', throttle: 'Clients throttle themselves', 'retry-budget': 'Retry budget', 'retry-switch': 'No retries while more than this fails', 'when-refused': 'When it may not send',
  service: 'Kind of service', 'base-delay': 'A request takes', limit: 'It slows down above', k: 'Again with every further', 'curve-factor': 'Each time by a factor of',
  workers: 'Workers', 'service-time': 'A request takes', 'queue-length': 'Places in the queue', 'queue-order': 'Who is next in the queue', 'queue-drop': 'Dropped from the queue',
  backlog: 'Connections that may wait', accepts: 'It accepts', 'max-connections': 'Connections, at most', 'shed-above': 'It turns requests away above',
  'rate-limit': 'Requests let in per second', abandoned: 'Requests whose clients have gone', 'error-share': 'Share of errors',
  'reconnect-growth': 'How the waits to connect grow', 'reconnect-base': 'The first wait to connect',
  'reconnect-jitter': 'Randomness of the waits to connect', 'reconnect-calls': 'A connect is so many requests',
  chain: 'Services behind services', waiting: 'A worker that calls', 'retry-at': 'Who retries', 'deadline-propagation': 'What a call carries as its deadline',
  replicas: 'Hosts', picker: 'Who picks a host', balance: 'How a host is picked', 'retry-host': 'The host of a retry', eject: 'Hosts that fail get no traffic', panic: 'All get traffic where fewer are left',
  probe: 'A probe asks each host', 'probe-does': 'When its probe fails', 'host-start': 'A host starts for', 'outage-replicas': 'Hosts that it hits',
  'outage-of': 'Which service it happens to', 'on-failure': 'When calls at once have failed',
  outage: 'What happens', 'outage-at': 'The outage begins at', observe: 'Watched afterwards for', at: 'Remedies', scale: 'Everything times', 'time-limit': 'The run ends after',
};

// `ofOne`: of one service among several.
export function wordsOf(name, ofOne = false) {
  const words = ofOne && name === 'calls' ? 'It calls' : WORDS[name] ?? name.replaceAll('-', ' ');
  return words[0].toUpperCase() + words.slice(1);
}

// A sentence of the command line in the words of the page, which has options without dashes, and no threads.
export const asOnPage = text => text && text[0].toUpperCase() + text.slice(1).replace(/,( [^,]*) or fewer --threads/, ' or$1').replaceAll(/--(?=[a-z])/g, '');

const UNLIMITED = new Set(['max-attempts', 'max-retries', 'timeout', 'deadline', 'backoff-cap', 'retry-after-max', 'reconnect-cap', 'queue-length', 'pool-size']);
const ZERO = {'rate-limit': 'no limit', 'max-connections': 'no limit', 'shed-above': 'never'};

export const NO_LIMIT = 'no limit';

// A value as it is shown: "none" attempts would be read as no attempt.
export const textOf = (name, value) => value === 'none' && UNLIMITED.has(name) ? NO_LIMIT : value;

// What a value means that looks like another one: "none attempts". Null for all others.
export const meaningOf = (name, value) => value === 'none' && UNLIMITED.has(name) ? NO_LIMIT : value === '0' ? ZERO[name] ?? null : null;

// The reader's words for an action.
export function actionText(action) {
  const set = /^set ([^=]+)=(.*)$/.exec(action);
  if (set) return set[1] === 'shed-above' ? `shed above ${set[2]}` : `set ${set[1]} to ${set[2]}`;
  return {restart: 'restart', 'load 0.5': 'half the load', 'capacity 2': 'twice the capacity'}[action] ?? action;
}
