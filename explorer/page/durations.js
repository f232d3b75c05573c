// Durations and numbers as the options have them: Go's notation, or plain.

const SECONDS = {h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, 'µs': 1e-6, ns: 1e-9};

// "1m30s", "100ms", "0", "2.5": in seconds, a bare number too. Null for what is neither ("none").
export function valueOf(text) {
  if (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (!/^([\d.]+(h|ms|m|s|us|µs|ns))+$/.test(text)) return null;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(h|ms|m|s|us|µs|ns)/g)) sum += Number(amount) * SECONDS[unit];
  return sum;
}
