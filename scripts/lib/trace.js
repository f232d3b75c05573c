// The traced requests: one row for each, with a bar for every attempt.
'use strict';

const RequestTrace = (() => {
  const {duration, number} = Retrystorm;
  const WIDTH = 1120, RIGHT = 16, TOP = 22;
  const LETTER = 6.4; // the width of one, about
  const BAR = 11, GAP = 9, LANE = 6; // of a row, and of each lane below it for wasted work
  const MOST_LANES = 6;
  const OUTCOMES = {ok: 'OK', error: 'error', timed_out: 'timed out', not_sent: 'not sent', under_way: 'under way',
    superseded: 'superseded'};

  function svg(tag, attributes = {}, ...children) {
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function html(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    Object.assign(node, attributes);
    node.append(...children);
    return node;
  }

  const known = value => value !== null && value !== undefined;
  const outcome = attempt => Object.hasOwn(OUTCOMES, attempt.outcome ?? '') ? attempt.outcome : 'under_way';
  const words = reason => String(reason).replaceAll('_', ' ');
  const count = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;

  // When an attempt was in which stage, on the run's clock. Its end is the client's.
  function times(attempt, end) {
    const sent = attempt.t;
    const over = outcome(attempt) === 'not_sent' ? sent
      : known(attempt.latency_s) ? sent + attempt.latency_s : Math.max(end, sent);
    const sum = (from, part) => from === null || !known(part) ? null : from + part;
    // A client that only sees answers does not know when it was connected.
    const begun = sent + (attempt.pool_s ?? 0);
    const connected = known(attempt.connect_s) ? begun + attempt.connect_s : known(attempt.queue_s) ? begun : null;
    const accepted = sum(connected, attempt.queue_s);
    return {sent, over, connected, accepted, done: sum(accepted, attempt.service_s)};
  }

  // Sections of an attempt's way between two times.
  function ways({sent, over, connected, accepted, done}, from, to) {
    const end = Math.max(over, done ?? over);
    const bounds = [['way', sent, connected ?? end], ['queue', connected, accepted ?? end],
      ['service', accepted, done ?? end]];
    return bounds.filter(([, begin]) => begin !== null)
      .map(([kind, begin, finish]) => [kind, Math.max(begin, from), Math.min(finish, to)])
      .filter(([, begin, finish]) => finish > begin);
  }

  function fate(request) {
    const tried = count(request.attempts.filter(each => each.outcome !== 'not_sent').length, 'attempt');
    if (!known(request.time_s)) return `not over, ${tried}`;
    const end = request.outcome === 'ok' ? 'OK' : `gave up (${words(request.reason)})`;
    return `${end} after ${duration(request.time_s)}, ${tried}`;
  }
  const label = request => `${request.request}: ${fate(request)}`;

  function description(attempt, i) {
    const parts = [`attempt ${i + 1}, sent at ${number(attempt.t, 3)} s: ${OUTCOMES[outcome(attempt)]}`];
    if (known(attempt.status)) parts[0] += ` ${attempt.status}`;
    if (known(attempt.reason)) parts[0] += ` (${words(attempt.reason)})`;
    const part = (seconds, text) => { if (known(seconds)) parts.push(`${text} ${duration(seconds)}`); };
    part(attempt.latency_s, 'lasted');
    if (attempt.pool_s > 0) part(attempt.pool_s, 'in line for a connection');
    if (attempt.connect_s > 0) part(attempt.connect_s, 'no room in the kernel’s queue for');
    part(attempt.queue_s, known(attempt.connect_s) ? 'in the kernel’s queue' : 'connecting and in the kernel’s queue');
    part(attempt.service_s, 'in the service');
    part(attempt.late_s, 'answered too late by');
    part(attempt.wait_s, 'then waited');
    return parts.join('; ');
  }

  // Attempts that are still in the server after their client has given up, in lanes, so that none covers
  // another: [attempt, its end there, lane]. One without an end was there when the run ended.
  function lanes(attempts, end) {
    const ends = [];
    const vain = attempts.filter(({attempt, at}) => outcome(attempt) === 'timed_out' &&
      at.connected !== null && (at.done ?? Infinity) > at.over);
    return vain.map(each => {
      const gone = Math.max(each.at.done ?? end, each.at.over);
      let lane = ends.findIndex(before => before <= each.at.over);
      if (lane < 0) lane = ends.length;
      ends[lane] = gone;
      return [each, gone, lane];
    });
  }

  function row(request, x, top, end) {
    const attempts = request.attempts.map((attempt, i) => ({attempt, i, at: times(attempt, end)}));
    const middle = top + BAR / 2;
    const group = svg('g', {}, svg('text', {x: 4, y: top + BAR - 1.5}, label(request)));
    const line = (from, to, name, y = middle) =>
      svg('line', {x1: x(from), x2: Math.max(x(to), x(from) + 1), y1: y, y2: y, class: name});
    let from = request.t;
    for (const {attempt, i, at} of attempts) {
      if (at.sent > from) group.append(line(from, at.sent, 'wait'));
      from = at.over;
      const look = outcome(attempt);
      const marks = svg('g', {class: look}, svg('title', {}, description(attempt, i)));
      if (look === 'not_sent') {
        const left = x(at.sent);
        marks.append(svg('path', {d: `M${left} ${top}l5 ${BAR / 2}l-5 ${BAR / 2}l-5 ${-BAR / 2}z`}));
      } else {
        const box = (kind, begin, finish) => svg('rect', {x: x(begin), y: top, class: `${kind} ${look}`,
          width: Math.max(x(finish) - x(begin), 1.5), height: BAR, ...(kind !== 'way' && {'stroke-width': 0})});
        marks.append(box('way', at.sent, at.over));
        for (const [kind, begin, finish] of ways(at, at.sent, at.over)) {
          if (kind !== 'way') marks.append(box(kind, begin, finish));
        }
      }
      group.append(marks);
    }
    if (!known(request.time_s) && end > from) group.append(line(from, end, 'wait'));
    const vain = lanes(attempts, end), shown = vain.filter(([, , lane]) => lane < MOST_LANES);
    for (const [{attempt, i, at}, gone, lane] of shown) {
      const y = top + BAR + LANE * (lane + 0.5) + 1, look = outcome(attempt), right = x(gone);
      const marks = svg('g', {class: look}, svg('title', {}, description(attempt, i)));
      for (const [kind, begin, finish] of ways({...at, done: gone}, at.over, gone)) {
        marks.append(line(begin, finish, `late ${kind} ${look}`, y));
      }
      if (known(attempt.late_s)) {
        marks.append(svg('path', {class: `late mark ${look}`, d: `M${right - 3} ${y - 3}l6 6m0 -6l-6 6`}));
      }
      group.append(marks);
    }
    let height = BAR + LANE * shown.reduce((most, [, , lane]) => Math.max(most, lane + 1), 0);
    if (shown.length < vain.length) {
      height += 2 * LANE;
      group.append(svg('text', {x: WIDTH - RIGHT, y: top + height - 1, class: 'muted', 'text-anchor': 'end'},
        `and ${count(vain.length - shown.length, 'more attempt')} that went on in vain`));
    }
    return [group, height + GAP];
  }

  function picture(run, requests) {
    const ends = requests.flatMap(request => [request.t + (request.time_s ?? 0),
      ...request.attempts.flatMap(attempt => Object.values(times(attempt, run.end)))]);
    const first = requests.reduce((least, {t}) => Math.min(least, t), Infinity);
    const open = requests.some(({time_s: time}) => !known(time));
    const last = ends.reduce((most, t) => t === null ? most : Math.max(most, t), open ? Math.max(run.end, first) : first);
    const begin = run.outages.reduce((least, {from}) => from <= first && first - from < last - first ? Math.min(least, from) : least, first);
    const end = Math.max(last, begin + 1e-3);
    const left = 24 + LETTER * Math.max(...requests.map(each => label(each).length));
    const x = t => left + (t - begin) / (end - begin) * (WIDTH - left - RIGHT);

    const rows = [];
    let y = TOP + GAP;
    for (const request of requests) {
      const [group, height] = row(request, x, y, end);
      rows.push(group);
      y += height;
    }
    const back = [];
    for (const {from, to, what} of run.outages) {
      const x1 = x(Math.max(from, begin)), x2 = x(Math.min(to ?? end, end));
      if (x2 <= x1) continue;
      back.push(svg('rect', {x: x1, y: TOP, width: x2 - x1, height: y - TOP, class: 'shade'}));
      if (x2 - x1 > 50) back.push(svg('text', {x: x1 + 4, y: y + 12, class: 'muted'}, Retrystorm.outageText(what)));
    }
    const rough = (end - begin) / 8, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough);
    for (let i = Math.ceil(begin / step), most = i + 12; i * step <= end && i < most; ++i) {
      const at = x(i * step), digits = Math.max(0, -Math.floor(Math.log10(step)));
      back.push(svg('line', {x1: at, x2: at, y1: TOP, y2: y, class: 'grid'}),
        svg('text', {x: at, y: TOP - 7, class: 'muted', 'text-anchor': 'middle'}, `${number(i * step, Math.min(digits, 6))} s`));
    }
    const height = y + 18;
    return svg('svg', {viewBox: `0 0 ${WIDTH} ${height}`, role: 'img',
      'aria-label': `${count(requests.length, 'request')}, each attempt as a bar from sending to its end: the table below says the same.`},
    ...back, ...rows);
  }

  function legend() {
    const sample = (text, ...shapes) => html('span', {},
      svg('svg', {viewBox: '0 0 54 14', 'aria-hidden': 'true'}, ...shapes), text);
    const box = (left, width, name) => svg('rect', {x: left, y: 1.5, width, height: BAR, class: name});
    return html('div', {className: 'legend'},
      ...['ok', 'error', 'timed_out'].map(each => sample(OUTCOMES[each], box(2, 50, `service ${each}`))),
      sample('not sent', svg('path', {class: 'not_sent', d: 'M27 1.5l5 5.5l-5 5.5l-5 -5.5z'})),
      sample('pale: in line for a connection, no room in the kernel’s queue, or not known; medium: in the queue; full: in the service',
        box(2, 50, 'way timed_out'), box(14, 20, 'queue timed_out'), box(34, 18, 'service timed_out')),
      sample('wait', svg('line', {x1: 2, x2: 52, y1: 7, y2: 7, class: 'wait'})),
      sample('given up by its client, yet still queued, served, answered too late (×)',
        svg('line', {x1: 2, x2: 30, y1: 7, y2: 7, class: 'late queue timed_out'}),
        svg('line', {x1: 30, x2: 48, y1: 7, y2: 7, class: 'late service timed_out'}),
        svg('path', {class: 'late mark timed_out', d: 'M45 4l6 6m0 -6l-6 6'})));
  }

  function table(requests) {
    const cells = (tag, texts) => html('tr', {}, ...texts.map(textContent => html(tag, {textContent})));
    const rows = requests.flatMap(request => request.attempts.map((attempt, i) => cells('td', [
      number(request.request), number(i + 1), `${number(attempt.t, 3)} s`,
      OUTCOMES[outcome(attempt)] + (known(attempt.status) ? ` ${attempt.status}` : '') +
        (known(attempt.reason) ? ` (${words(attempt.reason)})` : ''),
      ...['latency_s', 'connect_s', 'queue_s', 'service_s', 'late_s', 'wait_s'].map(name => duration(attempt[name])),
      i + 1 === request.attempts.length ? fate(request) : ''])));
    return html('table', {}, html('thead', {}, cells('th', ['request', 'attempt', 'sent at', 'outcome', 'lasted',
      'without room', 'in the kernel’s queue', 'in the service', 'too late by', 'then waited', 'the request'])),
    html('tbody', {}, ...rows));
  }

  // A section that shows the requests of a run: {total, requests}, as in report.jq. The first section
  // explains the symbols.
  function section(run, {total, requests}, first) {
    const shown = requests.length < total ? `the first ${requests.length} of ` : '';
    return html('section', {className: 'panel trace'},
      html('h3', {textContent: `${run.name}: ${shown}${count(total, 'request')} traced`}),
      ...first ? [legend()] : [], html('div', {className: 'scroll', tabIndex: 0}, picture(run, requests)),
      html('details', {}, html('summary', {textContent: 'The same as a table'}),
        html('div', {className: 'scroll'}, table(requests))));
  }

  return {section};
})();
