// The range of the runs of many seeds, at each time.
import {endings} from './endings.js';

// A band goes from the lower to the upper of these quantiles of the runs.
const LOW = 0.1, HIGH = 0.9;
// A curve's band is of the sum of these series: in a stack, of its upper edge.
const BANDS = {
  ok: ['ok'], errors: ['errors'], timed_out: ['timed_out'], not_sent: ['not_sent'],
  in_flight: ['in_flight'], waiting_to_retry: ['waiting_to_retry', 'in_flight'], abandoned: ['concurrency'],
};
// If runs end differently, there is one band for each ending, of the most telling curve of each chart.
const TELLING = ['ok', 'abandoned', 'waiting_to_retry'];
// As in the charts: counts over an interval are drawn at its middle, current values at its end.
const AT_END = new Set(['abandoned']);

const known = new WeakMap();

export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
}

function band(name, {t, series}, runs) {
  const parts = BANDS[name].map(each => series[each]);
  return t.map((end, i) => {
    const values = Float64Array.from(runs.map(run => parts.reduce((sum, part) => sum + (part[run][i] ?? NaN), 0)).filter(value => !Number.isNaN(value))).sort();
    const x = AT_END.has(name) ? end : ((i > 0 ? t[i - 1] : 0) + end) / 2;
    // A frozen server reports nothing.
    return values.length === 0 ? {x, low: NaN, high: NaN} : {x, low: quantile(values, LOW), high: quantile(values, HIGH)};
  });
}

// Turns many = {t, series: {name: [[...], ...]}, results} into {curve: [{points: [{x, low, high}, ...], color}, ...]}.
// The colour is that of the ending, and missing if all runs end alike.
export function bandsOf(many) {
  if (!many) return {};
  if (known.has(many)) return known.get(many);
  const all = endings(many.results);
  const bands = {};
  if (all.length > 1) {
    for (const name of TELLING) bands[name] = all.map(({runs, color}) => ({points: band(name, many, runs), color}));
  } else {
    for (const name of Object.keys(BANDS)) bands[name] = [{points: band(name, many, many.results.map((_, i) => i))}];
  }
  known.set(many, bands);
  return bands;
}
