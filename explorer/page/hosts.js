// The hosts of a service: a row of boxes, filled by their use, at one time of the run.
import {find, make} from './dom.js';
import {TimeBar} from './timebar.js';

const {minutes, number} = Retrystorm;
const MANY = 64; // boxes, from which on they are small

const WORDS = {unwell: 'failing its probe', off: 'not there'};
const wordsOf = state => WORDS[state] ?? state;

// The state of a box at a time, of those of the engine and three more: of its attempts most fail, most of its pickers have
// ejected it, or it starts again. `before`: returns the box at the earlier times.
export function stateOf([state, out, , , , attempts, failed], before) {
  if (state === 'up') return out >= 0.5 ? 'ejected' : 2 * failed > attempts ? 'failing' : state;
  return state === 'starting' && !['off', undefined].includes(before().findLast(([was]) => was !== 'starting')?.[0]) ? 'restarting' : state;
}

// The share that is in use. One without workers slows down above the `limit`.
export const useOf = ([, , busy, workers, inside], limit) => Math.min(workers > 0 ? busy / workers : inside / limit, 1);

export function inWords(box, name, state) {
  const [, out, busy, workers, inside, attempts, failed] = box;
  return `${name}: ${wordsOf(state)}, ${workers > 0 ? `${number(busy)} of ${number(workers)} workers busy` : `${number(inside)} requests in it`}` +
    (inside > busy && workers > 0 ? `, ${number(inside - busy)} wait` : '') + (out > 0 && out < 1 ? `, ejected by ${number(100 * out)} % of the processes` : '') +
    (failed > 0 ? `, ${number(attempts)} attempts sent, ${number(failed)} failed` : '');
}

export function mountHosts(app) {
  const boxes = make('div', {className: 'hosts-boxes', role: 'group'});
  const key = make('div', {className: 'hosts-key legends'}), all = find('hosts');
  const mark = (state, ...inside) => make('span', {className: `hosts-box hosts-${state}`}, ...inside);
  const title = make('strong', {}, 'Hosts');
  let hosts = null;

  function fill() {
    const {at, to} = bar.fill(), count = new Map(), limit = app.value('limit') * app.value('scale');
    boxes.setAttribute('aria-label', `The hosts at ${minutes(to)}`);
    hosts.boxes[at].forEach((box, i) => {
      const state = stateOf(box, () => hosts.boxes.slice(0, at).map(each => each[i])), element = boxes.children[i];
      const first = 1 + hosts.each * i, last = Math.min(first + hosts.each - 1, hosts.all);
      const said = inWords(box, first === last ? `host ${first}` : `hosts ${first} to ${last}`, state);
      element.className = `hosts-box hosts-${state}`;
      element.firstChild.style.height = `${100 * useOf(box, limit)}%`;
      element.title = said;
      element.setAttribute('aria-label', said);
      count.set(state, (count.get(state) ?? 0) + 1);
    });
    key.replaceChildren(...[...count].map(([state, n]) => make('span', {}, mark(state), `${wordsOf(state)}${hosts.each > 1 ? '' : ` ${n}`}`)));
  }

  const bar = new TimeBar(app, 'hosts', 'the hosts', fill);
  all.append(title, boxes, key, bar.element);
  for (const event of ['run', 'drawn']) {
    app.on(event, () => {
      ({hosts} = app.ours.drawn);
      document.documentElement.toggleAttribute('data-hosts', Boolean(hosts));
      all.hidden = !hosts;
      bar.take(hosts?.t ?? [], Infinity);
      if (!hosts) return;
      const {services} = app.description, [now] = hosts.boxes;
      title.textContent = services ? `Hosts of ${app.value('outage-of') || services.nodes.at(-1)}` : 'Hosts';
      boxes.classList.toggle('hosts-many', now.length > MANY);
      if (boxes.children.length !== now.length) {
        boxes.replaceChildren(...now.map((_, i) => {
          const box = mark('up', make('i'), String(i + 1));
          box.setAttribute('role', 'img');
          return box;
        }));
      }
      fill();
    });
  }
}
