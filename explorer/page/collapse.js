// How often a setting collapses, for strips and maps: cells of counted runs, what to compute next,
// and all of it in words.

const FEW = 2, SOME = 5, MANY = 10; // seeds

// `refused` is the sentence why it cannot be run; `without` counts runs that have no verdict, as
// those without an outage; `undecided` those whose verdict says nothing, as where the service is down
// before anything befalls it.
export const newCell = () => ({count: 0, collapsed: 0, relapsed: 0, without: 0, undecided: 0, refused: null, asked: false});
export const newCells = count => Array.from({length: count}, newCell);

export function add(cell, results) {
  for (const {verdict} of results) {
    ++cell.count;
    if (verdict === 'collapsed') ++cell.collapsed;
    else if (verdict === 'relapsed') ++cell.relapsed;
    else if (verdict === 'no outage') ++cell.without;
    else if (verdict === 'undecided') ++cell.undecided;
  }
}

// Null where nothing is known, or nothing to be known.
export const share = cell =>
  cell.refused === null && cell.count > cell.without + cell.undecided ? cell.collapsed / cell.count : null;

// Between collapse and recovery: its runs disagree, or it and one of its neighbours do.
function isContested(cells, index, neighbours) {
  const own = share(cells[index]);
  if (own === null) return false;
  return own > 0 && own < 1 ||
    neighbours(index).some(other => share(cells[other]) !== null && share(cells[other]) !== own);
}

// What to compute next: {index, count, phase}: so many more runs of that cell; or null. First the
// coarse ones, then all, then where it is contested, with the most runs there.
export function nextStep(cells, neighbours, isCoarse) {
  const open = cells.map((_, index) => index).filter(index => !cells[index].asked && cells[index].refused === null);
  const contested = index => isContested(cells, index, neighbours);
  const phases = [[FEW, isCoarse], [FEW, () => true], [SOME, contested], [MANY, contested], [SOME, () => true]];
  for (const [phase, [upTo, wanted]] of phases.entries()) {
    const index = open.find(each => cells[each].count < upTo && wanted(each));
    if (index !== undefined) return {index, count: upTo - cells[index].count, phase};
  }
  return null;
}

// For cells in a line, every fourth of which is coarse.
export const nextInLine = cells => nextStep(cells,
  index => [index - 1, index + 1].filter(each => each >= 0 && each < cells.length),
  index => index % 4 === 0 || index === cells.length - 1);

// "collapses from 300 up", "never collapses", ...: where at least half of the runs do.
export function whereInWords(stops, cells) {
  const known = stops.map((stop, i) => ({stop, share: share(cells[i])})).filter(each => each.share !== null);
  if (known.length === 0) return '';
  const ranges = [];
  let open = null;
  for (const [i, {stop, share}] of known.entries()) {
    if (share < 0.5) {
      open = null;
    } else if (open) {
      open.to = stop;
      open.last = i;
    } else {
      open = {from: stop, to: stop, first: i, last: i};
      ranges.push(open);
    }
  }
  if (ranges.length === 0) {
    const some = known.filter(each => each.share > 0);
    return some.length === 0 ? 'never collapses' : `collapses now and then, at ${some.map(each => each.stop).join(', ')}`;
  }
  const end = known.length - 1;
  const words = ranges.map(({from, to, first, last}) => {
    if (first === 0 && last === end) return 'everywhere';
    if (from === to) return `at ${from}`;
    if (last === end) return `from ${from} up`;
    return first === 0 ? `up to ${to}` : `from ${from} to ${to}`;
  });
  return `collapses ${words.length < 2 ? words[0] : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`}`;
}

const intervals = new Map();

// The 95 % interval of the share that collapses, {low, high}, as the engine has it.
export async function interval(app, {count, collapsed}) {
  const key = `${collapsed}/${count}`;
  if (!intervals.has(key)) {
    intervals.set(key, await app.pool.ask({ask: 'share', hits: collapsed, runs: count}, {order: 1, group: 'interval'}));
  }
  return intervals.get(key);
}

const whole = value => Math.round(value * 100);

// "collapses in 3 of 10 (11–60 %)"; the interval may be left out.
export function cellInWords(cell, between) {
  if (cell.refused !== null) return cell.refused;
  if (cell.count === 0) return 'not computed yet';
  if (cell.without === cell.count) return 'no outage, no collapse';
  if (cell.undecided === cell.count) return 'undecided: too few answers before the outage, or too short a run';
  const relapsed = cell.relapsed > 0 ? `, relapses in ${cell.relapsed}` : '';
  const percents = between ? ` (${whole(between.low)}–${whole(between.high)} %)` : '';
  return `collapses in ${cell.collapsed} of ${cell.count}${percents}${relapsed}`;
}
