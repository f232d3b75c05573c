// The report: every run beside the others, on the same axes.
'use strict';

(() => {
  const {Run, CHARTS, draw, duration, number} = Retrystorm;
  const KINDS = ['rates', 'clients', 'amplification', 'server'];
  const data = JSON.parse(document.getElementById('data').textContent);

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    Object.assign(node, attributes);
    node.append(...children);
    return node;
  }

  const runs = data.map(({name, start, events, server, command, reproduce}) => {
    const run = new Run(start);
    Object.assign(run, {name, command, reproduce, mostPoints: Infinity});
    for (const event of events) run.take(event);
    // Between two reports the server says nothing, and no longer while it is frozen.
    const gap = Math.max(1, 3 * (server.length > 1 ? server[1].t - server[0].t : 0));
    server.forEach((event, i) => {
      if (i > 0 && event.t - server[i - 1].t > gap) run.breakServer(event.t);
      run.takeServer(event.t, event);
    });
    return run;
  });

  const most = values => values.length > 0 ? Math.max(...values) : undefined;
  const limits = {
    rates: 1.05 * most(runs.map(run => run.greatest('ok', 'errors', 'timed_out'))),
    clients: most(runs.map(run => run.greatestStack('thinking', 'in_flight', 'waiting_to_retry'))),
    amplification: 1.05 * most(runs.map(run => run.greatest('amplification'))),
    server: Math.max(1000, 1.5 * most(runs.map(run => run.greatest('concurrency')))),
  };
  const end = Math.ceil(most(runs.map(run => run.end)) / 20) * 20;

  document.getElementById('summary').textContent =
    `${runs.length} ${runs.length === 1 ? 'run' : 'runs'} on the same axes; the shade is the time in which the server was frozen.`;

  const milliseconds = value => value === null || value === undefined ? '–' : duration(value / 1000);
  document.querySelector('#table tbody').append(...runs.map(run => {
    const {start, summary} = run;
    const peak = run.series.concurrency.reduce((top, {value}) => Math.max(top, value ?? 0), -1);
    const cells = [run.name, summary?.verdict ?? 'not ended', start.strategy, number(start.clients), String(start.seed),
      number(summary?.baseline_ok, 1), duration(summary?.errors_gone_s), duration(summary?.time_to_recovery_s),
      number(summary?.amplification, 2), number(summary?.peak_attempts, 1), peak < 0 ? '–' : number(peak),
      number(summary?.ok_lost), milliseconds(summary?.latency_ms?.p50), milliseconds(summary?.latency_ms?.p99),
      duration(summary?.longest_without_ok_s)];
    return make('tr', {}, ...cells.map(text => make('td', {textContent: text})));
  }));

  const picture = document.getElementById('picture');
  if (picture !== null) {
    document.getElementById('runs').before(make('section', {className: 'panel picture'},
      make('img', {src: picture.textContent, alt: 'The map of the runs below and of many others'})));
  }

  const canvases = [];
  document.getElementById('runs').append(...runs.map(run => {
    const known = kind => CHARTS[kind].curves.every(({series}) => run.series[series].length > 0);
    const figures = KINDS.filter(known).map(kind => {
      const canvas = make('canvas');
      canvas.dataset.chart = kind;
      canvases.push([canvas, kind, run]);
      return make('figure', {}, make('figcaption', {textContent: CHARTS[kind].title}),
        make('div', {className: 'chart'}, canvas));
    });
    return make('section', {className: 'run'},
      make('h3', {textContent: `${run.name}: ${run.summary?.verdict ?? 'not ended'}`}), ...figures,
      make('div', {className: 'panel'},
        make('h2', {textContent: `As it was run (seed ${run.start.seed})`}), make('pre', {textContent: run.command}),
        make('h2', {textContent: 'To do the same again'}), make('pre', {textContent: run.reproduce})));
  }));

  const traces = document.getElementById('traces');
  data.forEach(({trace}, i) => {
    if (trace.total > 0) traces.append(RequestTrace.section(runs[i], trace, traces.childElementCount === 0));
  });

  let charts = [];
  function drawAll() {
    for (const chart of charts) chart.destroy();
    charts = canvases.map(([canvas, kind, run]) => draw(canvas, kind, run, {x: end, y: limits[kind]}));
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
  drawAll();
})();
