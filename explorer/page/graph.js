// Services behind services: boxes and the calls between them, as they are at one time of the run.
import {find, make} from './dom.js';
import {TimeBar} from './timebar.js';

const {minutes, number} = Retrystorm;

const CLIENTS = /^clients(\.|$)/; // all of them, or those of a kind
const called = name => name.replace(/^clients\./, '');
const BOX = 150, LEAST_BOX = 86, HIGH = 56, GAP = 64, LEAST_GAP = 46, ROW = 10, PASS = 18; // pixels
const THICKEST = 22;
const TO_DIE = 15; // seconds, as in model/run/graph_report.h

const share = value => `${number(100 * value)} %`;
const some = value => number(value, value > 0 && value < 9.95 ? 1 : 0);

// The services as layers: each comes after all that call it. An edge over several layers has a place in each.
// Returns [[{name} or {edge}, ...], ...], the clients, perhaps of several kinds, in the first one.
export function layersOf(nodes, edges) {
  const depth = new Map(edges.map(({from}) => from).filter(from => nodes.every(({name}) => name !== from)).map(from => [from, 0]));
  for (const {name} of nodes) {
    depth.set(name, 1 + Math.max(0, ...edges.filter(({to}) => to === name).map(({from}) => depth.get(from) ?? 0)));
  }
  const layers = Array.from({length: 1 + Math.max(...depth.values())}, () => []);
  const put = (layer, item, near) => layers[layer].push({...item, near});
  for (const name of [...depth.keys()].filter(each => depth.get(each) === 0)) put(0, {name}, 0);
  for (let at = 1; at < layers.length; ++at) {
    const before = layers[at - 1];
    const index = edge => before.findIndex(each => each.edge === edge || each.name === edge.from);
    for (const {name} of nodes.filter(each => depth.get(each.name) === at)) {
      const from = edges.filter(({to}) => to === name).map(index).filter(i => i >= 0);
      put(at, {name}, from.reduce((sum, each) => sum + each, 0) / Math.max(from.length, 1));
    }
    for (const edge of edges) if (depth.get(edge.from) < at && depth.get(edge.to) > at) put(at, {edge}, index(edge));
    layers[at].sort((a, b) => a.near - b.near);
  }
  return layers.map(layer => layer.map(({near, ...item}) => item));
}

// Where all is drawn, in a picture so wide: {width, height, boxes: Map(name, {x, y, width, height}), lines: Map(edge, [[x, y], ...])}.
// Layers are beside each other where there is room, otherwise below each other.
export function placesOf(layers, edges, width) {
  const down = width < layers.length * (LEAST_BOX + LEAST_GAP + 14) - LEAST_GAP;
  const most = Math.max(...layers.map(layer => layer.filter(({name}) => name).length));
  const box = down ? Math.min(BOX, Math.max(LEAST_BOX, (width - 3 * PASS) / most - ROW)) : Math.min(BOX, (width - (layers.length - 1) * GAP) / layers.length);
  const along = down ? HIGH : box, across = down ? box : HIGH, gap = down ? LEAST_GAP : (width - layers.length * box) / Math.max(layers.length - 1, 1);
  const size = layer => layer.reduce((sum, {name}) => sum + (name ? across : PASS) + ROW, -ROW);
  const whole = Math.max(down ? width : 0, ...layers.map(size));
  const boxes = new Map(), passes = new Map();
  layers.forEach((layer, i) => {
    const from = i * (along + gap);
    let at = (whole - size(layer)) / 2;
    for (const {name, edge} of layer) {
      const extent = name ? across : PASS;
      if (name) boxes.set(name, down ? {x: at, y: from, width: extent, height: along} : {x: from, y: at, width: along, height: extent});
      else passes.set(edge, [...passes.get(edge) ?? [], ...[from, from + along].map(end => down ? [at + extent / 2, end] : [end, at + extent / 2])]);
      at += extent + ROW;
    }
  });
  const end = ({x, y, width: w, height: h}, far) => down ? [x + w / 2, y + (far ? h : 0)] : [x + (far ? w : 0), y + h / 2];
  const lines = new Map(edges.map(edge => [edge, [end(boxes.get(edge.from), true), ...passes.get(edge) ?? [], end(boxes.get(edge.to), false)]]));
  const length = layers.length * (along + gap) - gap;
  return {down, width: down ? Math.max(width, whole) : length, height: down ? length : whole, boxes, lines};
}

