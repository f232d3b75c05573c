// Usage: node speed.mjs [LEAST]
//
// How many events a second the page's engine simulates, compared with the native simulator. Both make the
// same runs, alternately, and the best CPU time of each counts. Fails if the page's engine reaches less than
// LEAST (0.4) of the native one's speed.
import {spawnSync} from 'node:child_process';
import {engine, simulator} from './support.mjs';

const least = Number(process.argv[2] ?? 0.4);
const ROUNDS = 4, RUNS = 60;
const seeds = Array.from({length: RUNS}, (_, i) => i + 1);

const ask = await engine();
const events = seeds.reduce((sum, seed) => sum + ask({ask: 'run', given: {}, seed}).events, 0);

const secondsOfPage = () => {
  const before = process.cpuUsage();
  ask({ask: 'batch', given: {}, seeds});
  const {user, system} = process.cpuUsage(before);
  return (user + system) / 1e6;
};
const secondsOfSimulator = () => {
  const {status, stderr} = spawnSync('bash', [
    '-c', 'TIMEFORMAT="%U %S"; time "$@" >/dev/null', 'bash',
    simulator, '--seed=1', `--runs=${RUNS}`, '--threads=1'], {encoding: 'utf8', env: {...process.env, LC_ALL: 'C'}});
  if (status !== 0) throw new Error(stderr);
  const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
  return user + system;
};

let page = Infinity, native = Infinity;
for (let round = 0; round < ROUNDS; ++round) {
  page = Math.min(page, secondsOfPage());
  native = Math.min(native, secondsOfSimulator());
}
const rate = seconds => `${(events / seconds / 1e6).toFixed(1)} million events/s`;
const ratio = native / page;
console.log(`page ${rate(page)}, simulate ${rate(native)}: ${ratio.toFixed(2)} (at least ${least})`);
process.exit(ratio >= least ? 0 : 1);
