// Challenges: a setting that fails, goals, and knobs that must not be turned.
import {find, make} from './dom.js';
import {CHALLENGES, stateOf, turnedThough} from './goals.js';
import {Dropped} from './pool.js';

const MARKS = new Map([[true, ['\u2713', 'met']], [false, ['\u2717', 'not met']], [null, ['\u2026', 'not known yet']]]);
const STATES = {
  solved: 'Solved: the statistics say so.',
  unsolved: 'Not solved.',
  open: 'Not known yet: seeds are being simulated.',
};

class Challenges {
  constructor(app) {
    this.app = app;
    this.starts = new Map(); // values in force at the start, by challenge
    this.list = make('div', {className: 'challenges-list'}, ...CHALLENGES.map(challenge =>
      make('button', {type: 'button', dataset: {challenge: challenge.id}, onclick: () => this.choose(challenge)}, challenge.title)));
    this.title = make('h2', {tabIndex: -1});
    this.story = make('p');
    this.said = make('p', {className: 'muted'});
    this.goals = make('ul', {className: 'challenges-goals'});
    this.state = make('p', {className: 'challenges-state', role: 'status'});
    this.locked = make('p', {className: 'refused', role: 'alert'});
    this.box = make('div', {className: 'challenges-box panel'}, this.title, this.story, this.said, this.goals, this.state, this.locked,
      make('div', {className: 'challenges-buttons'},
        make('button', {type: 'button', id: 'challenges-again', onclick: () => this.choose(this.challenge)}, 'Start again'),
        make('button', {type: 'button', id: 'challenges-leave', onclick: () => this.leave()}, 'Leave the challenge')));
    find('challenges').append(make('h2', {}, 'Challenges'),
      make('p', {className: 'muted'}, 'A setting that fails, and goals to meet. Turn the knobs until the statistics show that all goals are met.'),
      this.list);
    // Next to the charts, so that the goals are visible while the reader turns the knobs.
    find('challenge').append(this.box);
    for (const event of ['description', 'run', 'many', 'state', 'error']) app.on(event, () => this.show());
    this.show();
  }

  get challenge() {
    return CHALLENGES.find(({id}) => id === this.app.state.challenge) ?? null;
  }

  choose(challenge) {
    const {app} = this;
    if (app.state.pinned) app.unpin();
    app.state.challenge = challenge.id;
    app.tell('state');
    app.replace({...challenge.given});
    this.title.focus();
  }

  leave() {
    const {app} = this;
    const button = this.list.querySelector(`[data-challenge=${app.state.challenge}]`);
    app.state.challenge = null;
    app.tell('state');
    button?.focus();
  }

  // The values in force at the start, asked for once. Null until they are known.
  start(challenge) {
    if (!this.starts.has(challenge.id)) {
      this.starts.set(challenge.id, null);
      this.app.pool.ask({ask: 'describe', given: challenge.given, seed: 1}, {order: 0, group: 'challenges'}).then(({values}) => {
        this.starts.set(challenge.id, values);
        this.show();
      }, error => {
        this.starts.delete(challenge.id);
        if (!(error instanceof Dropped)) this.locked.textContent = error.message;
      });
    }
    return this.starts.get(challenge.id);
  }

  show() {
    const {app, challenge} = this;
    for (const button of this.list.children) button.setAttribute('aria-pressed', String(button.dataset.challenge === challenge?.id));
    this.box.hidden = !challenge;
    if (!challenge) return;
    this.title.textContent = challenge.title;
    this.story.textContent = challenge.story;
    this.said.textContent = `What you may change: ${challenge.said}`;
    const start = this.start(challenge);
    const turned = app.description && start ? turnedThough(challenge, app.catalogue.options, app.state.given, app.description.values, start) : [];
    // Nothing is known until there are statistics of this setting.
    const cell = app.error ? null : app.recall(app.state.given, app.state.seed)?.cell ?? null;
    const judged = challenge.goals.map(goal => cell ? goal.judge(cell) : {met: null, figure: ''});
    this.goals.replaceChildren(...challenge.goals.map(({name}, i) => {
      const {met, figure} = judged[i];
      const [mark, words] = MARKS.get(met);
      return make('li', {dataset: {met: String(met)}}, make('span', {className: 'challenges-mark', 'aria-hidden': 'true'}, mark),
        make('span', {}, make('strong', {}, name), `: ${words}`, make('span', {className: 'muted'}, figure ? ` (${figure})` : '')));
    }));
    const state = turned.length > 0 || !start ? 'open' : stateOf(judged);
    this.box.dataset.state = turned.length > 0 ? 'locked' : state;
    this.state.textContent = turned.length > 0 ? '' : STATES[state];
    const sentence = turned.length === 0 ? ''
      : `This does not count: ${turned.join(', ')} must not be changed here.`;
    if (this.locked.textContent !== sentence) this.locked.textContent = sentence;
  }
}

export function mountChallenges(app) {
  app.challenges = new Challenges(app);
}
