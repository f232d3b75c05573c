// A drawing of the service: its curve, or its workers and their queue.
import {css, make, paint} from './dom.js';
import {seconds} from './durations.js';
import {onScheme} from './heat.js';

const {duration, number} = Retrystorm;
const LEFT = 54, RIGHT = 14, TOP = 16, BOTTOM = 34; // pixels around the curve
const MOST_BOXES = 40;

// The delay of a request in seconds at a concurrency, as in model/service/service_time.cc.
export function curveDelay({base, limit, factor, k}, concurrency) {
  return concurrency <= limit ? base : base * factor ** ((concurrency - limit) / k);
}

// The concurrency above which the delay is longer than this. Infinity if it never is.
export function concurrencyAt({base, limit, factor, k}, delay) {
  if (base > delay) return 0;
  if (base === 0 || factor === 1) return Infinity;
  return limit + k * Math.log(delay / base) / Math.log(factor);
}

// The mean of a service time in seconds. model/service/service_time.h describes the texts.
export function meanServiceTime(text) {
  const [kind, ...rest] = text.split(':');
  if (rest.length === 0) return seconds(kind);
  if (kind !== 'bimodal') return seconds(rest[0]);
  const share = Number(rest[1]);
  return (1 - share) * seconds(rest[0]) + share * seconds(rest[2]);
}

// The load without an outage, if a request takes this long: {rate, words}.
export function offeredLoad(values, service) {
  if (values.arrivals === 'open') {
    const rate = Number(values.rate) * Number(values.scale);
    return {rate, words: `${number(rate, rate < 10 ? 1 : 0)} requests/s arrive`};
  }
  if (values.arrivals === 'job') return {rate: null, words: 'a job sends as much as is served'};
  const clients = Math.max(1, Math.round(Number(values.clients) * Number(values.scale)));
  const rate = clients / (seconds(values.lambda) + service);
  return {rate, words: `${number(clients)} clients that think for ${duration(seconds(values.lambda))} send ${number(rate, rate < 10 ? 1 : 0)} requests/s`};
}

export const orderInWords = text => {
  const [kind, threshold] = text.split(':');
  if (kind === 'fifo') return 'oldest first';
  if (kind === 'lifo') return 'newest first';
  if (kind === 'unfair') return `oldest first, but one that has just come in ${number(100 * Number(threshold))} % of the cases`;
  return `oldest first, but newest first while ${threshold} others wait`;
};

export const dropInWords = text => {
  const [kind, ...rest] = text.split(':');
  if (kind === 'none') return 'none is dropped because of its age';
  if (kind === 'age') return `those that have waited over ${duration(seconds(rest[0]))} get 503`;
  const [target, interval] = rest.length > 0 ? rest : ['5ms', '100ms'];
  return `CoDel: once waits have been over ${duration(seconds(target))} for ${duration(seconds(interval))}, some get 503, ever more often`;
};

function frame(context, {width, height}) {
  context.font = '11px system-ui, sans-serif';
  context.lineWidth = 1;
  context.strokeStyle = css('--muted');
  context.beginPath();
  context.moveTo(LEFT + 0.5, TOP);
  context.lineTo(LEFT + 0.5, height - BOTTOM + 0.5);
  context.lineTo(width - RIGHT, height - BOTTOM + 0.5);
  context.stroke();
}

function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map(each => each * unit).find(each => each >= value);
}

