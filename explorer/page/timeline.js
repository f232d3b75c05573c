// The time line: three charts below each other, with the outage shaded. Its edges can be moved.
import {css, find, make} from './dom.js';
import {bandsOf} from './bands.js';
import {endings, oneOf} from './endings.js';
import {isFar, lateLine, why} from './why.js';
import {valueOf} from './durations.js';
import {term} from './glossary.js';
import {onScheme} from './heat.js';
import {seedAfter} from './seeds.js';

const {STACK, draw, drawLate, fillLegend, redraw, fillTable, minutes, number, duration} = Retrystorm;

const KINDS = ['rates', 'service', 'clients'];
// A pinned run is drawn up to this many times the height of this one.
const FARTHER = 4;
// Pixels next to the plots, the same for all.
const MARGIN = 58, NARROW_MARGIN = 42, NARROW = 500;
const STEP = 1, PAGE = 10; // seconds by which a key moves an edge

export const secondsOf = (app, name) => valueOf(app.value(name)) ?? 0;

// The time that the services above the charts, or the hosts below them, are shown at.
function drawTime({ctx, chartArea: {top, bottom}, scales: {x}}, t) {
  ctx.save();
  ctx.strokeStyle = css('--accent');
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(x.getPixelForValue(t), top);
  ctx.lineTo(x.getPixelForValue(t), bottom);
  ctx.stroke();
  ctx.restore();
}

class Timeline {
  constructor(app) {
    this.app = app;
    this.until = Infinity; // nothing later is drawn
    this.asked = false; // a question is open
    this.charts = [];
    this.edges = {};
    this.outage = null; // {begin, end} of the run that is drawn
    this.build();
    app.on('run', () => {
      const begin = secondsOf(app, 'outage-at');
      this.outage = {begin, end: begin + secondsOf(app, 'outage-for')};
      this.show();
    });
    app.on('many', () => this.show());
    app.on('drawn', () => this.show());
    app.on('time', () => this.charts.forEach(chart => chart.draw()));
    onScheme(() => this.rebuild());
  }

