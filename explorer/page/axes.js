// The axes of the map: which values of an option stand on one.

// So many of the stops, evenly chosen, with both ends; the value in force takes the place of the
// one that is nearest to it, at `near` (an index into the stops, whole or between two).
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

// The cells beside a cell, in a grid of so many columns and rows.
export function beside(index, columns, rows) {
  const x = index % columns, y = Math.floor(index / columns);
  return [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]]
    .filter(([a, b]) => a >= 0 && a < columns && b >= 0 && b < rows).map(([a, b]) => b * columns + a);
}

// The cells of a grid that are looked at first: every third one each way, and the ends.
export function isCoarse(index, columns, rows) {
  const x = index % columns, y = Math.floor(index / columns);
  return (x % 3 === 0 || x === columns - 1) && (y % 3 === 0 || y === rows - 1);
}
