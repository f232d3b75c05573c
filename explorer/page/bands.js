// What the runs of many seeds have in common, moment by moment.

// Between these shares of the runs a band lies.
const LOW = 0.1, HIGH = 0.9;
const BANDED = ['ok', 'errors', 'timed_out', 'not_sent', 'in_flight', 'waiting_to_retry', 'concurrency', 'delay', 'busy', 'waiting'];
// Where curves are stacked, a band is that of the upper edge: of this and what lies below it.
const BELOW = {waiting_to_retry: 'in_flight'};
// As the charts' curves: what is counted in an interval stands in its middle, what is seen at its end.
const AT_END = new Set(['concurrency', 'delay', 'busy', 'waiting']);
const LEAST = {concurrency: 1, busy: 1, waiting: 1, delay: 1e-3}, MOST = {delay: 1e4}; // of the logarithmic axes

const known = new WeakMap();

export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
}

// {series: [{x, low, high}, ...]} of many = {t, series: {name: [[...], ...]}}; without points where
// there are not many yet.
export function bandsOf(many) {
  if (many && known.has(many)) return known.get(many);
  const bands = Object.fromEntries(BANDED.map(name => [name, []]));
  if (!many) return bands;
  const {t, series} = many;
  for (const name of BANDED) {
    const runs = series[name], below = series[BELOW[name]];
    const bound = value => Math.min(Math.max(value, LEAST[name] ?? 0), MOST[name] ?? Infinity);
    const points = bands[name];
    t.forEach((end, i) => {
      const values = Float64Array.from(runs.map((run, of) => (run[i] ?? NaN) + (below?.[of][i] ?? 0)).filter(value => !Number.isNaN(value))).sort();
      const begin = i > 0 ? t[i - 1] : 0;
      const x = AT_END.has(name) ? end : (begin + end) / 2;
      if (values.length === 0) {
        points.push({x, low: NaN, high: NaN}); // a frozen server says nothing
        return;
      }
      points.push({x, low: bound(quantile(values, LOW)), high: bound(quantile(values, HIGH))});
    });
  }
  known.set(many, bands);
  return bands;
}
