// The first sight: a storm that is running, and a question. Afterwards the sentence says what the
// setting is.
import {find, make} from './dom.js';
import {secondsOf} from './timeline.js';

const {number, duration} = Retrystorm;
const FIRST_HALF = 2500, SECOND_HALF = 2000; // milliseconds that it takes to be drawn

// What befell the service, as `--outage` names it: in the past, and as a sentence's subject's verb.
const BEFELL = {
  freeze: ['the server froze', 'the server freezes'],
  drop: ['the server dropped all connections', 'the server drops all connections'],
  slow: ['the server was F times as slow', 'the server is F times as slow'],
  errors: ['F of the answers were errors', 'F of the answers are errors'],
  capacity: ['the capacity was F times what it is', 'the capacity is F times what it is'],
  load: ['the clients wanted F times as much', 'the clients want F times as much'],
};

export function callers(app) {
  const arrivals = app.value('arrivals');
  const scale = Number(app.value('scale'));
  if (arrivals === 'open') return `${number(scale * Number(app.value('rate')))} requests a second`;
  return `${number(Math.round(scale * Number(app.value('clients'))))} ${arrivals === 'job' ? 'workers' : 'clients'}`;
}

export function sentence(app, past) {
  const length = secondsOf(app, 'outage-for');
  if (length === 0) return `${callers(app)}; nothing befalls the service.`;
  const [kind, value] = app.value('outage').split(':');
  const factor = kind === 'errors' ? `${number(100 * Number(value))} %` : value;
  const text = BEFELL[kind][past ? 0 : 1].replace('F', factor);
  return `${callers(app)}; ${text} for ${duration(length).replace('.0 ', ' ')}.`;
}

export function mountStory(app, fresh) {
  const text = make('p', {className: 'story-sentence', id: 'story-sentence'});
  const say = past => text.replaceChildren(sentence(app, past));
  find('story').append(text);
  if (!fresh) {
    app.on('look', () => say(false));
    return;
  }

  const root = document.documentElement;
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const buttons = make('div', {className: 'story-buttons', role: 'group', 'aria-labelledby': 'story-sentence'});
  root.dataset.story = 'asked'; // what would give the end away is not there yet
  let answered = false;

  async function answer(said) {
    if (answered) return;
    answered = true;
    buttons.remove();
    await app.timeline.reveal(Infinity, still || said === null ? 0 : SECOND_HALF);
    delete root.dataset.story;
    const {verdict} = app.ours.result;
    const back = verdict === 'recovered' || verdict === 'recovering';
    const right = said === null ? '' : said === back ? 'So it is. ' : back ? 'It does. ' : 'It does not. ';
    const why = back ? 'the clients waited longer and longer between their attempts, and let it come to itself.'
      : 'nothing is broken any more, and it stays down: its clients keep it busy with attempts that they have already given up. Their retries are fixed, every 100 ms.';
    text.replaceChildren(`${right}${why[0].toUpperCase()}${why.slice(1)}`, make('span', {className: 'muted'}, ' What would save it? Turn the knobs: exponential is a good beginning.'));
    app.on('look', () => say(false));
    find('knobs').querySelector('select, input')?.focus({preventScroll: true});
  }

  const ask = () => {
    text.replaceChildren(`${sentence(app, true)} `, make('strong', {}, 'Will it come back?'));
    buttons.append(
      make('button', {type: 'button', id: 'story-yes', onclick: () => answer(true)}, 'Yes, it comes back'),
      make('button', {type: 'button', id: 'story-no', onclick: () => answer(false)}, 'No, it stays down'),
      make('button', {type: 'button', id: 'story-skip', className: 'quiet', onclick: () => answer(null)}, 'Just the knobs'));
    find('story').append(buttons);
  };
  let begun = false;
  app.on('run', () => {
    if (begun) return;
    begun = true;
    const middle = secondsOf(app, 'outage-at') + secondsOf(app, 'outage-for');
    app.timeline.until = 0;
    ask();
    app.timeline.reveal(middle, still ? 0 : FIRST_HALF);
  });
}