// A line through these points that leaves and comes along the layers.
function path(points, down) {
  return points.map(([x, y], i) => {
    if (i === 0) return `M${x} ${y}`;
    const [a, b] = points[i - 1], [mx, my] = [(a + x) / 2, (b + y) / 2];
    return down ? `C${a} ${my} ${x} ${my} ${x} ${y}` : `C${mx} ${b} ${mx} ${y} ${x} ${y}`;
  }).join('');
}

// Of a service's workers, what they do: [[what, share], ...].
export function useOf({busy, calling, workers, for_nobody_share: nobody}, holds) {
  const of = value => workers > 0 ? Math.min(value / workers, 1) : 0;
  return [['wanted', of(busy * (1 - nobody))], ['nobody', of(busy * nobody)], ['held', holds ? Math.min(of(calling), 1 - of(busy)) : 0]];
}

export const widthOf = amplification => Math.min(THICKEST, 1 + 2 * amplification);

// What a service does in a window, in two lines.
function figures({busy, calling, workers, queue}, {holds}, isNarrow) {
  const held = holds && calling >= 0.5 ? `${number(calling)} held` : '';
  return [`${isNarrow ? '' : 'busy '}${some(busy)} of ${number(workers)}`, queue > 0 ? `${number(queue)} wait` : held];
}

class Graph {
  constructor(app) {
    this.app = app;
    this.stage = make('div', {className: 'graph-stage', role: 'group'});
    this.lines = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.lines.setAttribute('aria-hidden', 'true');
    this.bar = new TimeBar(app, 'graph', 'the services', () => this.fill());
    const mark = (name, text) => make('span', {}, make('i', {className: `graph-${name}`}), text);
    this.scroll = make('div', {className: 'graph-scroll'}, this.stage);
    find('graph').append(this.scroll,
      this.bar.element,
      make('div', {className: 'graph-key legends', 'aria-hidden': 'true'}, mark('wanted', 'workers at work'), mark('nobody', 'for nobody'), mark('held', 'held, waiting for another service'),
        make('span', {}, '×: calls for each request of the clients')));
    find('graph').hidden = true;
    new ResizeObserver(() => {
      const width = this.scroll.clientWidth;
      if (width > 0 && width !== this.width) this.show();
    }).observe(this.scroll);
    for (const event of ['run', 'drawn']) app.on(event, () => this.take());
  }

  take() {
    this.graph = this.app.ours.drawn.graph;
    document.documentElement.toggleAttribute('data-graph', Boolean(this.graph));
    find('graph').hidden = !this.graph;
    // Where a service died: the window that its figures are of in the sentence. Otherwise the last one of the outage.
    const died = (this.graph?.nodes ?? []).map(({died_at: t}) => t).filter(t => t !== null);
    this.bar.take((this.graph?.windows ?? []).map(({t}) => t), died.length > 0 ? Math.min(...died) + TO_DIE : this.app.timeline.outage.end);
    this.show();
  }

