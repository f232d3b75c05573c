// How true it is: what is modelled, what is not, and what the model has been held against.
import {find, make} from './dom.js';

const MODELLED = [
  'Each client by itself: think times, attempts, timeouts, retries and what they share in a process, with the policies of the real client, the same code.',
  'The kernel\u2019s accept queue, and SYNs that it drops and that come again as Linux repeats them.',
  'The service: the curve by which it slows down or its workers and their queue, limits, shedding, rate limit and autoscaler, with the code of the real server. A frozen one goes on where it stopped, also for clients that have long hung up.',
];
const NOT_MODELLED = [
  'Networks and processors take no time (but 100 \u00b5s for a client that comes back without any wait).',
  'Nothing but this one service is there: no load balancer, no cache, no second copy, no database behind it.',
  'A service holds 20,000 connections at most unless max-connections says otherwise; a real one as many as its machine lets it.',
  'abandoned=skip and abandoned=cancel have no real twin: nothing measured vouches for them.',
];

// A table of a document, as the page was made with it: [head, ...rows], each an array of texts.
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
  find('fidelity').append(make('h2', {}, 'How true it is'),
    make('p', {}, 'This page runs the simulator of the command line, compiled to WebAssembly: the same bytes for the same seed. It is a model of one service and its clients, not of your system: trust the shape of what it says, and try the border cases for real.'),
    make('div', {className: 'fidelity-lists'},
      make('div', {}, make('h3', {}, 'Modelled'), list(MODELLED)), make('div', {}, make('h3', {}, 'Not modelled'), list(NOT_MODELLED))),
    details(`Held against theory: ${agree} of ${validation.length - 1} cases agree`,
      'Closed forms and published figures, ten seeds each (scripts/validate; docs/validation.md tells the sources).',
      table('Cases held against theory', validation, 'fidelity-validation')),
    details(`Held against the real programs: ${same} settings, the same verdict in both`,
      'The greatest difference of a rate in any 5 s apart from the two in which the outage begins and ends, in percent of the OK/s before it; beside it how far simulated runs are apart by themselves whose answers take up to 1 ms longer (docs/simulator.md).',
      table('Real and simulated runs', engines, 'fidelity-engines')));
}
