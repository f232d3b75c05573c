// The report: every run beside the others, on the same axes.
'use strict';

(() => {
  const {Run, curvesOf, draw, duration, fillTable, milliseconds, number, percent, reasons} = Retrystorm;
  const KINDS = ['rates', 'clients', 'amplification', 'server', 'latency'];
  const data = JSON.parse(document.getElementById('data').textContent);

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    Object.assign(node, attributes);
    node.append(...children);
    return node;
  }

  const runs = data.map(({name, start, events, server, command, reproduce, explorer}) =>
    Object.assign(Run.of(start, events, server), {name, command, reproduce, explorer}));

  const most = values => values.length > 0 ? Math.max(...values) : undefined;
  const limits = {
    rates: {y: 1.05 * most(runs.map(run => run.greatest('ok', 'errors', 'timed_out', 'not_sent')))},
    clients: {y: most(runs.map(run => run.greatestStack('thinking', 'in_flight', 'waiting_to_retry')))},
    amplification: {
      least: Math.floor(2 * Math.min(1, ...runs.map(run => run.least('amplification')))) / 2,
      y: 1.05 * most(runs.map(run => run.greatest('amplification'))),
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

  const peak = run => run.series.concurrency.reduce((top, {value}) => Math.max(top, value ?? 0), -1);
  fillTable(document.getElementById('table'), [
    ['run', run => run.name],
    ['verdict', run => run.summary?.verdict ?? 'not ended'],
    ['outage', run => run.summary?.outage ?? run.outages.at(-1)?.what ?? '–'],
    ['strategy', run => run.start.strategy],
    ['clients', ({start}) => start.arrivals === 'open' ? `${number(start.rate)}/s` : number(start.clients)],
    ['seed', run => String(run.start.seed)],
    ['baseline OK/s', run => number(run.summary?.baseline_ok, 1)],
    ['errors gone after', run => duration(run.summary?.errors_gone_s)],
    ['recovered after', run => duration(run.summary?.time_to_recovery_s)],
    ['amplification', run => number(run.summary?.amplification, 2)],
    ['peak attempts/s', run => number(run.summary?.peak_attempts, 1)],
    ['peak concurrency', run => peak(run) < 0 ? '–' : number(peak(run))],
    ['OK lost', run => number(run.summary?.ok_lost)],
  ], runs);
  const givenUp = ({gave_up, gave_up_by}) =>
    number(gave_up) + (reasons(gave_up_by) && ` (${reasons(gave_up_by)})`);
  fillTable(document.getElementById('requests'), [
    ['run', run => run.name],
    ['requests succeeded', run => percent(run.summary?.success_share)],
    ['given up', run => givenUp(run.summary ?? {}), run => run.summary?.gave_up > 0],
    ['failing at the end', run => number(run.summary?.failing), run => run.summary?.failing > 0],
    ['attempts not sent', run => number(run.summary?.not_sent), run => run.summary?.not_sent > 0],
    ['latency p50', run => milliseconds(run.summary?.latency_ms?.p50)],
    ['p95', run => milliseconds(run.summary?.latency_ms?.p95)],
    ['p99', run => milliseconds(run.summary?.latency_ms?.p99)],
    ['request time p50', run => milliseconds(run.summary?.request_time_ms?.p50)],
    ['p95', run => milliseconds(run.summary?.request_time_ms?.p95)],
    ['p99', run => milliseconds(run.summary?.request_time_ms?.p99)],
    ['longest without an OK', run => duration(run.summary?.longest_without_ok_s)],
  ], runs);

  const picture = document.getElementById('picture');
  if (picture !== null) {
    document.getElementById('runs').before(make('section', {className: 'panel picture'},
      make('img', {src: picture.textContent, alt: 'The map of the runs below and of many others'})));
  }

  const canvases = [];
  document.getElementById('runs').append(...runs.map(run => {
    const known = kind => curvesOf(kind, run).every(({series}) => run.series[series].length > 0);
    const figures = KINDS.filter(known).map(kind => {
      const canvas = make('canvas');
      canvas.dataset.chart = kind;
      canvases.push([canvas, kind, run]);
      return make('figure', {}, make('figcaption'),
        make('div', {className: 'chart'}, canvas));
    });
    return make('section', {className: 'run'},
      make('h3', {textContent: `${run.name}: ${run.summary?.verdict ?? 'not ended'}`}), ...figures,
      make('div', {className: 'panel'},
        make('h2', {textContent: `As it was run (seed ${run.start.seed})`}), make('pre', {textContent: run.command}),
        make('h2', {textContent: 'To do the same again'}), make('pre', {textContent: run.reproduce}),
        ...run.explorer ? [make('a', {href: run.explorer, textContent: 'Turn its knobs in the explorer'})] : []));
  }));

  const traces = document.getElementById('traces');
  data.forEach(({trace}, i) => {
    if (trace.total > 0) traces.append(RequestTrace.section(runs[i], trace, traces.childElementCount === 0));
  });

  let charts = [];
  function drawAll() {
    for (const chart of charts) chart.destroy();
    charts = canvases.map(([canvas, kind, run]) => draw(canvas, kind, run, {x: end, ...limits[kind]}));
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
  drawAll();
})();