  // Builds the boxes and lines, and then fills them.
  show() {
    const {graph, app} = this;
    if (!graph || graph.windows.length === 0) return;
    this.width = this.scroll.clientWidth;
    const layers = layersOf(graph.nodes, graph.edges), {down, width, height, boxes, lines} = placesOf(layers, graph.edges, this.width);
    this.stage.style.width = `${width}px`;
    this.stage.style.height = `${height}px`;
    const put = (element, {x, y, width: w, height: h}) => {
      Object.assign(element.style, {left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px`});
      return element;
    };
    const opens = name => () => {
      if (name === 'clients') return app.knobs.select(name);
      if (!name.includes('.')) app.timeline.choose(name);
      app.knobs.openService(name);
    };
    this.boxes = graph.nodes.map(({name}) => put(make('button', {type: 'button', className: 'graph-node', dataset: {node: name}, onclick: opens(name)},
      make('span', {className: 'graph-use'}, ...['wanted', 'nobody', 'held'].map(each => make('i', {className: `graph-${each}`}))),
      make('strong', {}, name), make('span', {className: 'graph-state'}), make('span', {className: 'graph-busy'}), make('span', {className: 'graph-queue'})), boxes.get(name)));
    const clients = layers[0].map(({name}) => put(make('button', {type: 'button', className: 'graph-node graph-clients', 'aria-label': `${called(name)}: their knobs`, onclick: opens(name)}, make('strong', {}, called(name))), boxes.get(name)));
    this.lines.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.curves = graph.edges.map(edge => {
      const curve = document.createElementNS(this.lines.namespaceURI, 'path');
      curve.setAttribute('d', path(lines.get(edge), down));
      curve.dataset.edge = `${edge.from}.${edge.to}`;
      return curve;
    });
    this.lines.replaceChildren(...this.curves);
    // In the first gap that the line crosses, where those of one caller are apart.
    this.labels = graph.edges.map(edge => {
      const [[a, b], [c, d]] = lines.get(edge), ofClients = CLIENTS.test(edge.from);
      const t = graph.edges.filter(({from}) => from === edge.from).length > 1 ? 0.6 : 0.5, bent = t * t * (3 - 2 * t), straight = 1.5 * t * (1 - t) + t ** 3;
      const [left, top] = down ? [bent, straight] : [straight, bent];
      const label = make('button', {type: 'button', className: 'graph-edge', onclick: opens(ofClients ? edge.from : `${edge.from}.${edge.to}`)});
      Object.assign(label.style, {left: `${a + left * (c - a)}px`, top: `${b + top * (d - b)}px`});
      return label;
    });
    this.stage.replaceChildren(this.lines, ...clients, ...this.boxes, ...this.labels);
    this.fill();
  }

  // The state of a service in a window: what is wrong with it, if anything.
  stateOf({name, died_at: died, back_at: back}, t) {
    const {app} = this, {end, begin} = app.timeline.outage;
    const disturbed = app.value('outage-of') || this.graph.nodes.at(-1).name, [what] = app.value('outage').split(':');
    if (name === disturbed && t > begin && t <= end) return {freeze: 'frozen', drop: 'gone', slow: 'slow', errors: 'errors'}[what] ?? what;
    return died !== null && t > died && (back === null || t <= back) ? 'dead' : '';
  }

  fill() {
    const {graph} = this, {at, from} = this.bar.fill(), now = graph.windows[at];
    graph.nodes.forEach((node, i) => {
      const its = now.nodes[i], state = this.stateOf(node, now.t), box = this.boxes[i];
      for (const [what, part] of useOf(its, node.holds)) box.querySelector(`.graph-use > .graph-${what}`).style.height = `${100 * part}%`;
      const [busy, queue] = figures(its, node, box.offsetWidth < 110);
      box.dataset.state = state;
      box.querySelector('.graph-state').textContent = state;
      box.querySelector('.graph-busy').textContent = busy;
      box.querySelector('.graph-queue').textContent = queue;
      const said = `${node.name}${state ? `, ${state}` : ''}: ${some(its.busy)} of ${number(its.workers)} workers at work, ${share(its.for_nobody_share)} of it for nobody, ` +
        `${some(its.calling)} requests wait for other services, ${number(its.queue)} for a worker; ${some(its.in_time)} of ${some(its.offered)} answers/s come in time`;
      box.setAttribute('aria-label', `${said}. Its knobs.`);
      box.title = said;
    });
    graph.edges.forEach((edge, i) => {
      const {amplification, attempts} = now.edges[i], text = `${called(edge.from)} call ${edge.to}: ${number(amplification, 2)} calls for each request of the clients, ${some(attempts)}/s`;
      this.curves[i].setAttribute('stroke-width', widthOf(amplification).toFixed(1));
      this.labels[i].textContent = `×${number(amplification, amplification < 9.95 ? 1 : 0)}`;
      this.labels[i].setAttribute('aria-label', `${text}. Its knobs.`);
      this.labels[i].title = text;
    });
    this.stage.setAttribute('aria-label', `The services from ${minutes(from)} to ${minutes(now.t)}`);
  }
}

export function mountGraph(app) {
  app.graph = new Graph(app);
}
