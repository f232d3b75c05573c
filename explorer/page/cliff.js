// Strips under the knobs: how often the service stays down over the whole range of one option, with
// all others as they are.
import {make, css, paint} from './dom.js';
import {add, cellInWords, interval, newCells, nextInLine, share, whereInWords} from './down.js';
import {place} from './durations.js';
import {heat, onScheme} from './heat.js';
import {settingKey} from './link.js';
import {Dropped} from './pool.js';
import {seedsAfter} from './seeds.js';

const SETTLED = 300; // milliseconds after the last change before the strips begin
const PATIENCE = 1000; // milliseconds; the longest wait for the statistics of the setting
const ENOUGH = 20; // seeds of those statistics
const REMEMBERED = 40; // settings for which a strip keeps its results

class Strip {
  constructor(strips, option) {
    this.strips = strips;
    this.app = strips.app;
    this.option = option;
    this.group = `cliff ${option.name}`;
    this.remembered = new Map(); // by the setting without this option: {cells, idle}
    this.current = null;
    this.isVisible = false;
    this.shown = null; // the cell of the tooltip
    this.canvas = make('canvas', {id: `cliff-${option.name}`, className: 'cliff-strip', role: 'img'});
    this.words = make('p', {className: 'cliff-words muted', hidden: true});
    this.tip = make('p', {className: 'cliff-tip', hidden: true});
    this.tip.setAttribute('aria-hidden', 'true');
    this.element = make('div', {className: 'cliff'}, this.canvas, this.words, this.tip);
    this.canvas.addEventListener('pointermove', event => this.tell(this.indexAt(event)));
    this.canvas.addEventListener('pointerleave', () => this.tell(null));
    this.canvas.addEventListener('click', event => {
      this.app.change({[option.name]: option.stops[this.indexAt(event)]});
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
    onScheme(() => this.draw());
  }

  // The knob that contains the strip.
  get knob() {
    return this.element.closest('.knob') ?? this.element;
  }

  // Aligned with the slider above: stops are where the middle of its thumb can be.
  scale() {
    const width = this.canvas.clientWidth;
    const thumb = parseFloat(getComputedStyle(this.element).getPropertyValue('--thumb')) || 16;
    const step = (width - thumb) / Math.max(this.option.stops.length - 1, 1);
    return {width, step, middle: index => thumb / 2 + index * step};
  }

  indexAt(event) {
    const {middle, step} = this.scale();
    const index = Math.round((event.clientX - this.canvas.getBoundingClientRect().left - middle(0)) / step);
    return Math.min(Math.max(index, 0), this.option.stops.length - 1);
  }

  // Why there is nothing to compute, or null.
  idle() {
    if (this.app.value('arrivals') === 'job') return 'no strip for a job: see how long it takes';
    return this.current?.idle ?? null;
  }

  // Switches to the current setting, with the results known for it.
  take() {
    const {given, seed} = this.app.state;
    const key = `${settingKey(given, this.option.name)} ${seed}`;
    const known = this.remembered.get(key);
    if (!known || known !== this.current) {
      this.app.pool.drop(this.group);
      this.current = known ?? {cells: newCells(this.option.stops.length), idle: undefined};
      this.remembered.delete(key);
      this.remembered.set(key, this.current);
      if (this.remembered.size > REMEMBERED) this.remembered.delete(this.remembered.keys().next().value);
    }
    this.draw();
  }

  next() {
    if (!this.current || this.idle()) return null;
    if (this.current.idle === undefined) return this.current.looking ? null : {phase: -1};
    return nextInLine(this.current.cells);
  }

  async compute({index, count, phase}) {
    const {current, app, option} = this;
    const {given, seed} = app.state;
    const as = stop => ({...given, [option.name]: stop});
    // Coarse cells come before the last seeds of the statistics, other cells after them.
    const ask = question => app.pool.ask(question, {order: phase <= 0 ? 1.5 : 3, group: this.group});
    if (phase < 0) {
      current.looking = true;
      try {
        const other = option.stops.find(stop => stop !== app.value(option.name));
        const {unused} = await ask({ask: 'describe', given: as(other), seed});
        current.idle = unused[option.name] ?? null;
      } finally {
        current.looking = false;
      }
    } else {
      const cell = current.cells[index];
      cell.asked = true;
      try {
        const seeds = seedsAfter(seed, cell.count, count);
        add(cell, (await ask({ask: 'batch', given: as(option.stops[index]), seeds})).results);
      } catch (error) {
        if (error instanceof Dropped) throw error;
        cell.refused = error.message;
      } finally {
        cell.asked = false;
      }
    }
    if (current === this.current) this.draw();
  }

  draw() {
    if (!this.current || !this.element.isConnected) return;
    const idle = this.idle();
    this.canvas.hidden = idle !== null;
    this.words.hidden = idle === null;
    this.words.textContent = idle ?? '';
    if (idle !== null) {
      this.tip.hidden = true;
      return;
    }
    const {cells} = this.current, {stops, name} = this.option;
    const {context, width, height} = paint(this.canvas);
    const {middle, step} = this.scale();
    const bottom = height - 5; // below it: the mark of the value
    for (const [i, cell] of cells.entries()) {
      const from = i === 0 ? 0 : Math.round(middle(i) - step / 2);
      const to = i === cells.length - 1 ? width : Math.round(middle(i) + step / 2);
      const known = share(cell);
      context.fillStyle = known === null ? css('--grid') : heat(known);
      context.globalAlpha = known === null ? 0.55 : 1;
      context.fillRect(from, 0, to - from, bottom);
      context.globalAlpha = 1;
      if (cell.refused !== null || cell.count > 0 && known === null) hatch(context, from, to, bottom);
    }
    const at = place(this.option, this.app.value(name));
    if (at !== null) {
      const x = middle(at);
      context.fillStyle = css('--text');
      context.strokeStyle = css('--panel');
      context.lineWidth = 1;
      context.strokeRect(x - 1.5, -1, 3, bottom + 1);
      context.fillRect(x - 1, 0, 2, bottom);
      context.beginPath();
      context.moveTo(x, bottom - 3);
      context.lineTo(x - 5, height);
      context.lineTo(x + 5, height);
      context.fill();
    }
    const words = whereInWords(stops, cells);
    const isWhole = this.next() === null && cells.every(cell => !cell.asked);
    this.canvas.setAttribute('aria-label',
      `${name} from ${stops[0]} to ${stops.at(-1)}: ${words || 'computing'}${words && !isWhole ? ', so far' : ''}`);
    this.canvas.dataset.whole = isWhole ? 'yes' : 'no';
    if (this.shown !== null) this.tell(this.shown);
  }

  async tell(index) {
    this.shown = index;
    this.tip.hidden = index === null || this.canvas.hidden || !this.current;
    if (this.tip.hidden) return;
    const cell = this.current.cells[index];
    const say = between => {
      this.tip.textContent = `${this.option.name} ${this.option.stops[index]}: ${cellInWords(cell, between)}`;
      const {width, middle} = this.scale();
      const left = middle(index) - this.tip.offsetWidth / 2;
      this.tip.style.left = `${Math.max(0, Math.min(left, width - this.tip.offsetWidth))}px`;
    };
    if (share(cell) === null) {
      say();
      return;
    }
    const {count} = cell;
    try {
      const between = await interval(this.app, cell);
      if (this.shown === index && cell.count === count) say(between);
    } catch {
      say();
    }
  }
}

function hatch(context, from, to, height) {
  context.save();
  context.beginPath();
  context.rect(from, 0, to - from, height);
  context.clip();
  context.strokeStyle = css('--muted');
  context.beginPath();
  for (let x = from - height; x < to; x += 5) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
  context.restore();
}

// All strips of the page. The visible ones take turns.
class Strips {
  constructor(app) {
    this.app = app;
    this.all = [];
    this.running = 0;
    this.ready = false;
    this.wanted = null; // the element under the pointer, or with the focus
    this.sight = new IntersectionObserver(entries => {
      for (const {target, isIntersecting} of entries) {
        const strip = this.all.find(each => each.element === target);
        if (strip) strip.isVisible = isIntersecting;
      }
      this.go();
    });
    app.on('description', () => { this.ready = false; });
    app.on('painted', () => this.settle());
    app.on('many', () => {
      if ((app.ours.many?.count ?? 0) >= ENOUGH) this.begin('many');
    });
    const want = ({target}) => {
      if (target instanceof Node) this.wanted = target;
      this.follow();
    };
    document.addEventListener('pointerover', want);
    document.addEventListener('focusin', want);
    document.addEventListener('focusout', () => this.follow());
    if (app.description) this.settle();
  }

  add(option) {
    const strip = new Strip(this, option);
    this.all.push(strip);
    this.sight.observe(strip.element);
    if (this.app.description) strip.take();
    return strip.element;
  }

  settle() {
    this.ready = false;
    this.waitsFor = new Set(['many', 'rest']);
    clearTimeout(this.rest);
    clearTimeout(this.enough);
    for (const strip of this.all) strip.take();
    this.follow();
    this.rest = setTimeout(() => this.begin('rest'), SETTLED);
    this.enough = setTimeout(() => {
      this.waitsFor.clear();
      this.begin();
    }, PATIENCE);
  }

  begin(what) {
    this.waitsFor?.delete(what);
    if (this.waitsFor?.size > 0) return;
    this.ready = true;
    this.go();
  }

  // A slider with the focus shows its tooltip without a pointer.
  follow() {
    const focused = document.activeElement;
    for (const strip of this.all) {
      if (strip.canvas.matches(':hover')) continue;
      const has = focused?.type === 'range' && strip.knob.contains(focused);
      const at = has ? place(strip.option, this.app.value(strip.option.name)) : null;
      if (at !== null || strip.shown !== null) strip.tell(at === null ? null : Math.round(at));
    }
  }

  // The next step of all strips: one of the active knob, else the coarsest one.
  next() {
    let best = null;
    for (const strip of this.all) {
      if (!strip.isVisible || !strip.element.isConnected) continue;
      const step = strip.next();
      if (!step) continue;
      const rank = step.phase - (this.wanted && strip.knob.contains(this.wanted) ? 100 : 0);
      if (!best || rank < best.rank) best = {strip, step, rank};
    }
    return best;
  }

  // Few questions at a time, so that each new one is the most urgent.
  go() {
    while (this.ready && !this.app.behind && this.running < Math.max(this.app.pool.size - 1, 1)) {
      const best = this.next();
      if (!best) return;
      ++this.running;
      best.strip.compute(best.step).catch(error => {
        if (!(error instanceof Dropped)) best.strip.current.idle = error.message;
      }).finally(() => {
        --this.running;
        this.go();
      });
    }
  }
}

const ofApps = new WeakMap();

// An element to put under the slider of a numeric option, with its width and in the same parent.
export function cliff(app, option) {
  if (!ofApps.has(app)) ofApps.set(app, new Strips(app));
  return ofApps.get(app).add(option);
}