  build() {
    this.stage = make('div', {className: 'timeline-stage'}, ...KINDS.map(kind =>
      make('figure', {className: `timeline-${kind}`},
        make('figcaption'),
        make('div', {className: 'timeline-legend legends', 'aria-hidden': 'true'}),
        make('div', {className: 'chart'}, make('canvas', {dataset: {chart: kind}})))));
    for (const [name, label] of [['begin', 'The outage begins'], ['end', 'The outage ends']]) {
      const edge = make('div', {
        className: `timeline-edge timeline-${name}`, hidden: true, role: 'slider', tabIndex: 0, 'aria-label': label, 'aria-orientation': 'horizontal',
        title: `${label}: drag it, or move it with the arrow keys`,
      });
      edge.addEventListener('keydown', event => this.key(event, name));
      edge.addEventListener('pointerdown', event => this.grab(event, name));
      this.edges[name] = edge;
    }
    this.stage.querySelector('.chart').append(...Object.values(this.edges));
    this.why = make('p', {className: 'timeline-why', role: 'status'});
    this.stage.querySelector('.timeline-service .timeline-legend').after(this.why);
    this.note = make('span', {role: 'status'});
    const another = make('button', {type: 'button', id: 'another-seed', className: 'quiet', title: 'The same setting with other random numbers', onclick: () => this.takeAnotherSeed()}, 'another seed');
    this.table = make('table');
    this.details = make('details', {className: 'timeline-table'},
      make('summary', {}, 'The figures as a table'), make('div', {className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': 'Table of the run'}, this.table));
    this.details.addEventListener('toggle', () => this.fill());
    // Reading it whenever a chart is drawn would make the browser lay out the page each time.
    new ResizeObserver(() => { this.width = this.stage.clientWidth; }).observe(this.stage);
    find('timeline').append(this.stage, make('p', {className: 'muted timeline-note'}, this.note, another));
    find('outlook').append(this.details);
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

  // Of many seeds only the first of several services is known.
  bands() {
    const {many, run, drawn} = this.app.ours, {abandoned, ...others} = bandsOf(many);
    return drawn.graph && run.service !== drawn.graph.nodes[0].name ? others : {...others, ...abandoned && {abandoned}};
  }

  // What is drawn in addition to the run: bands of many seeds, and the pinned setting.
  extra() {
    const {theirs} = this.app;
    return {
      bands: this.bands(),
      against: theirs?.run ?? null,
    };
  }

  // Of services behind services, the second chart is of the one that died first, or else of the one with the outage; of a
  // pinned run, of the same.
  takeService() {
    const {app} = this, {graph} = app.ours.drawn;
    if (!graph) return;
    const died = graph.nodes.filter(({died_at: t}) => t !== null), first = Math.min(...died.map(({died_at: t}) => t));
    const name = app.ours.run.service || (died.findLast(({died_at: t}) => t === first)?.name ?? (app.value('outage-of') || graph.nodes.at(-1).name));
    for (const each of [app.ours, app.theirs]) if (each?.drawn.graph && each.run.service !== name) this.of(each, name);
  }

  of({run, drawn: {graph}}, name) {
    const at = graph.nodes.findIndex(each => each.name === name);
    if (at >= 0) run.takePlaces(run.places, at, name);
  }

  // The second chart shows this service from now on.
  choose(name) {
    for (const each of [this.app.ours, this.app.theirs]) if (each?.drawn.graph) this.of(each, name);
    this.show();
  }

  show() {
    const {run} = this.app.ours;
    if (!run) return;
    this.takeService();
    const extra = this.extra();
    this.late = this.lateLine(run);
    if (this.charts.length === 0) this.draw(run, extra);
    else this.charts.forEach((chart, i) => {
      if (!this.dragged) chart.options.scales.x.max = this.xMax();
      this.limit(chart, KINDS[i]);
      redraw(chart, KINDS[i], run, extra);
    });
    this.note.replaceChildren(...this.words());
    this.why.textContent = this.sentence();
    this.stage.querySelectorAll('.timeline-legend').forEach((legend, i) => fillLegend(legend, this.charts[i].data.datasets.filter(({extra}) => !extra)));
    this.fill();
  }

  // With more requests than this in the service, answers come too late.
  lateLine(run) {
    const {app} = this, line = lateLine(app.ours.outlook.figures, run.series.workers.at(-1)?.value, app.description.values);
    return isFar(line, Math.max(run.greatest('concurrency'), app.ours.drawn.result.peak_concurrency)) ? Infinity : line;
  }

  // The axis of the service goes a little beyond that line. It must not reveal what is not drawn yet, and
  // neither a pinned run that is far higher nor what is still at the clients must press this one flat.
  limit({options: {scales: {y}}}, kind) {
    if (kind !== 'service') return;
    const {ours, theirs} = this.app;
    const bands = (this.bands().abandoned ?? []).flatMap(({points}) => points.map(({high}) => high || 0));
    y.suggestedMax = this.late < Infinity ? 1.15 * this.late : 10;
    const highest = Math.max(y.suggestedMax, 1.15 * Math.max(ours.run.greatestStack(...STACK), ...bands));
    const far = Math.max(ours.run.greatest('at_caller'), theirs ? theirs.run.greatestStack(...STACK) : 0) > FARTHER * highest;
    const ends = this.asked ? y.suggestedMax : far ? FARTHER * highest : undefined;
    y.max = ends && Math.round(ends);
  }

  // Where the curve cannot go on: every connection is taken.
  drawFull({ctx, chartArea: {right, top}, scales: {y}}) {
    const {app: {ours, description}} = this, most = Number(description.values['max-connections']);
    if (ours.drawn.graph || !most || ours.run.greatest('concurrency') < 0.98 * most || !(most <= y.max)) return;
    ctx.save();
    ctx.font = '11px system-ui, sans-serif';
    ctx.fillStyle = css('--text');
    ctx.textAlign = 'right';
    ctx.fillText(`${number(most)}: all its connections`, right - 4, Math.max(y.getPixelForValue(most) - 4, top + 10));
    ctx.restore();
  }

  sentence() {
    const {app: {ours, description}} = this, {graph, result} = ours.drawn;
    const text = graph ? graph.first_death ? `${graph.first_death}.` : result.verdict === 'no outage' ? '' : 'No service died.' : why({...ours.drawn, figures: ours.outlook.figures, values: description.values}) ?? '';
    return text && ours.many && endings(ours.many.results).length > 1 ? `In this run (seed ${ours.drawn.seed}) ${text[0].toLowerCase()}${text.slice(1)}` : text;
  }

  xMax() {
    return Math.max(this.end, this.app.theirs?.run.end ?? 0);
  }

  words() {
    const {app} = this, {ours, theirs} = app;
    const all = ours.many ? endings(ours.many.results) : [];
    const [ending, other] = [...all].sort((a, b) => Number(b.verdicts.includes(ours.drawn.result.verdict)) - Number(a.verdicts.includes(ours.drawn.result.verdict)));
    const seeds = !ours.many ? 'more seeds are being simulated' : other ? 'the bands contain 80 % of each ending' : `the bands contain 80 % of ${ours.many.count} seeds`;
    const words = ['Drawn: ', term('seed', `seed ${ours.drawn.seed}`), other ? `, ${oneOf(ending)}; ${seeds}. ` : `; ${seeds}.`];
    if (other) words.push(make('button', {type: 'button', className: 'quiet timeline-see', onclick: () => app.see(other.name)}, `see ${oneOf(other)}`), ' ');
    if (theirs) words.push(' Thin lines: pinned, same seed.');
    return words;
  }

  draw(run, extra) {
    this.width = this.stage.clientWidth;
    const canvases = this.stage.querySelectorAll('canvas');
    this.charts = KINDS.map((kind, i) => {
      const margin = () => this.width < NARROW ? NARROW_MARGIN : MARGIN;
      const chart = draw(canvases[i], kind, run, {x: this.xMax(), margin, legend: false}, extra);
      const {scales} = chart.options;
      scales.x.max = this.xMax();
      this.limit(chart, kind);
      // One time axis for all charts: its marks are below the last one.
      const last = i === KINDS.length - 1;
      scales.x.title.display = false;
      scales.x.ticks.display = last;
      Object.assign(scales.y.ticks, {maxTicksLimit: 4, callback: value => value >= 1e4 ? `${number(value / 1000)}k` : number(value, value % 1 ? 1 : 0)});
      chart.options.onHover = ({x: at}) => this.until === Infinity && this.app.moment?.choose(chart.scales.x.getValueForPixel(at));
      const {filter} = chart.options.plugins.tooltip;
      chart.options.plugins.tooltip.filter = item => filter(item) && item.parsed.x <= this.until;
      chart.config.plugins.push(this.plugin());
      chart.update('none');
      return chart;
    });
  }

  // Clips the curves at `until`. The edges are placed whenever the first chart is drawn, so that they are
  // always at the ends of the shade.
  plugin() {
    return {
      id: 'timeline',
      beforeDatasetsDraw: ({ctx, width, height, scales: {x}}) => {
        ctx.save();
        ctx.beginPath();
        ctx.rect(0, 0, this.until < Infinity ? x.getPixelForValue(this.until) : width, height);
        ctx.clip();
      },
      afterDatasetsDraw: chart => {
        if (chart.canvas.dataset.chart === 'service') {
          drawLate(chart, this.late, `an answer takes over ${this.app.value('timeout')}, too late for its client`);
          this.drawFull(chart);
        }
        chart.ctx.restore();
        const {moment} = this.app;
        if (moment && moment.chosen !== null) drawTime(chart, moment.ends[moment.index]);
      },
      afterDraw: chart => {
        if (chart.canvas.dataset.chart === KINDS[0]) this.placeEdges(chart);
      },
    };
  }

  // Shows the run up to a time: at once, or gradually within `within` milliseconds.
  reveal(until, within = 0) {
    cancelAnimationFrame(this.frame);
    const from = Math.min(this.until, this.end);
    const begun = performance.now();
    const show = value => {
      this.until = value;
      for (const chart of this.charts) chart.draw();
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

  placeEdges({chartArea: area, scales: {x}}) {
    const {begin, end} = this.outage;
    for (const [name, t, least, most] of [['begin', begin, STEP, end - STEP], ['end', end, begin + STEP, Math.round(this.xMax())]]) {
      const edge = this.edges[name];
      edge.hidden = begin === end || t > Math.min(this.until, x.max);
      if (edge.hidden) continue;
      edge.style.left = `${x.getPixelForValue(t)}px`;
      edge.style.top = `${(area.top + area.bottom) / 2}px`;
      edge.style.setProperty('--plot', `${area.height}px`);
      edge.textContent = minutes(t);
      edge.setAttribute('aria-valuenow', t);
      edge.setAttribute('aria-valuemin', least);
      edge.setAttribute('aria-valuemax', most);
      edge.setAttribute('aria-valuetext', `${number(t, t % 1 ? 1 : 0)} seconds`);
    }
  }

  // When the outage should begin and end. The requested values count even before they are in force.
  // Otherwise fast key presses would be lost.
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
    this.dragged = name; // keeps the axis fixed while the pointer drags
    let wanted = null;
    const {x} = chart.scales;
    const grip = event.clientX - x.getPixelForValue(this.outage[name]); // distance from the edge to the pointer
    const follow = ({clientX}) => {
      const t = x.getValueForPixel(clientX - grip);
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
    const {state} = this.app;
    state.seed = seedAfter(state.seed, 1);
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
      ['accept queue', i => number(near('accept_queue', ends[i])), i => run.seen.has('accept_queue')],
      ['sockets\u2019 buffers', i => number(near('buffers', ends[i])), i => run.seen.has('buffers')],
      ['at the client', i => number(near('at_caller', ends[i])), i => run.seen.has('at_caller')],
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