function drawCurve(canvas, curve, timeout, inVain) {
  const {context, width, height} = paint(canvas);
  frame(context, {width, height});
  const end = roundUp(Number.isFinite(inVain) ? Math.max(inVain * 1.4, curve.limit * 2, 2) : Math.max(curve.limit * 4, 100));
  const base = Math.max(curve.base, 1e-4);
  const highest = Math.max(Number.isFinite(timeout) ? timeout * 4 : 0, base * 10), lowest = Math.min(base, timeout) / 2;
  const right = width - RIGHT, bottom = height - BOTTOM;
  const x = concurrency => LEFT + concurrency / end * (right - LEFT);
  const y = delay => bottom - Math.log(Math.max(delay, lowest) / lowest) / Math.log(highest / lowest) * (bottom - TOP);

  // The part beyond the timeout.
  if (inVain < end) {
    context.fillStyle = css('--shade');
    context.fillRect(x(inVain), TOP, right - x(inVain), bottom - TOP);
  }
  // The axes' texts.
  context.fillStyle = css('--muted');
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (let power = Math.ceil(Math.log10(lowest)); 10 ** power <= highest; ++power) {
    const at = y(10 ** power);
    context.fillText(duration(10 ** power), LEFT - 6, at);
    context.strokeStyle = css('--grid');
    context.beginPath();
    context.moveTo(LEFT + 1, Math.round(at) + 0.5);
    context.lineTo(right, Math.round(at) + 0.5);
    context.stroke();
  }
  context.textBaseline = 'top';
  context.textAlign = 'center';
  for (const share of [0, 0.5, 1]) {
    const text = number(share * end, end < 10 ? 1 : 0);
    context.fillText(text, Math.min(x(share * end), width - context.measureText(text).width / 2), bottom + 4);
  }
  context.fillText('concurrency', (LEFT + right) / 2, bottom + 18);

  const dashed = (fromX, fromY, toX, toY, colour) => {
    context.setLineDash([4, 3]);
    context.strokeStyle = colour;
    context.beginPath();
    context.moveTo(fromX, fromY);
    context.lineTo(toX, toY);
    context.stroke();
    context.setLineDash([]);
  };
  const label = (text, middle, at, colour) => {
    const half = context.measureText(text).width / 2;
    const place = Math.min(Math.max(middle, LEFT + half + 2), right - half);
    context.fillStyle = css('--panel');
    context.globalAlpha = 0.85;
    context.fillRect(place - half - 2, at - 1, half * 2 + 4, 13);
    context.globalAlpha = 1;
    context.fillStyle = colour;
    context.fillText(text, place, at);
  };
  dashed(x(curve.limit), TOP, x(curve.limit), bottom, css('--muted'));
  if (Number.isFinite(timeout)) dashed(LEFT, y(timeout), right, y(timeout), css('--bad'));

  context.strokeStyle = css('--accent');
  context.lineWidth = 2;
  context.save();
  context.beginPath();
  context.rect(LEFT, TOP, right - LEFT, bottom - TOP);
  context.clip();
  context.beginPath();
  for (let at = LEFT; at <= right; ++at) context.lineTo(at, y(curveDelay(curve, (at - LEFT) / (right - LEFT) * end)));
  context.stroke();
  context.restore();
  label(`limit ${number(curve.limit)}`, x(curve.limit) + 30, TOP + 2, css('--muted'));
  if (Number.isFinite(timeout)) label(`timeout ${duration(timeout)}`, right, y(timeout) - 14, css('--bad'));
  if (inVain < end) label('too late', (x(inVain) + right) / 2, bottom - 15, css('--text'));
}

function drawWorkers(canvas, workers, places) {
  const {context, width, height} = paint(canvas);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const box = 14, gap = 4, top = 22;
  const waiting = Math.min(places, 12);
  const queueWidth = Math.max(waiting, 1) * (box + 2);
  const middle = (top + height) / 2;

  context.fillStyle = css('--muted');
  context.fillText('queue', 0, 9);
  context.strokeStyle = css('--muted');
  for (let i = 0; i < waiting; ++i) {
    context.setLineDash(places === Infinity && i < 3 ? [2, 3] : []);
    context.strokeRect(i * (box + 2) + 0.5, Math.round(middle - box / 2) + 0.5, box, box);
  }
  context.setLineDash([]);
  if (waiting === 0) context.fillText('no places', 0, middle);
  else if (places > waiting) {
    context.fillText(places === Infinity ? 'unlimited' : `${number(places)} places`, 0, middle + box + 2);
  }
  const arrow = Math.max(queueWidth, 60) + 8;
  context.beginPath();
  context.moveTo(arrow, middle);
  context.lineTo(arrow + 16, middle);
  context.moveTo(arrow + 11, middle - 4);
  context.lineTo(arrow + 16, middle);
  context.lineTo(arrow + 11, middle + 4);
  context.stroke();

  const left = arrow + 28;
  const rows = Math.max(1, Math.floor((height - top) / (box + gap)));
  const columns = Math.max(1, Math.floor((width - left - 62) / (box + gap)));
  const drawn = Math.min(workers, MOST_BOXES, rows * columns);
  context.fillStyle = css('--muted');
  context.fillText(workers > drawn ? `workers × ${number(workers)}` : workers === 1 ? 'worker' : 'workers', left, 9);
  const perRow = Math.ceil(drawn / Math.min(rows, Math.ceil(drawn / columns)));
  const used = Math.ceil(drawn / perRow) * (box + gap) - gap;
  for (let i = 0; i < drawn; ++i) {
    context.fillStyle = css('--accent');
    context.fillRect(left + i % perRow * (box + gap), Math.max(top, middle - used / 2) + Math.floor(i / perRow) * (box + gap), box, box);
  }
  if (workers > drawn) {
    context.fillStyle = css('--muted');
    context.fillText('...', left + perRow * (box + gap) + 2, middle);
  }
}

