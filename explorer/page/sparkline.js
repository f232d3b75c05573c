// The small picture of a card of the gallery, as SVG: OK/s over time, the outage shaded. The thin line is the
// setting that it is compared with, or else a run that ends otherwise.
const WIDTH = 200, HEIGHT = 56;

export function sparkline({now, other}, style = '') {
  other ??= now.rare;
  const end = Math.max(now.end, other?.end ?? 0);
  const most = Math.max(1, ...[now, other].filter(Boolean).flatMap(({ok}) => ok.map(([, value]) => value)));
  const x = t => (t / end * WIDTH).toFixed(1), y = value => (HEIGHT - 2 - value / most * (HEIGHT - 6)).toFixed(1);
  const line = ({ok}, name) => `<polyline class="spark-${name}" points="${ok.map(([t, value]) => `${x(t)},${y(value)}`).join(' ')}"/>`;
  const shades = now.outages.map(([from, to]) => `<rect class="spark-shade" x="${x(from)}" y="0" width="${(x(to) - x(from)).toFixed(1)}" height="${HEIGHT}"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">${style}${shades.join('')}${other ? line(other, 'other') : ''}${line(now, 'now')}</svg>`;
}

// "Stays down in 3 of 100 runs (1-8 %)", and what it is compared with.
export function cardWords({now, other, title, during}) {
  const whole = value => Math.round(100 * value);
  // Runs that are still recovering may end either way: then the interval says nothing.
  const rest = each => each.recovering > 0 ? `, ${each.recovering} are still recovering at the end` : ` (${whole(each.low)}–${whole(each.high)} %)`;
  const words = each => `${each.down} of ${each.runs} runs${rest(each)}` + (during ? `, ${whole(each.during)} % succeed in the outage` : '') +
    (each.clients ?? []).map(([name, success]) => `, ${whole(success)} % of ${name} succeed`).join('');
  return [`Stays down in ${words(now)}.`, ...other ? [`${title[0].toUpperCase()}${title.slice(1)}: in ${words(other)}.`] : []];
}
