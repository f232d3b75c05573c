// How runs end: their verdicts, grouped by what they mean for whoever uses the service.

const ENDINGS = [
  {name: 'down', verdicts: ['collapsed', 'relapsed'], words: ['stays down', 'stay down'], color: '--bad'},
  {name: 'back', verdicts: ['recovered'], words: ['comes back', 'come back'], color: '--ok'},
  {name: 'between', verdicts: ['recovering', 'undecided'], words: ['is not back at the end', 'are not back at the end'], color: '--accent'},
];

// Those that there are, the most frequent first, with the indices of their runs.
export function endings(results) {
  return ENDINGS.map(each => ({...each, runs: results.flatMap(({verdict}, i) => each.verdicts.includes(verdict) ? [i] : [])}))
    .filter(({runs}) => runs.length > 0).sort((a, b) => b.runs.length - a.runs.length);
}

// "one of 68 that come back"
export const oneOf = ({runs, words}) => runs.length > 1 ? `one of ${runs.length} that ${words[1]}` : `the one that ${words[0]}`;
