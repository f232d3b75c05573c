// The waits of some clients whose attempts all fail, one time line for each client.
import {css, make, paint} from './dom.js';
import {brief} from './durations.js';
import {onScheme} from './heat.js';
import {Dropped} from './pool.js';

const {duration} = Retrystorm;
const CLIENTS = 5, ATTEMPTS = 30;
const MARKS = [1e-3, 0.01, 0.1, 1, 10, 60, 600, 3600, 36000]; // of a logarithmic line, in seconds
const ROW = 22, LEFT = 62, RIGHT = 12, AXIS = 20; // pixels
const GROUP = 'waits';

// The times of the attempts since the first one, in seconds.
const attempts = waits => waits.reduce((times, wait) => [...times, times.at(-1) + wait], [0]);

export function waitsInWords({waits, gave_up: gaveUp}) {
  if (waits.length === 0) return gaveUp ? 'Gives up after the first attempt.' : '';
  const even = waits.every(wait => Math.abs(wait - waits[0]) < 1e-9);
  const shown = waits.slice(0, 4).map(duration);
  const words = even && waits.length > 1 ? `Always waits ${shown[0]}` :
    `First wait ${shown[0]}${shown.length > 1 ? `, then ${shown.slice(1).join(', ')}` : ''}${waits.length > 4 ? ', ...' : ''}`;
  const end = gaveUp ? `gives up after ${waits.length + 1} attempts, ${duration(attempts(waits).at(-1))} after the first` :
    `still tries after ${waits.length + 1} attempts`;
  return `${words}; ${end}.`;
}

// The position of a time on the line: linear if the waits are similar, else logarithmic from the first
// wait, with 0 at the left end.
function timeLine(times, width) {
  const later = times.filter(time => time > 0);
  const longest = Math.max(...later, 1e-3), first = Math.min(...later, longest);
  const isLog = longest / first > 100;
  if (!isLog) return {isLog, longest, first, x: time => LEFT + time / longest * width};
  const from = first / 2;
  return {isLog, longest, first, x: time => LEFT +
    (time < from ? 0 : Math.log(time / from) / Math.log(longest / from)) * width};
}

export function marks({isLog, first, longest}) {
  if (isLog) return MARKS.filter(each => each >= first && each <= longest);
  const rough = longest / 5, unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(each => each * unit).find(each => each >= rough);
  return Array.from({length: Math.floor(longest / step)}, (_, i) => (i + 1) * step);
}

// An element that follows the setting.
export function drawWaits(app) {
  const canvas = make('canvas', {className: 'waits-picture', role: 'img'});
  canvas.style.height = `${CLIENTS * ROW + AXIS}px`;
  const words = make('p', {className: 'waits-words'});
  const element = make('div', {className: 'waits'},
    make('h2', {className: 'waits-title', textContent: `The waits of ${CLIENTS} clients that never succeed`}),
    canvas, words,
    make('p', {className: 'muted waits-words', textContent: 'Each tick is an attempt. Only waits are drawn: retry budgets, circuit breakers and rate limits are left out.'}));
  let clients = null;

  const draw = () => {
    if (!clients || canvas.clientWidth === 0) return;
    const {context, width, height} = paint(canvas);
    const rows = clients.map(client => attempts(client.waits));
    const line = timeLine(rows.flat(), width - LEFT - RIGHT);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.lineWidth = 1;
    let free = -Infinity;
    context.textAlign = 'center';
    for (const time of [0, ...marks(line)]) {
      const x = Math.round(line.x(time)) + 0.5;
      context.strokeStyle = css('--grid');
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height - AXIS + 3);
      context.stroke();
      const text = time === 0 ? '0' : line.isLog && time === 60 ? '1 min' : brief(time);
      const half = context.measureText(text).width / 2;
      const middle = Math.min(x, width - half);
      if (middle - half < free) continue;
      free = middle + half + 6;
      context.fillStyle = css('--muted');
      context.fillText(text, middle, height - AXIS / 2 + 2);
    }
    for (const [i, times] of rows.entries()) {
      const y = i * ROW + ROW / 2;
      context.fillStyle = css('--muted');
      context.textAlign = 'left';
      context.fillText(`client ${i + 1}`, 0, y);
      context.strokeStyle = css('--grid');
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(clients[i].gave_up ? line.x(times.at(-1)) : width, y);
      context.stroke();
      context.fillStyle = css('--accent');
      for (const time of times) context.fillRect(line.x(time) - 1, y - 6, 2, 12);
      if (!clients[i].gave_up) continue;
      const x = Math.min(line.x(times.at(-1)), width - 5);
      context.strokeStyle = css('--bad');
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x - 4, y - 4);
      context.lineTo(x + 4, y + 4);
      context.moveTo(x - 4, y + 4);
      context.lineTo(x + 4, y - 4);
      context.stroke();
      context.lineWidth = 1;
      const text = 'gives up', room = context.measureText(text).width;
      const toRight = x + 8 + room <= width;
      context.fillStyle = css('--panel');
      context.fillRect(toRight ? x + 6 : x - 10 - room, y - 7, room + 4, 14);
      context.fillStyle = css('--bad');
      context.fillText(text, toRight ? x + 8 : x - 8 - room, y);
    }
  };

  const update = async () => {
    const {given, seed} = app.state;
    app.pool.drop(GROUP);
    try {
      const question = {ask: 'waits', given, seed, clients: CLIENTS, attempts: ATTEMPTS};
      ({clients} = await app.pool.ask(question, {order: 0, group: GROUP}));
      const all = clients.map(waitsInWords);
      const alike = all.every(each => each === all[0]);
      const said = all[0].charAt(0).toLowerCase() + all[0].slice(1);
      words.textContent = `${alike ? 'All of them' : 'The first client'}: ${said}`;
      const rows = clients.map(({waits}) => attempts(waits));
      canvas.setAttribute('aria-label', `Attempts over time${timeLine(rows.flat(), 1).isLog ? ' (logarithmic)' : ''}: ${words.textContent}`);
      canvas.hidden = false;
      draw();
    } catch (error) {
      if (error instanceof Dropped) return;
      canvas.hidden = true;
      words.textContent = error.message;
    }
  };

  new ResizeObserver(draw).observe(canvas);
  onScheme(draw);
  app.on('painted', update);
  if (app.description) update();
  return element;
}
