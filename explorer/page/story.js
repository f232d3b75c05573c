// The start of the page: a retry storm and a question. Once it is answered, the sentence there describes
// the setting.
import {find, make} from './dom.js';
import {brief} from './durations.js';
import {settingKey} from './link.js';
import {actionsOf} from './remedies.js';
import {secondsOf} from './timeline.js';
import {actionText} from './words.js';

const {duration, minutes, number} = Retrystorm;
const FIRST_HALF = 2500, SECOND_HALF = 2000; // milliseconds to draw it

// The outages of `--outage` in words.
const OUTAGES = {
  freeze: 'the server freezes', drop: 'the server drops all connections', slow: 'the server is F times as slow', errors: 'F of the answers are errors',
  capacity: 'the capacity is multiplied by F', throttle: 'the server admits only F requests per second', load: 'the load is F times as high',
  reconnect: 'all clients lose their connection',
};

const kindsOf = app => app.description?.services?.kinds ?? [];

export function callers(app) {
  if (kindsOf(app).length > 0) return `clients of ${kindsOf(app).length} kinds (${kindsOf(app).join(', ')})`;
  const arrivals = app.value('arrivals');
  const scale = Number(app.value('scale'));
  if (arrivals === 'open') return `${number(scale * Number(app.value('rate')))} requests per second`;
  return `${arrivals === 'job' ? 'up to ' : ''}${number(Math.round(scale * Number(app.value('clients'))))} ${arrivals === 'job' ? 'workers' : 'clients'}`;
}

const outageLength = app => brief(secondsOf(app, 'outage-for'));

export function sentence(app) {
  const who = kindsOf(app).length > 0 ? callers(app) : `${callers(app)}, ${app.description.retries.replace(/^none /, 'no ')}`, whole = who[0].toUpperCase() + who.slice(1);
  const done = actionsOf(app.value('at')).map(({at, action}) => `; ${actionText(action)}${at === null ? '' : ` at ${minutes(at)}`}`).join('');
  if (secondsOf(app, 'outage-for') === 0) return `${whole}; no outage${done}.`;
  const [kind, value] = app.value('outage').split(':');
  const factor = kind === 'errors' ? `${number(100 * Number(value))} %` : value;
  // Of several services it happens to one.
  const services = app.description.services, of = services && (app.value('outage-of') || services.nodes.at(-1));
  const text = OUTAGES[kind].replace('F', factor).replace('the server', of || 'the server');
  const hosts = app.value('replicas').split('.')[0], hit = app.value('outage-replicas');
  const where = of && !text.includes(of) ? ` (${of})` : hosts === '1' ? '' : ` (${hit === 'none' ? 'all' : `${hit} of`} ${hosts} hosts)`;
  const lasting = kind === 'reconnect' ? '' : ` for ${outageLength(app)}`;
  return `${whole}; ${text}${lasting}${where}${done}.`;
}

// After the answer, step by step: what to see, and with what setting.
const LONGER = {strategy: 'exponential'}, MORE = {...LONGER, backlog: '400'};
const STEPS = [
  {given: {}, text: 'The server works again, but its clients keep it busy with attempts already given up.', tells: true,
    helps: 'Waits that grow (backoff), fewer attempts or a restart would help.', next: 'Why?'},
  {given: {}, lit: 'service', text: 'See the second chart. When the server wakes, more requests come than it can answer in time. Every late answer makes its client send another one.',
    next: 'What if they waited longer?'},
  {given: LONGER, text: 'Now each client waits longer after each failure.', tells: true, next: 'Is that enough?'},
  {given: MORE, lit: 'service', ending: 'down', text: 'The same clients, but 400 connections can wait for the frozen server, not 256. It serves them first when it wakes, and most of their clients have gone.',
    tells: true, next: 'How to get it out?'},
  {given: {...MORE, at: '60s restart'}, text: 'Somebody restarts it at 1:00, and so drops what nobody waits for.', tells: true, next: 'And your library?'},
  {given: {}, text: 'Choose your library under \u201cHow clients retry\u201d, and turn the other knobs: how long must it freeze until it stays down?', next: null},
];

// How the current setting ends, in a sentence.
function outcome({behind, ours: {many}}) {
  if (behind || !many) return '\u2026';
  const {runs, collapsed, relapsed} = many.cell, down = collapsed + relapsed;
  if (down === 0) return `It comes back in all ${runs} runs.`;
  return `It stays down in ${down === runs ? 'all' : `${down} of`} ${runs} runs.`;
}