// An element that follows the setting.
export function drawService(app) {
  const canvas = make('canvas', {role: 'img'});
  const words = make('p', {className: 'service-words'});
  const title = make('h2', {className: 'service-title'});
  const element = make('div', {className: 'service'}, title, canvas, words);

  const draw = () => {
    if (!app.description) return;
    const {values, services} = app.description;
    element.hidden = Boolean(services); // each has its own
    if (services) return;
    const scale = Number(values.scale);
    const scaled = text => text === 'none' ? Infinity : Math.round(Number(text) * scale);
    const isCurve = values.service === 'curve';
    const timeout = values.timeout === 'none' ? Infinity : seconds(values.timeout);
    canvas.className = isCurve ? 'service-curve' : 'service-workers';
    title.textContent = isCurve ? 'The service: slower as concurrency grows' : 'The service: workers and a queue';
    if (isCurve) {
      const curve = {base: seconds(values['base-delay']), limit: scaled(values.limit),
        factor: Number(values['curve-factor']), k: Number(values.k) * scale};
      const inVain = concurrencyAt(curve, timeout);
      const load = offeredLoad(values, curve.base);
      const busy = load.rate === null ? '' : `, ${number(load.rate * curve.base, load.rate * curve.base < 10 ? 1 : 0)} at a time`;
      words.textContent = `${duration(curve.base)} per request for up to ${number(curve.limit)} at a time; ` +
        (Number.isFinite(inVain) ? `from ${number(Math.ceil(inVain))} on a request takes over ${duration(timeout)}, the clients' timeout, so every answer comes too late. ` : timeout === Infinity ? 'the clients wait for an answer however long it takes. ' : 'never longer than the clients\u2019 timeout. ') +
        `Without an outage ${load.words}${busy}.`;
      if (canvas.clientWidth > 0) drawCurve(canvas, curve, timeout, inVain);
    } else {
      const workers = scaled(values.workers), places = scaled(values['queue-length']);
      const mean = meanServiceTime(values['service-time']);
      const load = offeredLoad(values, mean);
      const capacity = mean > 0 ? `${number(workers / mean)} requests/s at most` : 'no limit';
      const ratio = load.rate !== null && mean > 0 ? ` (${number(load.rate * mean / workers * 100)} % of it)` : '';
      const queue = places === 0 ? 'No request waits: those that find no free worker get 503.' :
        `${places === Infinity ? 'The queue is unlimited' : `The queue has ${number(places)} places`}: ${orderInWords(values['queue-order'])}, ${dropInWords(values['queue-drop'])}.`;
      words.textContent = `${number(workers)} ${workers === 1 ? 'worker' : 'workers'}, ${duration(mean)} for a request: ${capacity}. ` +
        `Without an outage ${load.words}${ratio}. ${queue}`;
      if (canvas.clientWidth > 0) drawWorkers(canvas, workers, places);
    }
    canvas.setAttribute('aria-label', `${title.textContent}. ${words.textContent}`);
  };

  new ResizeObserver(draw).observe(canvas);
  onScheme(draw);
  app.on('painted', draw);
  draw();
  return element;
}
