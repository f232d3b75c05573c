// The page from its opening on.
import {App} from './app.js';
import {find, make} from './dom.js';
import {fromFragment, toFragment, withoutUsual} from './link.js';
import {Pool} from './pool.js';
import {mountChallenges} from './challenges.js';
import {mountFidelity} from './fidelity.js';
import {mountKnobs} from './knobs.js';
import {mountMap} from './map.js';
import {mountRemedies} from './remedies.js';
import {mountShare} from './share.js';
import {mountStory} from './story.js';
import {mountTimeline} from './timeline.js';
import {mountVerdict} from './verdict.js';

async function compile() {
  const text = atob(find('engine').textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

function say(sentence) {
  find('notice').replaceChildren(...sentence ? [make('p', {textContent: sentence})] : []);
}

async function open() {
  if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function') {
    say('This page simulates with WebAssembly, which this browser does not have or does not allow: ' +
      'another browser (of 2023 or later) shows it. On the command line build/bin/simulate does the same.');
    return;
  }
  const module = await compile();
  const source = URL.createObjectURL(new Blob([find('worker').textContent], {type: 'text/javascript'}));
  const pool = new Pool(() => {
    const worker = new Worker(source);
    worker.postMessage({module});
    return worker;
  });
  const app = new App(pool, await pool.ask({ask: 'catalogue'}));
  // For who asks the same engine by hand, in the browser's console.
  window.explorer = {app, ask: question => pool.ask(question)};

  const known = name => app.options.has(name);
  const fresh = location.hash.length < 2;
  const restore = async () => {
    const {state, problem, ofRun} = fromFragment(location.hash, known);
    if (ofRun) {
      state.given = await withoutUsual(state.given, app.options, given => pool.ask({ask: 'look', given, seed: state.seed}));
    }
    const refused = await app.restore(state);
    say([...problem ? [problem] : [], ...refused.map(sentence => `Left out of this link: ${sentence}.`)].join(' '));
  };
  for (const mount of [mountTimeline, mountVerdict, mountKnobs, mountRemedies, mountMap, mountShare,
    mountChallenges, mountFidelity]) mount(app);
  mountStory(app, fresh);
  app.on('error', () => {
    find('error').textContent = app.error ?? '';
    document.documentElement.toggleAttribute('data-refused', app.error !== null);
  });
  // The link follows the setting, without a step back in the browser's history for each.
  const follow = () => history.replaceState(null, '', `#${toFragment(app.state)}`);
  app.on('painted', () => {
    if (Object.keys(app.state.given).length > 0 || app.state.pinned || location.hash.length > 1) follow();
  });
  app.on('pinned', follow);
  app.on('state', follow);
  window.addEventListener('hashchange', restore);
  await restore();
  document.documentElement.dataset.ready = 'yes';
}

open().catch(error => say(`The explorer does not start: ${error.message}`));
