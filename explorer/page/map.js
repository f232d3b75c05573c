// A map of two options: how often the service stays down. All other options keep their values.
import {beside, chosen, islandOf, isCoarse} from './axes.js';
import {css, find, grouped, make, paint} from './dom.js';
import {add, cellInWords, decided, interval, newCells, nextStep, share} from './down.js';
import {place} from './durations.js';
import {heat, heatText, onScheme} from './heat.js';
import {PARTS} from './knobs.js';
import {settingKey} from './link.js';
import {Dropped} from './pool.js';
import {seedsAfter} from './seeds.js';

const GROUP = 'map';
const COLUMNS = 12, ROWS = 10;
// Pairs that tell much, with their names. The first one is drawn when the map comes into sight.
const PAIRS = [
  ['How long, and how many wait', 'outage-for', 'backlog'],
  ['How many, and how patient', 'clients', 'timeout'],
  ['How soon, and how often', 'backoff-base', 'max-retries'],
  ['How long, and how much it takes on', 'outage-for', 'shed-above'],
];
const USUAL = {x: PAIRS[0][1], y: PAIRS[0][2]};
const LEFT = 92, BOTTOM = 42, TOP = 6, RIGHT = 8, ROW = 30; // pixels

class RetryMap {
  constructor(app) {
    this.app = app;
    this.drawn = null; // {x, y, xs, ys, given, seed, cells}
    this.at = null; // the cell with the reader's cursor
    this.running = 0;
    this.stopped = true;
    this.x = make('select', {id: 'map-x', onchange: () => this.choose()});
    this.y = make('select', {id: 'map-y', onchange: () => this.choose()});
    this.pairs = make('div', {className: 'map-controls', role: 'group', 'aria-label': 'Pairs'}, ...PAIRS.map(([name, x, y]) =>
      make('button', {type: 'button', className: 'map-pair', dataset: {x, y}, onclick: () => this.takePair(x, y)}, name)));
    this.island = make('p', {className: 'map-island', role: 'status'});
    this.start = make('button', {type: 'button', id: 'map-draw', onclick: () => this.begin()}, 'Draw the map');
    this.stop = make('button', {type: 'button', id: 'map-stop', hidden: true, onclick: () => this.end()}, 'Stop');
    this.progress = make('p', {className: 'muted', role: 'status'});
    this.canvas = make('canvas', {id: 'map-canvas', tabIndex: 0, role: 'application', hidden: true});
    this.tip = make('p', {className: 'map-tip', 'aria-live': 'polite'});
    this.legend = make('div', {className: 'map-legend', hidden: true});
    this.table = make('table');
    this.details = make('details', {hidden: true}, make('summary', {}, 'The map as a table'),
      make('div', {className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': 'Table of the map'}, this.table));
    find('map').append(make('h2', {}, 'A map of two knobs'),
      make('p', {className: 'muted'}, 'How often the service stays down, for the values of two options. All other options keep their values.'),
      this.pairs, make('div', {className: 'map-controls'},
        make('label', {htmlFor: 'map-x'}, 'across'), this.x, make('label', {htmlFor: 'map-y'}, 'up'), this.y, this.start, this.stop),
      this.island, this.progress, this.canvas, this.legend, this.tip, this.details);
    this.canvas.addEventListener('pointermove', event => this.go(this.cellAt(event)));
    this.canvas.addEventListener('click', event => this.take(this.cellAt(event)));
    this.canvas.addEventListener('keydown', event => this.key(event));
    this.details.addEventListener('toggle', () => this.fill());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    onScheme(() => this.draw());
    app.on('painted', () => {
      this.show();
      this.restore();
    });
    // In sight it draws itself, once the statistics of the setting are there.
    app.on('many', () => this.drawInSight());
    new IntersectionObserver(entries => {
      this.isInSight = entries.at(-1).isIntersecting;
      this.drawInSight();
    }).observe(find('map'));
  }

  // The options for an axis: those that have an effect now.
  axes() {
    const {app} = this;
    return app.catalogue.options.filter(({name, stops, choices, same_as}) =>
      !same_as && (stops?.length > 1 || choices) && (!app.description.unused[name] || name in app.state.given));
  }

  show() {
    const axes = this.axes(), names = axes.map(({name}) => name);
    for (const pair of this.pairs.children) pair.disabled = ![pair.dataset.x, pair.dataset.y].every(each => names.includes(each));
    const groups = grouped(axes, ({part}) => part), titles = new Map(PARTS);
    const wanted = this.app.state.map ?? USUAL;
    for (const [axis, select] of [['x', this.x], ['y', this.y]]) {
      const now = select.value || wanted[axis];
      select.replaceChildren(...[...groups].map(([part, options]) =>
        make('optgroup', {label: titles.get(part)}, ...options.map(({name}) => make('option', {value: name}, name)))));
      select.value = this.app.state.map?.[axis] ?? now;
      if (!select.value) select.value = USUAL[axis];
    }
    this.draw();
  }

  drawInSight() {
    const {app} = this;
    if (this.isInSight && !app.behind && app.ours.many && app.value('outage-for') !== '0s' && !(this.drawn && this.isPresent()) && !this.pairs.firstElementChild.disabled) this.begin(false);
  }

  takePair(x, y) {
    this.x.value = x;
    this.y.value = y;
    this.begin();
  }

  // A map from a link is drawn at once.
  restore() {
    const {map} = this.app.state;
    if (map && !this.drawn) this.begin();
    this.tellAge();
  }

  choose() {
    if (this.app.state.map) this.remember();
  }

  remember() {
    this.app.state.map = {x: this.x.value, y: this.y.value};
    this.app.tell('state');
  }

  values(name, most) {
    const {app} = this, option = app.option(name);
    if (option.choices) return option.choices;
    return chosen(option.stops, most, app.value(name), place(option, app.value(name)));
  }

  // `asked`: by the reader, and so kept in the link.
  begin(asked = true) {
    const {app} = this, x = this.x.value, y = this.y.value;
    if (x === y) {
      this.progress.textContent = 'A map needs two different options.';
      return;
    }
    if (asked) this.remember();
    app.pool.drop(GROUP);
    const xs = this.values(x, COLUMNS), ys = this.values(y, ROWS);
    this.drawn = {x, y, xs, ys, given: {...app.state.given}, seed: app.state.seed, cells: newCells(xs.length * ys.length)};
    this.at = null;
    this.stopped = false;
    this.canvas.hidden = this.legend.hidden = this.details.hidden = false;
    this.canvas.style.height = `${ys.length * ROW + TOP + BOTTOM}px`;
    this.work();
  }

  end() {
    this.stopped = true;
    this.app.pool.drop(GROUP);
    this.draw();
  }

  given(index) {
    const {x, y, xs, ys, given} = this.drawn;
    return {...given, [x]: xs[index % xs.length], [y]: ys[Math.floor(index / xs.length)]};
  }

  next() {
    const {cells, xs, ys} = this.drawn;
    return nextStep(cells, index => beside(index, xs.length, ys.length), index => isCoarse(index, xs.length, ys.length));
  }

  // Asks as many questions at a time as there are spare threads.
  work() {
    const {drawn, app} = this;
    while (!this.stopped && this.running < Math.max(app.pool.size - 1, 1)) {
      const step = this.next();
      if (!step) break;
      ++this.running;
      this.compute(drawn, step).finally(() => {
        --this.running;
        this.draw();
        this.work();
      });
    }
    if (!this.stopped && this.running === 0) this.stopped = true;
    this.draw();
  }

  async compute(drawn, {index, count}) {
    const cell = drawn.cells[index];
    cell.asked = true;
    try {
      const seeds = seedsAfter(drawn.seed, cell.count, count);
      add(cell, (await this.app.pool.ask({ask: 'batch', given: this.given(index), seeds}, {order: 4, group: GROUP})).results);
    } catch (error) {
      if (!(error instanceof Dropped)) cell.refused = error.message;
    } finally {
      cell.asked = false;
    }
  }

  scale() {
    const {xs, ys} = this.drawn, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    const step = (width - LEFT - RIGHT) / xs.length, row = (height - TOP - BOTTOM) / ys.length;
    return {width, height, step, row,
      left: column => LEFT + column * step,
      top: line => height - BOTTOM - (line + 1) * row}; // values increase upwards
  }

  cellAt(event) {
    const {xs, ys} = this.drawn, {step, row, height} = this.scale();
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - LEFT) / step), line = Math.floor((height - BOTTOM - (event.clientY - box.top)) / row);
    return column >= 0 && column < xs.length && line >= 0 && line < ys.length ? line * xs.length + column : null;
  }

  key(event) {
    if (!this.drawn) return;
    const {xs, ys} = this.drawn;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.take(this.at);
      return;
    }
    const by = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    if (!by) return;
    event.preventDefault();
    const from = this.at ?? this.here() ?? 0;
    const column = Math.min(Math.max(from % xs.length + by[0], 0), xs.length - 1);
    const line = Math.min(Math.max(Math.floor(from / xs.length) + by[1], 0), ys.length - 1);
    this.go(line * xs.length + column);
  }

