// One time line: three charts under each other, the disturbance shaded, its edges to be moved.
import {find, make} from './dom.js';
import {bandsOf} from './bands.js';
import {valueOf} from './durations.js';
import {term} from './glossary.js';
import {onScheme} from './heat.js';

const {draw, redraw, fillTable, minutes, number, duration} = Retrystorm;

const KINDS = ['rates', 'server', 'clients'];
// Pixels beside the plots, the same for all.
const MARGIN = 58, NARROW_MARGIN = 42, NARROW = 500;
const STEP = 1, PAGE = 10; // seconds by which a key moves an edge

// A plot of the same width in all charts, and nothing of it drawn behind `until`.
const aligned = {
  id: 'aligned',
  beforeDatasetsDraw(chart, _, {until}) {
    if (!(until < Infinity)) return;
    const {ctx, chartArea: area, scales: {x}} = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, 0, Math.max(0, x.getPixelForValue(until) - area.left), area.bottom);
    ctx.clip();
  },
  afterDatasetsDraw(chart, _, {until}) {
    if (until < Infinity) chart.ctx.restore();
  },
};

export const secondsOf = (app, name) => valueOf(app.value(name)) ?? 0;

class Timeline {
  constructor(app) {
    this.app = app;
    this.until = Infinity;
    this.charts = [];
    this.edges = {};
    this.build();
    app.on('run', () => this.show());
    app.on('many', () => this.show());
    onScheme(() => this.rebuild());
    new ResizeObserver(() => this.measure()).observe(this.stage);
  }

