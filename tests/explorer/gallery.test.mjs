// The gallery: its claims hold, its scenarios say what is known, and the document shows the same.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {test} from 'node:test';
import {fromFragment} from '../../explorer/page/link.js';
import {optionsOf} from '../../explorer/page/options.js';
import {cardWords} from '../../explorer/page/sparkline.js';
import {engine, engineFile, simulator} from './support.mjs';

const root = new URL('../../', import.meta.url);
const built = join(dirname(engineFile), 'gallery.json');
const cards = JSON.parse(readFileSync(built));
const claims = JSON.parse(readFileSync(new URL('explorer/gallery/cards.json', root)));
const ask = await engine();
const known = optionsOf(ask({ask: 'catalogue'}));

test('what the cards claim is so', () => {
  assert.ok(cards.length >= 12);
  assert.deepEqual(cards.map(({id}) => id), claims.map(({id}) => id));
  cards.forEach(({id, now, other}, i) => {
    const found = {down: now.down / now.runs, other: other && other.down / other.runs, during: now.during, otherDuring: other?.during,
      ...Object.fromEntries((now.clients ?? []).map(([name, success]) => [name, success]))};
    assert.equal(now.runs, 100);
    for (const [name, [low, high]] of Object.entries(claims[i].expect)) {
      assert.ok(found[name] >= low && found[name] <= high, `${id}: ${name} is ${found[name]}, not from ${low} to ${high}`);
    }
  });
});

test('a card leads to its setting, which the command line runs with the same result', () => {
  for (const {link} of cards) assert.equal(fromFragment(link, known).problem, null);
  const {command, now} = cards.find(({id}) => id === 'backlog');
  const options = command.split(' ').slice(1);
  const lines = execFileSync(simulator, [...options.filter(each => !each.startsWith('--seed')), '--seed=1', '--runs=100', '--no-trials', '--json=-'],
    {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']}).split('\n');
  const cell = JSON.parse(lines.find(each => each.startsWith('{"type":"cell"')));
  assert.equal(now.down, Math.round(100 * cell.down));
  assert.deepEqual([now.low, now.high].map(each => each.toFixed(4)), [cell.down_low, cell.down_high].map(each => each.toFixed(4)));
  assert.match(cardWords({now: {...now, down: 32, low: 0.237, high: 0.417}})[0], /^Stays down in 32 of 100 runs \(24–42 %\)\.$/);
});

test('an incident says of each option whether it is published or assumed', () => {
  for (const {scenario} of claims.filter(each => each.scenario)) {
    const lines = readFileSync(new URL(`scripts/scenarios/${scenario}.ini`, root), 'utf8').split('\n');
    assert.ok(lines.some(line => /^# Source: https:/.test(line)), scenario);
    lines.forEach((line, i) => {
      if (!/^[a-z]/.test(line)) return;
      let above = i - 1;
      while (/^[a-z]/.test(lines[above])) --above;
      assert.match(lines[above], /^# (published|assumed): /, `${scenario}: ${line}`);
    });
  }
});

test('the document is of this gallery', () => {
  const folder = mkdtempSync(join(tmpdir(), 'retrystorm-gallery-'));
  try {
    execFileSync(process.execPath, [new URL('explorer/gallery/page.mjs', root).pathname, built, folder]);
    const docs = new URL('docs/', root).pathname;
    for (const file of ['gallery.md', ...readdirSync(join(folder, 'gallery')).map(each => `gallery/${each}`)]) {
      assert.equal(readFileSync(join(docs, file), 'utf8'), readFileSync(join(folder, file), 'utf8'),
        `docs/${file} is stale: node explorer/gallery/page.mjs build/explorer/gallery.json docs`);
    }
    assert.deepEqual(readdirSync(join(docs, 'gallery')).sort(), readdirSync(join(folder, 'gallery')).sort());
  } finally {
    rmSync(folder, {recursive: true});
  }
});