  name(index) {
    const {x, y, xs, ys} = this.drawn;
    return `${x} ${xs[index % xs.length]}, ${y} ${ys[Math.floor(index / xs.length)]}`;
  }

  async go(index) {
    if (index === this.at) return;
    this.at = index;
    this.draw();
    if (index === null) {
      this.tip.textContent = '';
      return;
    }
    const cell = this.drawn.cells[index];
    const between = share(cell) === null ? null : await interval(this.app, cell).catch(() => null);
    if (this.at === index) this.tip.textContent = `${this.name(index)}: ${cellInWords(cell, between)}. Click, or press Enter, to go there.`;
  }

  take(index) {
    if (index === null || !this.drawn) return;
    const {x, y} = this.drawn, given = this.given(index);
    this.app.replace({...this.app.state.given, [x]: given[x], [y]: given[y]});
  }

  // The cell of the current setting, if it is on the map.
  here() {
    const {x, y, xs, ys} = this.drawn, {app} = this;
    const column = xs.indexOf(app.value(x)), line = ys.indexOf(app.value(y));
    return column >= 0 && line >= 0 && this.isPresent() ? line * xs.length + column : null;
  }

  // True if nothing but the two options has changed since the map was drawn.
  isPresent() {
    const {x, y, given, seed} = this.drawn, {state} = this.app;
    return seed === state.seed && settingKey(given, x, y) === settingKey(state.given, x, y);
  }

