// How often the service is down at the end, collapsed or relapsed, for strips and maps: cells of
// counted runs, what to compute next, and all of it in words. The share has the rule of docs/output.md.

const FEW = 2, SOME = 5, MANY = 10; // seeds

// `refused` says why the cell cannot be run. Of `count` runs, `recovering` were not back yet at their end, which
// is not down yet. `undecided` have no verdict, for example because the service was down before the outage: they
// do not count in a share. A run without an outage has a verdict: it is down if the service collapsed by itself.
export const newCell = () => ({count: 0, down: 0, recovering: 0, undecided: 0, refused: null, asked: false});
export const newCells = count => Array.from({length: count}, newCell);

export function add(cell, results) {
  for (const {verdict} of results) {
    ++cell.count;
    if (verdict === 'collapsed' || verdict === 'relapsed') ++cell.down;
    else if (verdict === 'recovering') ++cell.recovering;
    else if (verdict === 'undecided') ++cell.undecided;
  }
}

// The runs with a verdict.
export const decided = ({count, undecided}) => count - undecided;

// Null if no run was up or down, or nothing can be known.
export const share = cell =>
  cell.refused === null && decided(cell) > cell.recovering ? cell.down / decided(cell) : null;

// At the border between staying down and recovering: its runs differ, or it differs from a neighbour.
function isContested(cells, index, neighbours) {
  const own = share(cells[index]);
  if (own === null) return false;
  return own > 0 && own < 1 ||
    neighbours(index).some(other => share(cells[other]) !== null && share(cells[other]) !== own);
}

// What to compute next: {index, count, phase} for `count` more runs of that cell, or null. First the
// coarse cells, then all, then the contested ones, which get the most runs.
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

// "stays down from 300 up", "never stays down", ...: the cells in which at least half of the runs do.
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
    return some.length === 0 ? 'never stays down' : `stays down now and then, at ${some.map(each => each.stop).join(', ')}`;
  }
  const end = known.length - 1;
  const words = ranges.map(({from, to, first, last}) => {
    if (first === 0 && last === end) return 'everywhere';
    if (from === to) return `at ${from}`;
    if (last === end) return `from ${from} up`;
    return first === 0 ? `up to ${to}` : `from ${from} to ${to}`;
  });
  return `stays down ${words.length < 2 ? words[0] : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`}`;
}

const intervals = new Map();

async function intervalOf(app, hits, runs) {
  const key = `${hits}/${runs}`;
  if (!intervals.has(key)) {
    intervals.set(key, await app.pool.ask({ask: 'share', hits, runs}, {order: 1, group: 'interval'}));
  }
  return intervals.get(key);
}

// The 95 % interval of the share that is down, {low, high}, from the engine. It holds what the runs that are
// still recovering may come to.
export async function interval(app, cell) {
  const {low} = await intervalOf(app, cell.down, decided(cell));
  const {high} = await intervalOf(app, cell.down + cell.recovering, decided(cell));
  return {low, high};
}

const whole = value => Math.round(value * 100);

// "stays down in 3 of 10 (11–60 %)"; the interval may be left out.
export function cellInWords(cell, between) {
  if (cell.refused !== null) return cell.refused;
  if (cell.count === 0) return 'not computed yet';
  if (cell.undecided === cell.count) return 'undecided: too few answers before the outage, or too short a run';
  if (decided(cell) === cell.recovering) return `still recovering at the end of ${cell.recovering} of ${cell.count}: a longer observe decides`;
  const percents = between ? ` (${whole(between.low)}–${whole(between.high)} %)` : '';
  const open = cell.recovering > 0 ? `, ${cell.recovering} are still recovering` : '';
  return `stays down in ${cell.down} of ${decided(cell)}${percents}${open}`;
}
