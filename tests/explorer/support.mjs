// What the tests of the explorer's engine share: the compiled engine, and the native simulator.
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

// What the simulator writes to its two files: without their first lines, which have its command.
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