  tellAge() {
    if (!this.drawn) return;
    const {cells} = this.drawn;
    const known = cells.filter(({count, refused}) => count > 0 || refused !== null).length;
    const runs = cells.reduce((sum, {count}) => sum + count, 0);
    const state = this.stopped ? this.next() ? 'stopped' : 'done' : 'computing';
    const island = this.islandInWords();
    if (this.island.textContent !== island) this.island.textContent = island;
    for (const pair of this.pairs.children) {
      const {x, y} = this.drawn;
      pair.setAttribute('aria-pressed', String(pair.dataset.x === x && pair.dataset.y === y));
    }
    const age = this.isPresent() ? '' : ' It shows an earlier setting: draw it again for the present one.';
    const text = `${known} of ${cells.length} cells, ${runs} runs, ${state}.${age}`;
    if (this.progress.textContent !== text) this.progress.textContent = text;
    this.stop.hidden = this.stopped;
    this.canvas.dataset.state = state;
  }

  // Where the middle is worse than both ends: in the widest such row.
  islandInWords() {
    const {x, y, xs, ys, cells} = this.drawn;
    const found = ys.map((_, line) => islandOf(cells.slice(line * xs.length, (line + 1) * xs.length).map(share)));
    const width = each => each ? each[1] - each[0] + 1 : 0;
    const line = found.reduce((best, each, i) => width(each) > width(found[best]) ? i : best, 0), island = found[line];
    if (!island) return '';
    const [from, to] = island;
    return `With ${y} ${ys[line]} the middle is worse than both ends: it stays down for ${x} from ${xs[from]} to ${xs[to]}, and comes back below ${xs[from]} and from ${xs[to + 1]} on.` +
      (x === 'outage-for' && this.app.value('growth') === 'exponential' ? ' In a longer outage its clients have backed off.' : '');
  }

