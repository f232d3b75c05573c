// Starts the page.
import {App} from './app.js';
import {find, make} from './dom.js';
import {fromFragment, toFragment, withoutDefaults} from './link.js';
import {Pool} from './pool.js';
import {mountChallenges} from './challenges.js';
import {mountFidelity} from './fidelity.js';
import {mountGallery} from './gallery.js';
import {mountGraph} from './graph.js';
import {mountHosts} from './hosts.js';
import {mountKnobs} from './knobs.js';
import {mountMap} from './map.js';
import {mountOutlook} from './outlook.js';
import {mountRemedies} from './remedies.js';
import {mountSetting} from './setting.js';
import {mountShare} from './share.js';
import {mountStory} from './story.js';
import {mountTimeline} from './timeline.js';
import {mountTrials} from './trials.js';
import {mountVerdict} from './verdict.js';
import {asOnPage} from './words.js';

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

// What this page is of. One that is published among the pages of a project on GitHub leads to the project.
function about() {
  const version = document.querySelector('meta[name=generator]').content;
  const [, owner, name] = /^https:\/\/([^./]+)\.github\.io\/([^/]+)\//.exec(document.querySelector('link[rel=canonical]')?.href ?? '') ?? [];
  return [name ? make('a', {href: `https://github.com/${owner}/${name}`}, version) : version,
    ': free software under the MIT licence. With its source come the real client and server, the same simulation on the command line, and the documents.'];
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
  // For use in the browser's console.
  window.explorer = {app, ask: question => pool.ask(question)};

  const known = name => app.option(name) !== undefined;
  const fresh = location.hash.length < 2;
  let links = 0;
  const past = mountSetting(app, () => `#${toFragment(app.state)}`);
  const restore = async () => {
    past.restored();
    const link = ++links;
    const {state, problem, ofRun} = fromFragment(location.hash, known);
    if (ofRun) {
      state.given = await withoutDefaults(state.given, app.option, given => pool.ask({ask: 'describe', given, seed: state.seed}));
      if (link !== links) return; // another link was followed meanwhile
    }
    const refused = await app.restore(state);
    if (refused) say([...problem ? [problem] : [], ...refused.map(sentence => `Left out of this link: ${sentence}.`)].join(' '));
  };
  for (const mount of [mountTimeline, mountGraph, mountHosts, mountVerdict, mountOutlook, mountTrials, mountKnobs, mountRemedies, mountMap, mountGallery, mountShare,
    mountChallenges, mountFidelity]) mount(app);
  mountStory(app, fresh);
  find('about').append(...about());
  app.on('error', () => { find('error').textContent = asOnPage(app.error ?? ''); });
  for (const event of ['computing', 'error', 'run']) {
    app.on(event, () => document.documentElement.toggleAttribute('data-behind', app.behind && (app.error ?? app.computing) !== null));
  }
  const follow = () => past.follow();
  app.on('painted', follow);
  app.on('pinned', follow);
  app.on('state', follow);
  window.addEventListener('hashchange', restore);
  // A link to a place of the page leaves the address as it is, which has the setting.
  document.addEventListener('click', event => {
    const place = find(event.target.closest?.('a[href^="#"]')?.hash.slice(1));
    if (!place) return;
    event.preventDefault();
    place.scrollIntoView();
    place.focus({preventScroll: true});
  });
  await restore();
  document.documentElement.dataset.ready = 'yes';
}

open().catch(error => say(`The explorer does not start: ${error.message}`));
