// Texts of options as numbers.

const UNITS = {h: 3600n * 10n ** 9n, m: 60n * 10n ** 9n, s: 10n ** 9n, ms: 10n ** 6n, us: 1000n, 'µs': 1000n, 'μs': 1000n, ns: 1n};

// A duration in Go's format ("1m30s", "2.5ms", "0") in whole nanoseconds, rounded down, as a BigInt.
// Null if the text is not a duration.
export function nanoseconds(text) {
  if (text === '0') return 0n;
  if (!/^(\d+(\.\d*)?(h|ms|m|s|us|µs|μs|ns))+$/.test(text)) return null;
  let sum = 0n;
  for (const [, whole, decimals = '', unit] of text.matchAll(/(\d+)(?:\.(\d*))?(h|ms|m|s|us|µs|μs|ns)/g)) {
    sum += BigInt(whole + decimals) * UNITS[unit] / 10n ** BigInt(decimals.length);
  }
  return sum;
}

export function seconds(text) {
  const exact = nanoseconds(text);
  return exact === null ? null : Number(exact) / 1e9;
}

// The value of an option with stops as a number, durations in seconds. "none" is Infinity. Null if the
// text is not a number.
export function measure(option, text) {
  if (text === 'none') return Infinity;
  if (option.kind === 'duration') return seconds(text);
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : null;
}

// The position of a text among the stops: 2 for the third, 2.5 half way from there to the next one.
// Beyond the ends, the nearest end. Null if it has no position.
export function place(option, text) {
  const exact = option.stops.indexOf(text);
  if (exact >= 0) return exact;
  const value = measure(option, text);
  if (value === null) return null;
  const values = option.stops.map(stop => measure(option, stop));
  const above = values.findIndex(each => each >= value);
  if (above < 0) return values.length - 1;
  if (above === 0 || values[above] === value) return above;
  if (values[above] === Infinity) return above - 1;
  return above - 1 + (value - values[above - 1]) / (values[above] - values[above - 1]);
}

// The value of any option as a number, durations in seconds. Null for "none" and for words.
export const valueOf = text => text !== '' && Number.isFinite(Number(text)) ? Number(text) : seconds(text);

// "20 s", not "20.0 s".
export const brief = time => Retrystorm.duration(time).replace('.0 ', ' ');

// A decimal comma is a point. (Where there are blanks, as in '0s 1,60s 0.3', one before a time
// separates.)
export const withPoints = text =>
  text.replace(text.includes(' ') ? /(\d),(\d+)(?![\d.a-zµ])/g : /(\d),(\d)/g, '$1.$2');