  draw() {
    if (!this.drawn || this.canvas.hidden) return;
    const {x, y, xs, ys, cells} = this.drawn;
    const {context, width, height} = paint(this.canvas), {step, row, left, top} = this.scale();
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.textAlign = 'center';
    cells.forEach((cell, index) => {
      const column = index % xs.length, line = Math.floor(index / xs.length), known = share(cell);
      context.fillStyle = known === null ? css('--grid') : heat(known);
      context.globalAlpha = known === null ? 0.4 : 1;
      context.fillRect(left(column) + 1, top(line) + 1, step - 2, row - 2);
      context.globalAlpha = 1;
      if (known !== null && step > 34) {
        context.fillStyle = heatText(known);
        context.fillText(`${cell.down}/${decided(cell)}`, left(column) + step / 2, top(line) + row / 2);
      } else if (known === null && (cell.count > 0 || cell.refused !== null)) {
        context.fillStyle = css('--muted');
        context.fillText(cell.refused !== null ? '×' : '?', left(column) + step / 2, top(line) + row / 2);
      }
    });
    // Marks the current setting and the reader's cursor.
    const frame = (index, colour, lineWidth) => {
      context.strokeStyle = colour;
      context.lineWidth = lineWidth;
      context.strokeRect(left(index % xs.length) + 1.5, top(Math.floor(index / xs.length)) + 1.5, step - 3, row - 3);
    };
    const here = this.here();
    if (here !== null) frame(here, css('--text'), 3);
    if (this.at !== null) frame(this.at, css('--accent'), 2);
    context.fillStyle = css('--text');
    // Leaves out values for which there is no room.
    const widest = Math.max(...xs.map(text => context.measureText(text).width)) + 6;
    const every = Math.max(1, Math.ceil(widest / step));
    xs.forEach((text, i) => i % every === 0 && context.fillText(text, Math.min(left(i) + step / 2, width - context.measureText(text).width / 2), height - BOTTOM + 12));
    context.textAlign = 'right';
    ys.forEach((text, i) => context.fillText(text, LEFT - 6, top(i) + row / 2, LEFT - 8));
    context.fillStyle = css('--muted');
    context.textAlign = 'center';
    context.fillText(`${x} →     ${y} ↑`, (LEFT + width) / 2, height - 10);
    const worst = cells.filter(cell => share(cell) >= 0.5).length, known = cells.filter(cell => share(cell) !== null).length;
    this.canvas.setAttribute('aria-label', `Map of ${x}, across, and ${y}, up: ${worst} of ${known} cells stay down in half of their runs or more. The arrow keys go from cell to cell.`);
    this.legend.replaceChildren('stays down in ', ...[0, 0.25, 0.5, 0.75, 1].map(each => {
      const mark = make('span', {}, `${100 * each} %`);
      mark.style.background = heat(each);
      mark.style.color = heatText(each);
      return mark;
    }), ' of the runs; ? still recovering or undecided, × refused. The frame marks the present setting.');
    this.tellAge();
    this.fill();
  }

  fill() {
    if (!this.details.open || !this.drawn) return;
    const {x, y, xs, ys, cells} = this.drawn;
    this.table.replaceChildren(
      make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, `${y} \\ ${x}`), ...xs.map(text => make('th', {scope: 'col'}, text)))),
      make('tbody', {}, ...ys.map((text, line) => make('tr', {}, make('th', {scope: 'row'}, text),
        ...xs.map((_, column) => {
          const cell = cells[line * xs.length + column];
          return make('td', {}, share(cell) === null ? cell.recovering > 0 ? 'recovering' : cell.count > 0 ? 'undecided' : '–' : `${cell.down} of ${decided(cell)}`);
        })))));
  }
}

export function mountMap(app) {
  app.map = new RetryMap(app);
}
