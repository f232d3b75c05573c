// The axes of the map: which values of an option they show.

// At most `most` of the stops, evenly chosen, with both ends. The value in force replaces the stop
// nearest to `near` (its index among the stops, whole or between two).
export function chosen(stops, most, value, near) {
  const count = Math.min(most, stops.length);
  const places = Array.from({length: count}, (_, i) => count > 1 ? Math.round(i * (stops.length - 1) / (count - 1)) : 0);
  const values = places.map(at => stops[at]);
  if (near === null || values.includes(value)) return values;
  let best = 0;
  places.forEach((at, i) => {
    if (Math.abs(at - near) < Math.abs(places[best] - near)) best = i;
  });
  values[best] = value;
  return values;
}

// The neighbours of a cell in a grid of `columns` x `rows`.
export function beside(index, columns, rows) {
  const x = index % columns, y = Math.floor(index / columns);
  return [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]]
    .filter(([a, b]) => a >= 0 && a < columns && b >= 0 && b < rows).map(([a, b]) => b * columns + a);
}

// [first, last] of the shares that are worse (half or more) than both ends of the line, or null. What is not
// known (null) is no end. One of them is more than half: one run of two may be chance.
export function islandOf(shares) {
  const worse = share => share !== null && share >= 0.5, better = share => share !== null && share < 0.5;
  const first = shares.findIndex((share, i) => i > 0 && worse(share) && better(shares[i - 1]));
  if (first < 0) return null;
  const after = shares.findIndex((share, i) => i > first && !worse(share));
  return after > 0 && better(shares[after]) && shares.slice(first, after).some(share => share > 0.5) ? [first, after - 1] : null;
}

// The cells of a grid that are computed first: every third one in each direction, and the ends.
export function isCoarse(index, columns, rows) {
  const x = index % columns, y = Math.floor(index / columns);
  return (x % 3 === 0 || x === columns - 1) && (y % 3 === 0 || y === rows - 1);
}
