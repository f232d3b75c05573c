// A run as series of points, and its charts: the same on the live page and in the report.
'use strict';

const Retrystorm = (() => {
  // The colours of scripts/lib/style.gp, which colour-blind readers can distinguish (Okabe and Ito). Each curve also has its own dash
  // pattern.
  const GREEN = '#009E73', RED = '#D55E00', ORANGE = '#E69F00', SKY = '#56B4E9', PURPLE = '#CC79A7';
  const BLUE = '--curve-blue'; // differs between light and dark pages
  const AN_HOUR = 3600; // points, one a second
  const COUNTED = ['ok', 'errors', 'timed_out', 'not_sent', 'thinking', 'waiting_to_retry', 'in_flight'];
  const QUANTILES = ['p50', 'p95', 'p99'];
  const OF_CONNECTIONS = ['used', 'idle', 'in_line', 'opened', 'unread', 'accept_queue'];
  const OF_SERVER = ['concurrency', 'waited_for', 'abandoned', 'delay', 'busy', 'waiting', 'not_accepted'];
  // Where requests lie, below each other in the chart: in the service, and before it.
  const STACK = ['waited_for', 'abandoned', 'accept_queue', 'buffers'];
  const PLACES = [...STACK, 'at_caller'];
  const SHORTEST_LATENCY = 1e-4; // seconds; 0 has no logarithm
  const LONGEST_DELAY = 1e4; // seconds; longer delays are drawn here
  const LATELY = 10; // seconds
  const FAR = 30; // times the end of an axis: too far to be drawn

  // A custom property of the page. They only change with the colour scheme, and reading one makes the browser compute
  // the page's styles anew.
  const properties = new Map();
  globalThis.matchMedia?.('(prefers-color-scheme: dark)').addEventListener('change', () => properties.clear());
  function css(name) {
    if (!properties.has(name)) properties.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return properties.get(name);
  }
  const minutes = s => {
    const whole = Math.round(s);
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
  };

  const formats = []; // by digits; kept, because making one is slow
  function number(value, digits = 0) {
    if (value === null || value === undefined) return '–';
    if (Math.abs(value) >= 1e10) return value.toExponential(1);
    formats[digits] ??= new Intl.NumberFormat('en', {minimumFractionDigits: digits, maximumFractionDigits: digits});
    return formats[digits].format(value);
  }

  // "99.95 %", never rounded up to a hundred.
  function percent(share) {
    if (share === null || share === undefined) return '–';
    return share === 1 ? '100 %' : `${number(Math.min(share * 100, 99.99), 2)} %`;
  }

  function duration(seconds) {
    if (seconds === null || seconds === undefined) return '–';
    if (seconds > 0 && seconds < 1) return `${number(seconds * 1000)} ms`;
    if (seconds < 120) return `${number(seconds, 1)} s`;
    if (seconds < 7200) return `${number(seconds / 60, 1)} min`;
    if (seconds < 172800) return `${number(seconds / 3600, 1)} h`;
    return seconds < 1e9 ? `${number(seconds / 86400)} days` : 'over 30 years';
  }

  // Of a duration as the programs print it: "1m30s", "500ms".
  const seconds = text => [...String(text).matchAll(/([\d.]+)(h|ms|m|us|ns|s)/g)]
    .reduce((sum, [, value, unit]) => sum + value * {h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9}[unit], 0);

  const milliseconds = value => value === null || value === undefined ? '–' : duration(value / 1000);

  // A time of requests: "over 58.0 s" where one that has not ended makes it longer still.
  const requestTime = (times, name) =>
    (times?.[name + '_high'] === null && times[name] !== null ? 'over ' : '') + milliseconds(times?.[name]);

  // Fills a table. `columns` are [title, text of a row's cell]. With a third function of the row, the
  // column is shown only if that returns true for any row.
  function fillTable(table, columns, rows) {
    const shown = columns.filter(([, , wanted]) => !wanted || rows.some(wanted));
    const line = (tag, texts) => {
      const tr = document.createElement('tr');
      for (const text of texts) {
        const cell = document.createElement(tag);
        cell.textContent = text;
        tr.append(cell);
      }
      return tr;
    };
    const head = document.createElement('thead'), body = document.createElement('tbody');
    head.append(line('th', shown.map(([title]) => title)));
    body.append(...rows.map(row => line('td', shown.map(([, text]) => text(row)))));
    table.replaceChildren(head, body);
  }

  // "attempts 9, not retryable 3": the reasons for which requests were given up, or the kinds of errors, if there were any.
  function reasons(counts) {
    return Object.entries(counts ?? {}).filter(([, count]) => count > 0)
      .map(([reason, count]) => `${reason.replaceAll('_', ' ')} ${number(count)}`).join(', ');
  }

  // The rows of a table for before, in and after an outage: of a run's summary, or means of a cell. `more` is in each of
  // them. Without an outage there are none.
  const PHASES = [['before', 'before the outage'], ['during', 'in the outage'], ['after', 'after it']];
  const phaseRows = (figures, more = {}) => PHASES.filter(([phase]) => typeof figures?.[`attempts_per_s_${phase}`] === 'number')
    .map(([phase, words]) => ({...more, figures, phase, words}));

  // Its columns. An older program's summary has not all of the figures. What they count is said below the table.
  const PHASES_NOTE = 'Requests, those given up and their times: by when the request began. Attempts, OK, timed out and errors: by when they happened.';
  const ofPhase = (name, text) => ({figures, phase}) => text(figures[`${name}_${phase}`]);
  const someOf = name => ({figures, phase}) => figures[`${name}_${phase}`] > 0;
  const counted = name => [ofPhase(name, number), someOf(name)];
  const because = text => text && ` (${text})`;
  const PHASE_COLUMNS = [
    ['when', ({words}) => words],
    ['requests', ...counted('requests')],
    ['succeeded', ofPhase('success', percent)],
    ['request time p50', ({figures, phase}) => requestTime(figures, `request_p50_${phase}_ms`)],
    ['p99', ({figures, phase}) => requestTime(figures, `request_p99_${phase}_ms`)],
    ['given up', ...counted('gave_up')],
    ['not sent', ...counted('not_sent')],
    ['attempts/s', ofPhase('attempts_per_s', rate => number(rate, 1))],
    ['OK/s', ofPhase('ok_per_s', rate => number(rate, 1))],
    ['timed out', ...counted('timed_out')],
    ['errors', ({figures, phase}) => number(figures[`errors_${phase}`]) + because(reasons(figures[`errors_by_${phase}`])), someOf('errors')],
  ];

  class Run {
    constructor(start) {
      this.start = start;
      this.mostPoints = AN_HOUR; // bounded, because the page runs as long as the client
      this.series = {};
      this.errorsBy = []; // {x, value: {status: per second}}, where there were errors
      for (const name of [...COUNTED, 'amplification', 'lately', ...QUANTILES, ...OF_CONNECTIONS, ...OF_SERVER, ...PLACES, 'workers']) {
        this.series[name] = [];
      }
      this.places = null; // the simulation's, also of a frozen service
      this.seen = new Set(); // the series that have not been zero all along
      this.outages = []; // {from, to, what}; `to` is null while it lasts
      this.actions = []; // {t, what}
      this.summary = null;
      this.end = 0;
      this.opened = 0; // connections, so far
      this.sums = {attempts: 0, requests: 0};
      this.recent = []; // the same, of the last seconds
      // With more requests than this in the service (with workers: waiting), answers come too late.
      this.late = Math.ceil(start.outlook?.late_from ?? Infinity);
    }

    // Reads a whole run from its JSON Lines: the clients', and the server's if there are any. `places`: of the explorer's
    // engine.
    static of(start, events, server = [], places = null) {
      const run = new Run(start);
      run.mostPoints = Infinity;
      if (places) run.takePlaces(places, 0);
      for (const event of events) run.take(event);
      // A longer gap than between two reports means that the server was frozen.
      const gap = Math.max(1, 3 * (server.length > 1 ? server[1].t - server[0].t : 0));
      server.forEach((event, i) => {
        if (i > 0 && event.t - server[i - 1].t > gap) run.breakServer(event.t);
        run.takeServer(event.t, event);
      });
      return run;
    }

    add(name, x, value, y = value) {
      if (value === null || value === undefined) return;
      if (value > 0) this.seen.add(name);
      this.push(name, {x, y, value});
    }

    // Makes a gap in the curve.
    addGap(name, x) {
      this.push(name, {x, y: NaN, value: null});
    }

    push(name, point) {
      const points = this.series[name];
      points.push(point);
      if (points.length > this.mostPoints) points.shift();
    }

    // Takes an event of the client's JSON Lines or of the page's stream.
    take(event) {
      if (event.type === 'interval') this.takeInterval(event);
      if (event.type === 'summary') this.summary = event;
      if (event.type === 'outage') {
        if (event.event === 'stop') this.outages.push({from: event.t, to: null, what: event.what ?? 'freeze'});
        else if (this.outages.length > 0) this.outages.at(-1).to = event.t;
      }
      if (event.type === 'action') this.actions.push({t: event.t, what: event.what});
    }

    takeInterval(event) {
      if (this.end === 0 && this.mostPoints < Infinity && event.t > 2) {
        this.end = event.t; // a late history may not reach back to the start
        this.opened = event.connections?.opened;
        return;
      }
      const from = this.end, length = event.t - from, middle = from + length / 2;
      this.end = event.t;
      for (const name of COUNTED) this.add(name, middle, event[name]);
      if (event.errors > 0) this.errorsBy.push({x: middle, value: event.errors_by ?? {}});
      if (this.errorsBy.length > this.mostPoints) this.errorsBy.shift();
      this.takeLatency(from, middle, event.latency_ms);
      if (event.connections) this.takeConnections(event.t, length, event.connections);
      const now = {t: event.t, attempts: event.attempts * length, requests: (event.requests ?? event.attempts - event.retries) * length};
      this.recent = [...this.recent.filter(({t}) => t > event.t - LATELY), now];
      for (const name of ['attempts', 'requests']) this.sums[name] += now[name];
      const {attempts, requests} = this.sums, recent = name => this.recent.reduce((sum, each) => sum + each[name], 0);
      this.add('amplification', event.t, event.so_far?.amplification ?? (requests > 0 ? attempts / requests : 1));
      // If no request began, at least so many attempts belong to each.
      this.add('lately', event.t, recent('attempts') / Math.max(recent('requests'), 1), Math.max(recent('attempts') / Math.max(recent('requests'), 1), 0.1));
      if (event.server) this.takeServer(event.t, event.server);
      else if (event.server === null) this.breakServer(event.t);
    }

    // Where the requests of one service lie. `name`: of several services.
    takePlaces(places, service, name = '') {
      Object.assign(this, {places, service: name});
      for (const each of PLACES) {
        this.series[each] = [];
        this.seen.delete(each);
      }
      const its = places.services[service];
      places.t.forEach((t, i) => {
        const of = key => its[key][i], stale = key => ({x: t, y: of(key), value: of(key), stale: of(`${key}_stale`)});
        this.add('waited_for', t, of('service') - of('service_stale'));
        this.add('abandoned', t, of('service_stale'));
        for (const each of ['accept_queue', 'buffers']) {
          if (of(each) > 0) this.seen.add(each);
          this.push(each, stale(each));
        }
        this.add('at_caller', t, of('at_caller'));
      });
    }

    // Of clients that keep their connections.
    takeConnections(t, length, {open, idle, in_line, opened, unread, accept_queue}) {
      this.add('used', t, open - idle);
      this.add('idle', t, idle);
      this.add('in_line', t, in_line);
      this.add('opened', t - length / 2, (opened - this.opened) / length);
      if (typeof unread === 'number') { // only simulate sees them
        this.add('unread', t, unread);
        this.add('accept_queue', t, accept_queue);
      }
      this.opened = opened;
    }

    // Where no attempt was OK, the curves have a gap. They go on at the start of the next interval, so that
    // a single interval between two gaps is visible.
    takeLatency(from, middle, latency) {
      if (!latency) return;
      for (const name of QUANTILES) {
        if (typeof latency[name] !== 'number') {
          this.addGap(name, middle);
          continue;
        }
        const value = latency[name] / 1000, y = Math.max(value, SHORTEST_LATENCY);
        if (this.series[name].at(-1)?.value === null) this.add(name, from, value, y);
        this.add(name, middle, value, y);
      }
    }

    takeServer(t, {concurrency, waited_for, last_delay_s, late_from, workers, busy, waiting, accept_queue}) {
      this.late = Math.ceil(late_from ?? this.late);
      this.add('concurrency', t, concurrency, Math.max(concurrency, 1));
      if (typeof waited_for === 'number' && !this.places) {
        this.add('waited_for', t, waited_for);
        this.add('abandoned', t, concurrency - waited_for);
      }
      this.add('delay', t, last_delay_s, Math.min(Math.max(last_delay_s, 1e-3), LONGEST_DELAY));
      if (typeof accept_queue === 'number') this.add('not_accepted', t, accept_queue, Math.max(accept_queue, 1));
      if (typeof workers !== 'number') return;
      this.add('workers', t, workers);
      this.add('busy', t, busy, Math.max(busy, 1));
      this.add('waiting', t, waiting, Math.max(waiting, 1));
    }

    // A frozen server reports nothing: its curve has a gap.
    breakServer(t) {
      for (const name of OF_SERVER) if (!this.places || !PLACES.includes(name)) this.addGap(name, t);
    }

    least(name) {
      let least = Infinity;
      for (const {y} of this.series[name]) if (y < least) least = y;
      return least;
    }

    greatest(...names) {
      let most = 0;
      for (const name of names) for (const {y} of this.series[name]) if (y > most) most = y;
      return most;
    }

    // Of series with the same times.
    greatestStack(first, ...others) {
      let most = 0;
      this.series[first].forEach(({y}, i) => {
        most = Math.max(most, others.reduce((sum, name) => sum + (this.series[name][i]?.y ?? 0), y));
      });
      return most;
    }
  }

  // What each chart shows. `withWorkers` is the title for a service with workers, if it differs. `unit`
  // or `text` is for the tooltips. The axis goes from `least`, or lower if it `falls`, to `floor` or higher.
  const CHARTS = {
    rates: {
      title: 'Outcomes per second',
      curves: [
        {series: 'ok', label: 'OK', color: GREEN, dash: [], width: 2.5},
        {series: 'errors', label: 'errors', color: PURPLE, dash: [7, 3], width: 2},
        {series: 'timed_out', label: 'timed out', color: RED, dash: [2, 2], width: 2},
        {series: 'not_sent', label: 'not sent', color: ORANGE, dash: [9, 3, 2, 3], width: 2, onlyIf: 'not_sent'},
      ],
      unit: '/s', digits: 1, floor: 10, least: 0,
      readout: (run, t) => {
        const by = Object.entries(run.errorsBy.findLast(({x}) => Math.abs(x - t) < 0.5)?.value ?? {});
        return by.length > 0 ? `errors by status: ${by.map(([name, value]) => `${name.replace('status_', '')} ${number(value, 1)}/s`).join(', ')}` : '';
      },
    },
    clients: {
      title: 'Clients by state',
      curves: [
        {series: 'in_flight', label: 'in flight', color: BLUE, dash: [2, 2], width: 1.5, fill: '99'},
        {series: 'waiting_to_retry', label: 'waiting to retry', color: ORANGE, dash: [7, 3], width: 1.5, fill: '77'},
        {series: 'thinking', label: 'thinking', color: SKY, dash: [], width: 1.5, fill: '44'},
      ],
      unit: '', digits: 0, floor: 10, least: 0, stacked: true,
    },
    connections: {
      title: 'Kept connections',
      curves: [
        {series: 'used', label: 'in use', color: BLUE, dash: [], width: 2.5},
        {series: 'idle', label: 'idle', color: SKY, dash: [2, 2], width: 2},
        {series: 'in_line', label: 'attempts in line for one', color: RED, dash: [7, 3], width: 2},
        {series: 'opened', label: 'opened a second', color: ORANGE, dash: [9, 3, 2, 3], width: 2},
        {series: 'unread', label: 'attempts unread on them', color: PURPLE, dash: [4, 4], width: 2, onlyIf: 'unread'},
        {series: 'accept_queue', label: 'in the accept queue', color: GREEN, dash: [1, 2], width: 2, onlyIf: 'unread'},
      ],
      unit: '', digits: 0, floor: 10, least: 0,
    },
    amplification: {
      title: 'Attempts per request (logarithmic)',
      curves: [
        {series: 'lately', label: `in the last ${LATELY} s`, color: PURPLE, dash: [], width: 2.5},
        {series: 'amplification', label: 'so far', color: ORANGE, dash: [7, 3], width: 2},
      ],
      unit: '', digits: 2, floor: 2, least: 1, logarithmic: true, falls: true, // under 1 where attempts are not sent
    },
    server: {
      title: 'Server: concurrency and delay (logarithmic)',
      withWorkers: 'Server: busy workers, queue and delay (logarithmic)',
      curves: [
        {series: 'concurrency', label: 'concurrency', color: BLUE, dash: [], width: 2.5, unless: 'workers'},
        {series: 'busy', label: 'busy workers', color: BLUE, dash: [], width: 2.5, onlyIf: 'workers'},
        {series: 'waiting', label: 'waiting for one', color: PURPLE, dash: [2, 2], width: 2, onlyIf: 'workers'},
        {series: 'not_accepted', label: 'accept queue', color: GREEN, dash: [1, 2], width: 2, onlyIf: 'not_accepted'},
        {series: 'delay', label: 'delay (s, right)', color: ORANGE, dash: [7, 3], width: 2, right: true},
      ],
      unit: '', digits: 1, floor: 1000, least: 1, logarithmic: true,
    },
    // Of a simulated server, which knows who still waits.
    service: {
      title: 'Where requests lie',
      curves: [
        {series: 'waited_for', label: 'in the service', color: BLUE, dash: [], width: 1.5, fill: '99'},
        {series: 'abandoned', label: 'for nobody any more', color: '--muted', dash: [], width: 1, fill: 'hatched'},
        {series: 'accept_queue', label: 'accept queue', color: ORANGE, dash: [7, 3], width: 1.5, fill: '99', onlyIf: 'accept_queue'},
        {series: 'buffers', label: 'sockets\u2019 buffers', color: PURPLE, dash: [9, 3, 2, 3], width: 1.5, fill: '77', onlyIf: 'buffers'},
        {series: 'at_caller', label: 'at the client', color: SKY, dash: [2, 2], width: 2, alone: true, onlyIf: 'at_caller'},
      ],
      unit: '', digits: 0, floor: 10, least: 0, stacked: true, withMost: true,
      readout: (run, t) => {
        const near = name => run.series[name].find(({x}) => Math.abs(x - t) < 0.5), delay = near('delay')?.value ?? null;
        const before = [['accept_queue', 'in the accept queue'], ['buffers', 'in the buffers']].map(([name, words]) => [near(name)?.stale, words])
          .filter(([stale]) => stale > 0).map(([stale, words]) => `nobody waits for ${number(stale)} ${words}`);
        return [...before, ...delay === null ? [] : [`an answer takes ${delay > 600 ? 'over 10 min' : duration(delay)}`]].join('\n');
      },
    },
    latency: {
      title: 'Latency of OK attempts (logarithmic)',
      curves: [
        {series: 'p50', label: 'p50', color: GREEN, dash: [], width: 2.5},
        {series: 'p95', label: 'p95', color: ORANGE, dash: [7, 3], width: 2},
        {series: 'p99', label: 'p99', color: PURPLE, dash: [2, 2], width: 2},
      ],
      text: duration, logarithmic: true, marks: [1, 2, 5],
    },
  };

  // Most clients have no gate. So the curve of refused attempts is shown only once there are any. A
  // service with workers has other curves than one without.
  const curvesOf = (kind, run) =>
    CHARTS[kind].curves.filter(({onlyIf, unless}) =>
      (!onlyIf || run.seen.has(onlyIf)) && (!unless || !run.seen.has(unless)));

  // Everything that `curvesOf` depends on.
  const curvesSeen = run => [...['not_sent', 'workers', 'unread', 'not_accepted'].filter(name => run.seen.has(name)), run.series.used.length > 0, run.late].join();

  // The reader's word for an outage.
  const outageText = what => what === 'freeze' ? 'frozen' : what;

  // The outages as shades and the actions as lines, each with its name.
  const outageShade = {
    id: 'outage',
    beforeDatasetsDraw(chart, _, {run}) {
      const {ctx, chartArea: area, scales: {x}} = chart;
      ctx.save();
      ctx.font = '11px system-ui, sans-serif';
      for (const {from, to, what} of run.outages) {
        const left = Math.max(x.getPixelForValue(from), area.left);
        const right = Math.min(x.getPixelForValue(to ?? Math.max(run.end, from)), area.right);
        if (right <= left) continue;
        ctx.fillStyle = css('--shade');
        ctx.fillRect(left, area.top, right - left, area.height);
        ctx.fillStyle = css('--muted');
        const text = outageText(what);
        if (right - left > ctx.measureText(text).width + 8) ctx.fillText(text, left + 4, area.top + 12);
      }
      ctx.strokeStyle = ctx.fillStyle = css('--muted');
      ctx.setLineDash([3, 3]);
      run.actions.forEach(({t, what}, i) => {
        const at = x.getPixelForValue(t);
        if (at < area.left || at > area.right) return;
        ctx.beginPath();
        ctx.moveTo(at, area.top);
        ctx.lineTo(at, area.bottom);
        ctx.stroke();
        // On the side with room, and not over the name of the one before.
        const width = ctx.measureText(what).width + 4;
        ctx.fillText(what, at + width > area.right ? at - width : at + 4, area.top + 26 + 13 * (i % 4));
      });
      ctx.restore();
    },
  };

  // The line from which on answers come too late.
  function drawLate({ctx, chartArea: area, scales: {y}}, late, why = 'every answer comes too late') {
    if (!(late <= y.max)) return;
    const at = Math.round(y.getPixelForValue(late)), text = `${number(late)}: ${area.width < 400 ? 'too late' : `from here on ${why}`}`;
    ctx.save();
    ctx.setLineDash([]);
    ctx.strokeStyle = css('--bad');
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(area.left, at);
    ctx.lineTo(area.right, at);
    ctx.stroke();
    ctx.font = '600 11px system-ui, sans-serif';
    const foot = at - area.top < 18 ? at + 13 : at - 5;
    ctx.globalAlpha = 0.8;
    ctx.fillStyle = css('--panel');
    ctx.fillRect(area.left + 4, foot - 10, ctx.measureText(text).width + 4, 13);
    ctx.globalAlpha = 1;
    ctx.fillStyle = css('--bad');
    ctx.fillText(text, area.left + 6, foot);
    ctx.restore();
  }

  const lateLine = {
    id: 'late',
    afterDatasetsDraw: chart => drawLate(chart, chart.options.plugins.outage.run.late),
  };

  const valueText = (kind, value) =>
    CHARTS[kind].text ? CHARTS[kind].text(value) : number(value, CHARTS[kind].digits) + CHARTS[kind].unit;

  const titleOf = (kind, run) => (run.seen.has('workers') && CHARTS[kind].withWorkers || CHARTS[kind].title) + (kind === 'service' && run.service ? `: ${run.service}` : '');
  // The clients of one among several services are callers.
  const labelOf = ({label}, run) => run.service ? label.replace('client', 'caller') : label;

  // Writes a chart's description, and its title if the figure has a place for it.
  function caption(canvas, kind, run) {
    const title = titleOf(kind, run), place = canvas.closest('figure')?.querySelector('figcaption');
    if (place && place.textContent !== title) place.textContent = title;
    canvas.setAttribute('aria-label', describe(kind, run));
  }

  // Describes in words what a chart shows now.
  function describe(kind, run) {
    const now = curvesOf(kind, run).map(curve => {
      const value = run.series[curve.series].at(-1)?.value ?? null, most = CHARTS[kind].withMost ? ` (at most ${valueText(kind, run.greatest(curve.series))})` : '';
      return `${labelOf(curve, run)} ${value === null ? 'unknown' : valueText(kind, value)}${most}`;
    });
    return `${titleOf(kind, run)}: ${now.join(', ')} at ${minutes(run.end)}.`;
  }

  const hatches = new Map(); // by colour

  function hatched(color) {
    if (!hatches.has(color)) {
      const tile = document.createElement('canvas');
      tile.width = tile.height = 6;
      const context = tile.getContext('2d');
      context.fillStyle = color + '38';
      context.fillRect(0, 0, 6, 6);
      context.strokeStyle = color;
      context.beginPath();
      for (const x of [-6, 0, 6]) {
        context.moveTo(x - 1, 7);
        context.lineTo(x + 7, -1);
      }
      context.stroke();
      hatches.set(color, context.createPattern(tile, 'repeat'));
    }
    return hatches.get(color);
  }

  // The curves of a run. Behind them, if given: `bands` of many runs, as
  // {series: [{points: [{x, low, high}, ...], color}, ...]} (without a colour they have the curve's), and
  // the thin curves of a run `against` which this one is compared.
  function datasets(kind, run, {bands = {}, against = null} = {}) {
    const color = name => name.startsWith('--') ? css(name) : name;
    const axis = curve => curve.right ? 'right' : 'y';
    const curves = curvesOf(kind, run);
    const behind = curves.flatMap(curve => (bands[curve.series] ?? []).flatMap((band, i) => ['low', 'high'].map(end => ({
      label: '', extra: true, borderWidth: 0, yAxisID: axis(curve), stack: `band ${curve.series} ${i} ${end}`,
      data: band.points.map(point => ({x: point.x, y: point[end], value: point[end]})),
      // A band in an area's own colour would not be visible behind it.
      backgroundColor: band.color ? color(band.color) + '60' : curve.fill ? css('--text') + '70' : color(curve.color) + '38',
      fill: end === 'high' ? '-1' : false,
    }))));
    const others = against === null ? [] : curvesOf(kind, against).map(curve => ({
      label: labelOf(curve, against), extra: true, data: against.series[curve.series], borderColor: color(curve.color) + 'B0',
      borderDash: curve.dash, borderWidth: 1, fill: false, yAxisID: axis(curve), stack: curve.alone ? 'against alone' : 'against',
    }));
    return [...curves.map(curve => ({
      label: labelOf(curve, run), data: run.series[curve.series], borderColor: color(curve.color),
      backgroundColor: curve.fill === 'hatched' ? hatched(color(curve.color)) : color(curve.color) + (curve.fill ?? ''), borderDash: curve.dash,
      borderWidth: curve.width, fill: curve.fill ? 'stack' : false, yAxisID: axis(curve), stack: curve.alone ? 'alone' : 'run',
    })), ...others, ...behind];
  }

  // Fills `place` with the names of these curves and their marks, for a legend beside a chart or several.
  function fillLegend(place, all) {
    const key = all.map(({label, borderColor}) => label + borderColor).join();
    if (place.dataset.key === key) return;
    place.dataset.key = key;
    place.replaceChildren(...all.map(({label, borderColor, borderDash, borderWidth, fill, backgroundColor}) => {
      const mark = document.createElement('i'), name = document.createElement('span');
      mark.style.borderTop = `${Math.max(borderWidth, 2)}px ${borderDash.length === 0 ? 'solid' : borderDash[0] > 2 ? 'dashed' : 'dotted'} ${borderColor}`;
      if (fill) mark.style.background = typeof backgroundColor === 'string' ? backgroundColor : `repeating-linear-gradient(-45deg, ${borderColor} 0 1px, transparent 1px 4px)`;
      if (fill) mark.style.height = '.7em';
      name.append(mark, label);
      return name;
    }));
  }

  // Gives a chart another run. Keeps what has not changed, because setting it up costs the most.
  function redraw(chart, kind, run, extra = {}) {
    const now = chart.data.datasets, next = datasets(kind, run, extra);
    const same = (a, b) => a.label === b.label && a.stack === b.stack && a.borderColor === b.borderColor && a.backgroundColor === b.backgroundColor;
    if (now.length === next.length && now.every((set, i) => same(set, next[i]))) {
      now.forEach((set, i) => { set.data = next[i].data; });
    } else {
      chart.data.datasets = next;
    }
    chart.options.plugins.outage.run = run;
    chart.update('none');
    caption(chart.canvas, kind, run);
  }

  // `limits`: the ends of the axes that several charts share, {x, y}, and `least` of y; the `margin` beside the plots, a
  // function, where they share the time axis; and `legend`: false where it is elsewhere.
  function draw(canvas, kind, run, limits = {}, extra = {}) {
    const spec = CHARTS[kind];
    const text = css('--text'), muted = css('--muted'), grid = css('--grid');
    const font = {family: 'system-ui, sans-serif', size: 11};
    const logTicks = value => {
      const digit = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
      if (!(spec.marks ?? [1]).some(mark => Math.abs(digit - mark) < 1e-6)) return null;
      return spec.text?.(value) ?? (value >= 1e4 ? value / 1000 + 'k' : value);
    };
    // The axis ends with the data. Its last mark is left out if it is too near the one before.
    const timeTick = (value, i, all) =>
      i > 1 && value - all[i - 1].value < 0.9 * (all[1].value - all[0].value) ? null : minutes(value);
    const scale = (position, extra) => ({
      position, grid: {color: grid, drawOnChartArea: position === 'left'}, border: {color: grid},
      ticks: {color: muted, font, maxTicksLimit: 6, includeBounds: false, ...(spec.logarithmic && {callback: logTicks, maxTicksLimit: 60, autoSkip: false})},
      type: spec.logarithmic ? 'logarithmic' : 'linear', ...extra,
    });
    // Not down to the next power of ten, but low enough that the least value, often the most common one, is
    // not on the axis.
    let foot = 0;
    const tight = {
      afterDataLimits: axis => { foot = 0.8 * axis.min; },
      afterBuildTicks: axis => {
        axis.min = foot;
        axis.ticks = axis.ticks.filter(({value}) => value >= axis.min);
      },
    };
    const scales = {
      x: {
        type: 'linear', min: 0, max: limits.x, suggestedMax: 30, bounds: 'data',
        grid: {color: grid}, title: {display: true, text: 'time (min:s)', color: muted, font},
        ticks: {color: muted, font, callback: timeTick, maxRotation: 0, maxTicksLimit: 8},
      },
      y: scale('left', {
        min: limits.least ?? (spec.falls ? undefined : spec.least), suggestedMin: spec.least,
        max: limits.y, suggestedMax: kind === 'server' && run.late < FAR * spec.floor ? Math.max(spec.floor, 1.3 * run.late) : spec.floor, stacked: Boolean(spec.stacked),
        ...(spec.marks && tight),
      }),
    };
    if (spec.curves.some(curve => curve.right)) {
      scales.right = scale('right', {min: 0.01, max: LONGEST_DELAY});
    }
    const {margin} = limits;
    if (margin) {
      for (const axis of [scales.y, scales.right]) if (axis) axis.afterFit = self => { self.width = margin(); };
    }
    const chart = new Chart(canvas, {
      type: 'line',
      data: {datasets: datasets(kind, run, extra)},
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
        elements: {point: {radius: 0, hitRadius: 8}, line: {tension: 0}},
        interaction: {mode: 'index', intersect: false},
        scales, layout: margin && !scales.right ? {padding: () => ({right: margin()})} : {},
        plugins: {
          outage: {run},
          legend: {
            display: limits.legend ?? true, align: 'start',
            labels: { // one line for each
              color: text, font: {...font, size: 12}, boxWidth: 33, boxHeight: 0,
              filter: ({datasetIndex}, {datasets: all}) => !all[datasetIndex].extra,
            },
          },
          tooltip: {
            filter: ({dataset}) => !dataset.extra,
            callbacks: {
              title: ([item]) => item ? minutes(item.parsed.x) : '',
              footer: ([item]) => item && spec.readout?.(item.chart.options.plugins.outage.run, item.parsed.x),
              label: ({dataset, raw}) => `${dataset.label}: ${valueText(kind, raw.value)}`,
            },
          },
        },
      },
      plugins: kind === 'server' ? [outageShade, lateLine] : [outageShade],
    });
    canvas.setAttribute('role', 'img');
    caption(canvas, kind, run);
    return chart;
  }

  return {Run, STACK, caption, css, curvesOf, curvesSeen, datasets, describe, draw, drawLate, duration, fillLegend, fillTable, milliseconds, minutes, number, outageText, percent, PHASE_COLUMNS, PHASES_NOTE, phaseRows, reasons, redraw, requestTime, seconds, titleOf};
})();