  build() {
    this.stage = make('div', {className: 'timeline-stage'}, ...KINDS.map(kind =>
      make('figure', {className: `timeline-${kind}`},
        make('figcaption'),
        make('div', {className: 'chart'}, make('canvas', {dataset: {chart: kind}})))));
    for (const [name, label] of [['begin', 'The outage begins'], ['end', 'The outage ends']]) {
      const edge = make('div', {
        className: 'timeline-edge', hidden: true, role: 'slider', tabIndex: 0, 'aria-label': label, 'aria-orientation': 'horizontal',
        title: `${label}: drag it, or move it with the arrow keys`,
      });
      edge.addEventListener('keydown', event => this.key(event, name));
      edge.addEventListener('pointerdown', event => this.grab(event, name));
      this.edges[name] = edge;
      this.stage.append(edge);
    }
    this.note = make('span', {role: 'status'});
    const another = make('button', {type: 'button', id: 'another-seed', className: 'quiet', title: 'Another day with the same setting', onclick: () => this.takeAnotherSeed()}, 'another seed');
    this.table = make('table');
    this.details = make('details', {className: 'timeline-table'},
      make('summary', {}, 'The figures as a table'), make('div', {className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': 'Table of the run'}, this.table));
    this.details.addEventListener('toggle', () => this.fill());
    find('timeline').append(this.stage, make('p', {className: 'muted timeline-note'}, this.note, another), this.details);
  }

  rebuild() {
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
    this.show();
  }

  get end() {
    const {run} = this.app.ours;
    return run ? run.end : 0;
  }

  // What is drawn besides the run: bands of many seeds, and the pinned setting.
  extra() {
    const {ours, theirs} = this.app;
    return {
      bands: bandsOf(ours.many),
      against: theirs?.run ?? null,
    };
  }

  show() {
    const {run} = this.app.ours;
    if (!run) return;
    const extra = this.extra();
    if (this.charts.length === 0) this.draw(run, extra);
    else this.charts.forEach((chart, i) => {
      if (!this.dragged) chart.options.scales.x.max = this.xMax();
      redraw(chart, KINDS[i], run, extra);
    });
    this.note.replaceChildren(...this.words());
    this.placeEdges();
    this.fill();
  }

  xMax() {
    return Math.max(this.end, this.app.theirs?.run.end ?? 0);
  }

  words() {
    const {app} = this, {ours, theirs} = app;
    const seeds = ours.many ? `the bands hold 80 % of ${ours.many.count} seeds` : 'further seeds are on their way';
    const words = ['Lines: ', term('seed', `seed ${app.state.seed}`), `; ${seeds}.`];
    if (theirs) words.push(' Thin lines: the pinned setting, with the same seed.');
    return words;
  }

  draw(run, extra) {
    const canvases = this.stage.querySelectorAll('canvas');
    this.charts = KINDS.map((kind, i) => {
      const chart = draw(canvases[i], kind, run, {x: this.xMax()}, extra);
      const {scales} = chart.options;
      const margin = () => this.stage.clientWidth < NARROW ? NARROW_MARGIN : MARGIN;
      const fit = axis => { axis.width = margin(); };
      scales.y.afterFit = fit;
      if (scales.right) scales.right.afterFit = fit;
      else chart.options.layout = {padding: () => ({right: margin()})};
      scales.x.max = this.xMax();
      // One time line: its marks stand under the last one.
      const last = i === KINDS.length - 1;
      scales.x.title.display = last;
      scales.x.ticks.display = last;
      chart.options.onResize = () => requestAnimationFrame(() => this.measure());
      chart.config.plugins.push(aligned);
      chart.options.plugins.aligned = {until: this.until};
      chart.update('none');
      return chart;
    });
    this.measure();
  }

  // Shows the run up to a time, at once or, in so many milliseconds, little by little.
  reveal(until, within = 0) {
    cancelAnimationFrame(this.frame);
    const from = Math.min(this.until, this.end), begun = performance.now();
    const show = value => {
      this.until = value;
      for (const chart of this.charts) {
        chart.options.plugins.aligned.until = value;
        chart.draw();
      }
      this.placeEdges();
    };
    return new Promise(resolve => {
      const step = now => {
        const share = within > 0 ? Math.min((now - begun) / within, 1) : 1;
        show(share < 1 ? from + (Math.min(until, this.end) - from) * share : until);
        if (share < 1) this.frame = requestAnimationFrame(step);
        else resolve();
      };
      if (within > 0 && from < until) this.frame = requestAnimationFrame(step);
      else step(begun);
    });
  }

  // How far the plots stand from the edge of the stage. To ask for it costs a layout of the page, so
  // it is asked only when its size has changed.
  measure() {
    const [chart] = this.charts;
    if (!chart) return;
    this.shift = chart.canvas.getBoundingClientRect().left - this.stage.getBoundingClientRect().left;
    this.placeEdges();
  }

  placeEdges() {
    const [chart] = this.charts;
    const {app} = this;
    const at = secondsOf(app, 'outage-at'), length = secondsOf(app, 'outage-for');
    const there = Boolean(chart?.chartArea) && length > 0;
    for (const [name, t] of [['begin', at], ['end', at + length]]) {
      const edge = this.edges[name];
      const seen = there && t <= this.until && t <= chart.options.scales.x.max;
      edge.hidden = !seen;
      if (!seen) continue;
      edge.style.left = `${this.shift + chart.scales.x.getPixelForValue(t)}px`;
      edge.setAttribute('aria-valuenow', t);
      edge.setAttribute('aria-valuemin', name === 'begin' ? STEP : at + STEP);
      edge.setAttribute('aria-valuemax', name === 'begin' ? at + length - STEP : Math.round(this.xMax()));
      edge.setAttribute('aria-valuetext', `${number(t, t % 1 ? 1 : 0)} seconds`);
    }
  }

  // Where the outage is to begin and to end: what was asked for counts before it is in force, or keys
  // that come faster would be lost.
  wanted() {
    const {app} = this;
    const seconds = name => valueOf(app.state.given[name] ?? '') ?? secondsOf(app, name);
    const begin = seconds('outage-at');
    return {begin, end: begin + seconds('outage-for')};
  }

  // An edge moves, the other one stays.
  move(name, t) {
    const {begin, end} = this.wanted();
    const rounded = Math.round(t / STEP) * STEP;
    if (name === 'begin') {
      const at = Math.min(Math.max(rounded, STEP), end - STEP);
      if (at !== begin) this.app.change({'outage-at': `${at}s`, 'outage-for': `${end - at}s`});
    } else {
      const length = Math.max(rounded, begin + STEP) - begin;
      if (length !== end - begin) this.app.change({'outage-for': `${length}s`});
    }
  }

  key(event, name) {
    const by = {ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, PageDown: -PAGE, PageUp: PAGE}[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.move(name, this.wanted()[name] + by);
  }

  grab(event, name) {
    const edge = this.edges[name], [chart] = this.charts;
    event.preventDefault();
    edge.focus();
    edge.setPointerCapture(event.pointerId);
    this.dragged = name; // the axis does not run away from under the pointer
    let wanted = null;
    const follow = ({clientX}) => {
      const t = chart.scales.x.getValueForPixel(clientX - chart.canvas.getBoundingClientRect().left);
      if (wanted === null) {
        requestAnimationFrame(() => {
          this.move(name, wanted);
          wanted = null;
        });
      }
      wanted = t;
    };
    const release = () => {
      edge.removeEventListener('pointermove', follow);
      this.dragged = null;
      this.show();
    };
    edge.addEventListener('pointermove', follow);
    edge.addEventListener('lostpointercapture', release, {once: true});
  }

  takeAnotherSeed() {
    this.app.state.seed += 1;
    this.app.tell('state');
    this.app.compute();
  }

  fill() {
    const {run} = this.app.ours;
    if (!this.details.open || !run) return;
    const {series} = run;
    const every = Math.max(1, Math.ceil(series.ok.length / 60));
    const rows = series.ok.map((_, i) => i).filter(i => i % every === 0);
    // The server's intervals end when the clients' do.
    const near = (name, t) => series[name].find(point => Math.abs(point.x - t) <= 1)?.value;
    const ends = series.amplification.map(({x}) => x);
    fillTable(this.table, [
      ['time', i => minutes(ends[i])],
      ['OK/s', i => number(series.ok[i].value, 1)],
      ['errors/s', i => number(series.errors[i].value, 1)],
      ['timed out/s', i => number(series.timed_out[i].value, 1)],
      ['concurrency', i => number(near('concurrency', ends[i]))],
      ['delay', i => duration(near('delay', ends[i]))],
      ['thinking', i => number(series.thinking[i].value)],
      ['waiting to retry', i => number(series.waiting_to_retry[i].value)],
      ['in flight', i => number(series.in_flight[i].value)],
    ], rows);
  }
}

export function mountTimeline(app) {
  app.timeline = new Timeline(app);
}