// A sentence for each step, and the way to the next one.
function steps(app) {
  const text = make('p', {className: 'story-step', role: 'status'});
  const current = () => STEPS[app.state.story - 1];
  // Has the reader changed the step's setting, so that its text is no longer true? The last one asks for that.
  const isChanged = step => Boolean(step?.next) && settingKey(step.given) !== settingKey(app.state.given);
  const next = make('button', {type: 'button', id: 'story-next', onclick: () => go(app.state.story + (isChanged(current()) ? 0 : 1))});
  const leave = make('button', {type: 'button', id: 'story-leave', className: 'quiet', onclick: () => go(null)});
  const box = make('div', {className: 'story-steps panel', hidden: true}, text, next, leave);

  function show() {
    const {story} = app.state, step = current(), changed = isChanged(step);
    find('story-sentence').hidden = Boolean(step) && story > 1 && !changed;
    box.hidden = !step;
    find('timeline').dataset.lit = !changed && step?.lit || '';
    if (!step) return;
    if (changed) text.replaceChildren(`You have changed the setting. ${outcome(app)}`);
    else text.replaceChildren(make('strong', {}, `${story} of ${STEPS.length}. `), step.text, step.tells ? ` ${outcome(app)}` : '', step.helps ? ` ${step.helps}` : '');
    next.hidden = !step.next;
    next.textContent = changed ? 'Back to the story' : step.next ?? '';
    leave.textContent = step.next ? 'Just the knobs' : 'Done';
  }

  function go(story) {
    app.state.story = story;
    const step = STEPS[story - 1];
    if (step && settingKey(step.given) !== settingKey(app.state.given)) app.replace({...step.given});
    app.tell('state');
    show();
    if (!step) find('knob-strategy').focus({preventScroll: true});
  }

  for (const event of ['description', 'computing', 'run', 'many']) app.on(event, show);
  // Before the page chooses which run to draw.
  app.on('many', () => { app.ending ??= STEPS[app.state.story - 1]?.ending ?? null; });
  return {box, go};
}

export function mountStory(app, fresh) {
  const text = make('p', {className: 'story-sentence', id: 'story-sentence'});
  const say = () => text.replaceChildren(sentence(app));
  const {box, go} = steps(app);
  find('story').append(text, box);
  if (!fresh) {
    app.on('description', say);
    return;
  }

  const root = document.documentElement;
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const buttons = make('div', {className: 'story-buttons', role: 'group', 'aria-labelledby': 'story-sentence'});
  root.dataset.story = 'asked'; // hides what would reveal the end
  app.timeline.until = 0;
  app.timeline.asked = true;
  let answered = false;

  async function answer(said) {
    if (answered) return;
    answered = true;
    buttons.remove();
    app.timeline.asked = false;
    app.timeline.show();
    await app.timeline.reveal(Infinity, still || said === null ? 0 : SECOND_HALF);
    delete root.dataset.story;
    const {verdict} = app.ours.result;
    const back = verdict === 'recovered' || verdict === 'recovering';
    say();
    if (said !== null) text.prepend(make('strong', {}, said === back ? 'Correct. ' : back ? 'No, it comes back. ' : 'No, it stays down. '));
    app.on('description', say);
    go(said === null ? null : 1);
  }

  const ask = () => {
    text.replaceChildren(`${callers(app)} give up an attempt after ${brief(secondsOf(app, 'timeout'))}, and try again ${duration(secondsOf(app, 'backoff-base'))} after each failure. The server froze for ${outageLength(app)}, and is healthy now. `, make('strong', {}, 'Will it come back?'));
    buttons.append(
      make('button', {type: 'button', id: 'story-yes', onclick: () => answer(true)}, 'Yes, it comes back'),
      make('button', {type: 'button', id: 'story-no', onclick: () => answer(false)}, 'No, it stays down'),
      make('button', {type: 'button', id: 'story-skip', className: 'quiet', onclick: () => answer(null)}, 'Skip the question'));
    find('story').append(buttons);
  };
  let begun = false;
  app.on('run', () => {
    if (begun) return;
    begun = true;
    const middle = secondsOf(app, 'outage-at') + secondsOf(app, 'outage-for');
    ask();
    app.timeline.reveal(middle, still ? 0 : FIRST_HALF);
  });
}
