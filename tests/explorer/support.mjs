// Shared by the tests of the explorer's engine: the compiled engine, and the native simulator.
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {instantiate} from '../../explorer/page/engine.js';

export const engineFile = process.env.EXPLORER_ENGINE;
export const simulator = process.env.EXPLORER_SIMULATE;

// A setting for each kind of strategy, service, disturbance and arrivals.
export const settings = JSON.parse(readFileSync(new URL('settings.json', import.meta.url)));

// Resolves to a function that answers a question, or throws with the engine's sentence.
export async function engine() {
  const answer = await instantiate(new WebAssembly.Module(readFileSync(engineFile)));
  return question => {
    const found = JSON.parse(answer(question));
    if (found.error) throw new Error(found.error);
    return found;
  };
}

// The simulator's two output files, without their first lines, which contain its command.
export function simulated(given, seed) {
  const folder = mkdtempSync(join(tmpdir(), 'retrystorm-explorer-'));
  try {
    const files = ['client', 'server'].map(name => join(folder, name));
    execFileSync(simulator, [
      ...Object.entries(given).map(([name, text]) => `--${name}=${text}`), `--seed=${seed}`,
      `--json=${files[0]}`, `--server-json=${files[1]}`], {stdio: ['ignore', 'ignore', 'inherit']});
    const [client, server] = files.map(file => {
      const text = readFileSync(file, 'utf8');
      return text.slice(text.indexOf('\n') + 1);
    });
    return {client, server};
  } finally {
    rmSync(folder, {recursive: true});
  }
}

// Timers that only go off when a test lets time pass. (Those of node:test lose timers in Node 18, once
// one that went off is cleared.)
export function mockTimers() {
  const {setTimeout, clearTimeout} = globalThis;
  const waiting = new Map();
  let now = 0, last = 0;
  globalThis.setTimeout = (call, delay = 0) => {
    waiting.set(++last, {at: now + delay, call});
    return last;
  };
  globalThis.clearTimeout = timer => waiting.delete(timer);
  return {
    pass(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const due = [...waiting].filter(([, {at}]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
        if (due.length === 0) break;
        const [timer, {at, call}] = due[0];
        waiting.delete(timer);
        now = at;
        call();
      }
      now = end;
    },
    restore: () => Object.assign(globalThis, {setTimeout, clearTimeout}),
  };
}
