// The report: all runs side by side, on the same axes.
'use strict';

(() => {
  const {Run, curvesOf, datasets, draw, duration, fillLegend, fillTable, milliseconds, minutes, number, percent, PHASE_COLUMNS, PHASES_NOTE, phaseRows, reasons, requestTime, titleOf} = Retrystorm;
  const KINDS = ['rates', 'clients', 'connections', 'amplification', 'server', 'latency'];
  const data = JSON.parse(document.getElementById('data').textContent);

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    Object.assign(node, attributes);
    node.append(...children);
    return node;
  }

  const runs = data.map(({name, start, events, server, nodes, reproduce, explorer}) =>
    Object.assign(Run.of(start, events, server), {name, nodes, reproduce, explorer, before: [...events.map(({connections}) => connections), ...server]}));

  const most = values => values.length > 0 ? Math.max(...values) : undefined;
  const limits = {
    rates: {y: 1.05 * most(runs.map(run => run.greatest('ok', 'errors', 'timed_out', 'not_sent')))},
    clients: {y: most(runs.map(run => run.greatestStack('thinking', 'in_flight', 'waiting_to_retry')))},
    connections: {y: 1.05 * most(runs.map(run => run.greatest('used', 'idle', 'in_line', 'opened')))},
    amplification: {
      least: Math.min(1, ...runs.flatMap(run => ['amplification', 'lately'].map(name => run.least(name)))),
      y: 1.3 * most(runs.map(run => run.greatest('amplification', 'lately'))),
    },
    server: {y: Math.max(1000, 1.5 * most(runs.map(run => run.greatest('concurrency'))))},
    latency: {
      least: Math.min(...runs.map(run => run.least('p50'))),
      y: 1.1 * most(runs.map(run => run.greatest('p99'))),
    },
  };
  const end = Math.ceil(most(runs.map(run => run.end)) / 20) * 20;

  document.getElementById('summary').textContent =
    `${runs.length} ${runs.length === 1 ? 'run' : 'runs'} on the same axes; the shade is the outage, a dashed line what was done about it.`;

  // The verdict looks at windows of 5 s, so no time is known better.
  const after = seconds => seconds === null || seconds === undefined ? '–' : seconds < 5 ? 'within 5 s' : `after ${duration(seconds).replace('.0 s', ' s')}`;
  const peak = run => run.series.concurrency.reduce((top, {value}) => Math.max(top, value ?? 0), -1);
  // What a real server's kernel held, or a simulated one's with kept connections.
  const before = (run, figure) => run.before.reduce((top, line) => Math.max(top, line?.[figure] ?? -1), -1);
  const column = (title, figure) => [title, run => before(run, figure) < 0 ? '–' : number(before(run, figure)), run => before(run, figure) >= 0];
  fillTable(document.getElementById('table'), [
    ['run', run => run.name],
    ['verdict', run => run.summary?.verdict ?? 'not ended'],
    ['outage', run => run.summary?.outage ?? run.outages.at(-1)?.what ?? '–'],
    ['retries', run => run.start.title ?? run.start.strategy],
    ['clients', ({start}) => start.arrivals === 'open' ? `${number(start.rate)}/s` : number(start.clients)],
    ['seed', run => String(run.start.seed)],
    ['baseline OK/s', run => number(run.summary?.baseline_ok, 1)],
    ['errors gone', run => after(run.summary?.errors_gone_s)],
    ['recovered', run => after(run.summary?.time_to_recovery_s)],
    ['amplification', run => number(run.summary?.amplification, 2)],
    ['peak attempts/s', run => number(run.summary?.peak_attempts, 1)],
    ['peak concurrency', run => peak(run) < 0 ? '–' : number(peak(run)), run => peak(run) >= 0],
    column('longest accept queue', 'accept_queue'),
    column('SYNs dropped', 'no_room'),
    ['OK lost', run => number(run.summary?.ok_lost)],
  ], runs);
  const givenUp = ({gave_up, gave_up_by}) =>
    number(gave_up) + (reasons(gave_up_by) && ` (${reasons(gave_up_by)})`);
  fillTable(document.getElementById('requests'), [
    ['run', run => run.name],
    ['given up', run => givenUp(run.summary ?? {}), run => run.summary?.gave_up > 0],
    ['failing at the end', run => number(run.summary?.failing), run => run.summary?.failing > 0],
    ['attempts not sent', run => number(run.summary?.not_sent), run => run.summary?.not_sent > 0],
    ['latency p50', run => milliseconds(run.summary?.latency_ms?.p50)],
    ['p95', run => milliseconds(run.summary?.latency_ms?.p95)],
    ['p99', run => milliseconds(run.summary?.latency_ms?.p99)],
    ['request time p50', run => requestTime(run.summary?.request_time_ms, 'p50')],
    ['p95', run => requestTime(run.summary?.request_time_ms, 'p95')],
    ['p99', run => requestTime(run.summary?.request_time_ms, 'p99')],
    ['longest without an OK', run => duration(run.summary?.longest_without_ok_s)],
    ['requests succeeded', run => percent(run.summary?.success_share)],
  ], runs);
  const phases = runs.flatMap(run => phaseRows(run.summary, {run}));
  document.getElementById('phases-of').hidden = phases.length === 0;
  document.getElementById('phases-note').textContent = PHASES_NOTE;
  fillTable(document.getElementById('phases'), [['run', ({run}) => run.name, () => runs.length > 1], ...PHASE_COLUMNS], phases);

  // Services behind services.
  const parts = name => runs.flatMap(run => (run.summary?.services?.[name] ?? []).map(part => ({run, part, last: run.nodes[part.node] ?? {}})));
  const nodes = parts('nodes'), edges = parts('edges'), kinds_of_clients = parts('clients');
  document.getElementById('services').hidden = nodes.length === 0;
  document.getElementById('deaths').textContent = runs.filter(run => run.summary?.services?.died_first)
    .map(run => `${run.name}: ${run.summary.services.died_first} died first: ${run.summary.services.why}.`).join(' ');
  const seconds = time => typeof time === 'number' ? duration(time) : '–';
  fillTable(document.getElementById('nodes'), [
    ['run', ({run}) => run.name, () => runs.length > 1],
    ['service', ({part}) => part.node],
    ['calls a request', ({part}) => number(part.amplification, 2)],
    ['offered/s', ({last}) => number(last.offered_per_s, 1)],
    ['refused/s', ({last}) => number(last.refused_per_s, 1)],
    ['in time/s', ({last}) => number(last.in_time_per_s, 1)],
    ['for nobody', ({last}) => last.worked_per_s > 0 ? percent(last.for_nobody_per_s / last.worked_per_s) : '–'],
    ['busy', ({last}) => number(last.busy, 1)],
    ['held', ({last}) => number(last.held, 1)],
    ['of workers', ({last}) => number(last.workers)],
    ['queue', ({last}) => number(last.queue)],
    ['dead from', ({part}) => seconds(part.died_at)],
    ['to', ({part}) => seconds(part.back_at)],
  ], nodes);
  fillTable(document.getElementById('edges'), [
    ['run', ({run}) => run.name, () => runs.length > 1],
    ['calls from', ({part}) => part.from],
    ['to', ({part}) => part.to],
    ['calls a request', ({part}) => number(part.amplification, 2)],
    ['share of its calls', ({part}) => percent(part.share)],
  ], edges);
  if (kinds_of_clients.length > 0) {
    fillTable(document.getElementById('kinds'), [
      ['run', ({run}) => run.name, () => runs.length > 1],
      ['clients', ({part}) => part.clients],
      ['requests', ({part}) => number(part.requests)],
      ['succeeded', ({part}) => percent(part.success_share)],
      ['OK/s before the outage', ({part}) => number(part.ok_per_s_before, 1)],
      ['in it', ({part}) => number(part.ok_per_s_during, 1)],
      ['after it', ({part}) => number(part.ok_per_s_after, 1)],
    ], kinds_of_clients);
  }

  const picture = document.getElementById('picture');
  if (picture !== null) {
    document.getElementById('runs').before(make('section', {className: 'panel picture'},
      make('img', {src: picture.textContent, alt: 'The map of the runs below and of many others'})));
  }

  // How a run ended: what is said of one, and of several.
  function outcome({summary}) {
    const {verdict, time_to_recovery_s: time} = summary ?? {};
    const back = after(time);
    return {
      collapsed: ['stays down', 'stay down'], relapsed: ['stays down', 'stay down'], recovered: [`is back ${back}`, `are back ${back}`],
      recovering: ['is not back at the end', 'are not back at the end'], undecided: ['is undecided', 'are undecided'],
      'no outage': ['had no outage', 'had no outage'],
    }[verdict] ?? ['has not ended', 'have not ended'];
  }

  const groups = new Map();
  for (const run of runs) {
    const [one, many] = outcome(run);
    groups.set(one, {many, names: [...groups.get(one)?.names ?? [], run.name]});
  }
  const listed = names => names.length > 6 ? `${names.length} runs` : names.join(', ').replace(/, ([^,]*)$/, ' and $1');
  document.getElementById('outcome').textContent =
    `${[...groups].map(([one, {many, names}]) => `${listed(names)} ${names.length > 1 ? many : one}`).join('; ')}.`;

  // The colours of scripts/remedies for OK/s, as a share of those before the outage.
  const SHARES = [[122, 38, 0], [213, 94, 0], [242, 199, 92], [191, 217, 236], [242, 247, 251]];
  function shareColour(share) {
    const at = Math.min(Math.max(share, 0), 1) * (SHARES.length - 1), left = Math.min(Math.floor(at), SHARES.length - 2);
    return `rgb(${SHARES[left].map((value, i) => Math.round(value + (at - left) * (SHARES[left + 1][i] - value))).join(' ')})`;
  }

  const ROW = 26, FOOT = 18, NAMES = 110; // pixels
  const rows = make('canvas');
  rows.setAttribute('role', 'img');
  rows.setAttribute('aria-label', `OK/s over time: ${document.getElementById('outcome').textContent}`);
  document.getElementById('rows').append(rows);
  function drawRows() {
    const width = rows.clientWidth, height = runs.length * ROW + FOOT, ratio = devicePixelRatio || 1, context = rows.getContext('2d');
    const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    rows.style.height = `${height}px`;
    rows.width = Math.round(width * ratio);
    rows.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    context.font = '12px system-ui, sans-serif';
    const x = t => NAMES + t / end * (width - NAMES);
    runs.forEach((run, i) => {
      const top = i * ROW + 6, {ok} = run.series;
      const before = run.summary?.baseline_ok || Math.max(1, ...ok.map(({value}) => value));
      context.fillStyle = css('--text');
      context.fillText(run.name, 0, top + 14, NAMES - 8);
      let from = 0;
      for (const {x: middle, value} of ok) {
        const to = 2 * middle - from;
        context.fillStyle = shareColour(value / before);
        context.fillRect(x(from), top, x(to) - x(from) + 0.5, ROW - 8);
        from = to;
      }
      context.fillStyle = css('--text');
      for (const outage of run.outages) context.fillRect(x(outage.from), top - 4, x(outage.to ?? run.end) - x(outage.from), 3);
    });
    context.fillStyle = css('--muted');
    for (let t = 0; t < end; t += Math.max(20, Math.ceil(end / 8 / 20) * 20)) context.fillText(minutes(t), x(t), height - 4);
  }
  new ResizeObserver(drawRows).observe(document.getElementById('rows'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawRows);

  document.getElementById('runs').append(...runs.map(run => make('section', {className: 'panel'},
    make('h3', {textContent: `${run.name}: ${run.summary?.verdict ?? 'not ended'}`}),
    ...run.summary?.reason ? [make('p', {textContent: run.summary.reason})] : [])));

  // Of each kind of chart one row, with one legend: a chart for each run.
  const canvases = [];
  const kinds = KINDS.map(kind => {
    const known = runs.filter(run => curvesOf(kind, run).every(({series}) => run.series[series].length > 0));
    const legend = make('div', {className: 'legends'});
    legend.setAttribute('aria-hidden', 'true');
    const figures = known.map(run => {
      const canvas = make('canvas');
      canvas.dataset.chart = kind;
      canvases.push([canvas, kind, run]);
      return make('figure', {}, make('p', {className: 'muted', textContent: run.name}), make('div', {className: 'chart'}, canvas));
    });
    const titles = [...new Set(known.map(run => titleOf(kind, run)))];
    return {kind, known, legend, node: make('section', {className: 'kind'},
      make('header', {}, make('h2', {textContent: titles.join(' / ')}), legend), make('div', {className: 'runs'}, ...figures))};
  }).filter(({known}) => known.length > 0);
  document.getElementById('charts').append(...kinds.map(({node}) => node));

  document.getElementById('commands').append(...runs.map(run => make('div', {className: 'panel'},
    make('h2', {textContent: `To do the same again: ${run.name}, seed ${run.start.seed}`}), make('pre', {textContent: run.reproduce}),
    ...run.explorer ? [make('a', {href: run.explorer, textContent: 'Turn its knobs in the explorer'})] : [])));

  const traces = document.getElementById('traces');
  data.forEach(({trace}, i) => {
    if (trace.total > 0) traces.append(RequestTrace.section(runs[i], trace, traces.childElementCount === 0));
  });

  let charts = [];
  function drawAll() {
    for (const chart of charts) chart.destroy();
    charts = canvases.map(([canvas, kind, run]) => draw(canvas, kind, run, {x: end, margin: () => 58, legend: false, ...limits[kind]}));
    for (const {kind, known, legend} of kinds) {
      const curves = new Map(known.flatMap(run => datasets(kind, run)).map(curve => [curve.label, curve]));
      fillLegend(legend, [...curves.values()]);
    }
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
  drawAll();
})();
