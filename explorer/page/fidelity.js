// How accurate it is: what is modelled, what is not, and what the model has been compared with.
import {find, make} from './dom.js';

const MODELLED = [
  'Each client: its think times, attempts, timeouts and retries, and what clients of one process share. The retry policies are the code of the real client.',
  'The kernel\u2019s accept queue, and the SYNs that it drops and Linux sends again.',
  'Connections: a new one for each attempt, or a pool of them that each process keeps, each for one attempt at a time or for many (connections).',
  'The service: the curve by which it slows down or its workers and their queue, limits, shedding, rate limit and autoscaler. This is the code of the real server. After a freeze it continues where it stopped, also with requests whose clients have hung up.',
];
const NOT_MODELLED = [
  'HTTP/2 (connections=multiplexed) has no priorities and no flow control.',
  'Networks and processors take no time (except 100 \u00b5s for a client that retries without any wait).',
  'There is no cache, and what picks a host of several (replicas) takes no time.',
  'A service holds 20,000 connections at most unless max-connections says otherwise; a real one as many as its machine allows.',
  'abandoned=cancel exists only in the simulator: no measurement confirms it.',
];

// A table of a document, included when the page was made: [head, ...rows], each an array of texts.
const part = (of, id) => JSON.parse(find(id).textContent)[of];
const plain = text => text.replaceAll('`', '');

function table(name, [head, ...rows], className) {
  return make('div', {className: 'scroll fidelity-scroll', tabIndex: 0, role: 'group', 'aria-label': name},
    make('table', {className}, make('thead', {}, make('tr', {}, ...head.map(text => make('th', {scope: 'col'}, plain(text))))),
      make('tbody', {}, ...rows.map(row => make('tr', {}, ...row.map(text => make('td', {}, plain(text))))))));
}

export function mountFidelity() {
  const validation = part('validation', 'fidelity-tables'), engines = part('engines', 'fidelity-tables');
  const agree = validation.slice(1).filter(row => row.at(-1) === 'yes').length;
  const list = texts => make('ul', {}, ...texts.map(text => make('li', {}, text)));
  const same = engines.slice(1).length;
  const details = (summary, about, ...nodes) => make('details', {}, make('summary', {}, summary), make('p', {className: 'muted'}, about), ...nodes);
  find('fidelity').append(make('h2', {}, 'How accurate it is'),
    make('p', {}, 'This page runs the simulator of the command line, compiled to WebAssembly: the same bytes for the same seed. It is a model of one service and its clients, not of your system: trust the shape of its results, and test borderline cases with the real programs.'),
    make('div', {className: 'fidelity-lists'},
      make('div', {}, make('h3', {}, 'Modelled'), list(MODELLED)), make('div', {}, make('h3', {}, 'Not modelled'), list(NOT_MODELLED))),
    details(`Compared with theory: ${agree} of ${validation.length - 1} cases agree`,
      'Closed forms and published figures, ten seeds each (scripts/validate; docs/validation-sources.csv names the sources).',
      table('Cases compared with theory', validation, 'fidelity-validation')),
    details(`Compared with the real programs: ${same} settings, the same verdict in both`,
      'The largest difference of a rate in any window of 5 s, except the two in which the outage begins and ends, in percent of the OK/s before it. Beside it, for comparison, how far simulated runs differ from each other when answers take up to 1 ms longer (docs/simulator.md).',
      table('Real and simulated runs', engines, 'fidelity-engines')));
}
