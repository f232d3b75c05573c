// Remedies: an action at a time of the run, shown next to the run without it. Until that time both runs
// are the same, because the pinned setting has the same seed and differs only in the remedy.
import {find, make} from './dom.js';
import {valueOf} from './durations.js';
import {settingKey} from './link.js';
import {secondsOf} from './timeline.js';
import {settingText} from './verdict.js';
import {actionText} from './words.js';

const {minutes} = Retrystorm;

const AFTER_OUTAGE = 10; // seconds, as in scripts/remedies

// The actions of the option `at`, each as {at: seconds, action: 'restart', text}.
export function actionsOf(text) {
  return text.split(';').map(each => each.trim()).filter(Boolean).map(each => {
    const gap = each.indexOf(' ');
    return {at: valueOf(each.slice(0, gap)), action: each.slice(gap + 1), text: each};
  });
}

// True if `ours` is `base` with more actions.
export function isForkOf(ours, base) {
  if (!base) return false;
  const done = actionsOf(ours.at ?? '').map(({text}) => text);
  return settingKey(ours, 'at') === settingKey(base, 'at') && done.length > 0 &&
    actionsOf(base.at ?? '').every(({text}) => done.includes(text));
}

// The concurrency above which to shed: about three times what the service serves at full speed.
export const shedAt = value => 3 * Math.max(1, valueOf(value(value('service') === 'workers' ? 'workers' : 'limit')) ?? 1);

// The possible actions: [name, action, why it is not possible, if so].
function remedies(app) {
  const value = name => app.value(name);
  // Of several services, of the one with the outage.
  const {services} = app.description, of = services ? `${value('outage-of') || services.nodes.at(-1)}.` : '';
  const shed = services ? 3 * valueOf(value(`${of}workers`)) : shedAt(value);
  const already = valueOf(value(`${of}shed-above`)) ?? 0;
  return [
    [`shed above ${shed}`, `set shed-above=${shed}`,
      already > 0 && already <= shed && `It already sheds above ${already}.`],
    ['restart', 'restart', null],
    ['half the load', 'load 0.5',
      value('arrivals') === 'job' && 'Less load has no effect on a job: its workers take one task after another.'],
    ['twice the capacity', 'capacity 2', null],
  ];
}

class Remedies {
  constructor(app) {
    this.app = app;
    this.chosen = null; // seconds; null is the default moment
    this.slider = make('input', {type: 'range', id: 'remedies-slider', className: 'remedies-slider', min: '0', step: '1', 'aria-label': 'At this time of the run, as a slider'});
    this.slider.addEventListener('input', () => this.choose(Number(this.slider.value)));
    this.field = make('input', {type: 'text', id: 'remedies-time', autocomplete: 'off', spellcheck: false, 'aria-describedby': 'remedies-problem'});
    this.field.addEventListener('change', () => this.read());
    this.problem = make('p', {id: 'remedies-problem', className: 'refused', role: 'alert'});
    this.buttons = make('div', {className: 'remedies-buttons', role: 'group', 'aria-label': 'What to do'});
    this.why = make('p', {className: 'muted'});
    this.list = make('ul', {className: 'remedies-done'});
    this.undo = make('button', {type: 'button', id: 'remedies-undo', onclick: () => this.put([])}, 'Undo all');
    this.futures = make('p', {className: 'remedies-futures', role: 'status'});
    this.done = make('div', {className: 'remedies-all'}, this.list, this.undo, this.futures);
    find('remedies').append(this.slider,
      make('div', {className: 'remedies-time'}, make('label', {htmlFor: 'remedies-time', title: 'The run without it is pinned for comparison. Both runs are the same until then.'}, 'Try a remedy at'), this.field, this.buttons),
      this.why, this.problem, this.done);
    app.on('description', () => this.show());
    app.on('run', () => this.show());
    app.on('many', () => this.tell());
    app.on('pinned', () => this.tell());
  }

  // The run's length, in whole seconds.
  get end() {
    const {run} = this.app.ours;
    return Math.max(1, Math.floor(run?.end || secondsOf(this.app, 'outage-at') + secondsOf(this.app, 'outage-for') + secondsOf(this.app, 'observe')));
  }

  get time() {
    const begin = secondsOf(this.app, 'outage-at'), length = secondsOf(this.app, 'outage-for');
    const defaultMoment = length > 0 && this.app.value('arrivals') !== 'job' ? Math.round(begin + length + AFTER_OUTAGE) : Math.round(this.end / 2);
    return Math.min(this.chosen ?? defaultMoment, this.end);
  }

  choose(seconds) {
    this.chosen = seconds;
    this.problem.textContent = '';
    this.show();
    this.field.value = `${this.time}s`;
  }

  read() {
    const text = this.field.value.trim().replace(/(\d),(\d)/g, '$1.$2');
    const clock = /^(\d+):(\d\d)$/.exec(text); // as in the charts
    const seconds = clock ? 60 * Number(clock[1]) + Number(clock[2]) : valueOf(text);
    if (text === '') this.choose(null);
    else if (seconds === null || !(seconds >= 0)) this.problem.textContent = `'${text}' is not a time (100ms, 20s, 1m30s)`;
    else if (seconds > this.end) this.problem.textContent = `The run ends at ${this.end} s`;
    else this.choose(seconds);
  }

  act(action) {
    const {app} = this;
    const {given, pinned} = app.state;
    if (!isForkOf(given, pinned)) {
      app.state.pinned = {...given};
      app.tell('pinned');
    }
    this.put([...actionsOf(app.value('at')).map(({text}) => text), `${this.time}s ${action}`]);
  }

  // Sets the actions. Without any, the run is its base again, and nothing is pinned.
  put(texts) {
    const {app} = this;
    const was = isForkOf(app.state.given, app.state.pinned);
    const base = was ? actionsOf(app.state.pinned.at ?? '').map(({text}) => text) : [];
    const all = texts.length > 0 ? texts : base;
    if (was && all.join() === base.join()) app.unpin();
    app.change({at: all.length > 0 ? all.join('; ') : null});
  }

  show() {
    const {app} = this;
    if (!app.description) return;
    const {time, end} = this;
    this.slider.max = String(end);
    this.slider.value = String(time);
    this.slider.setAttribute('aria-valuetext', `${minutes(time)}`);
    // Does not overwrite what is being typed.
    if (!this.problem.textContent && document.activeElement !== this.field) this.field.value = `${time}s`;
    const all = remedies(app);
    if (this.buttons.childElementCount === 0) {
      this.buttons.append(...all.map((_, i) => make('button', {type: 'button', onclick: () => this.act(this.offered[i][1])})));
    }
    this.offered = all;
    all.forEach(([name, action, why], i) => {
      const button = this.buttons.children[i];
      button.textContent = name[0].toUpperCase() + name.slice(1);
      button.dataset.action = action;
      button.disabled = Boolean(why);
    });
    this.why.textContent = all.map(([, , why]) => why).filter(Boolean).join(' ');
    const refused = app.description.errors.at ?? (app.state.given.at && app.description.errors['']);
    if (refused) this.problem.textContent = `Refused: ${refused}`;
    else if (this.problem.textContent.startsWith('Refused')) this.problem.textContent = '';
    const texts = actionsOf(app.value('at'));
    this.done.hidden = texts.length === 0;
    this.list.replaceChildren(...texts.map(({at, action}, i) => {
      const said = `${at === null ? '' : minutes(at)} ${actionText(action)}`.trim();
      return make('li', {}, `${said} `, make('button', {
        type: 'button', className: 'remedies-remove', 'aria-label': `Remove: ${said}`,
        onclick: () => {
          this.put(texts.filter((_, other) => other !== i).map(({text}) => text));
          this.field.focus({preventScroll: true});
        },
      }, 'remove'));
    }));
    this.tell();
  }

  // Both results in a line.
  tell() {
    const {ours, theirs, state: {given, pinned}} = this.app;
    if (!isForkOf(given, pinned)) {
      this.futures.textContent = '';
      return;
    }
    const without = Object.hasOwn(pinned, 'at') ? `With only ${actionsOf(pinned.at).map(({action}) => actionText(action)).join(', ')}` : 'Without';
    const share = some => this.app.behind ? '…' : some?.many ? `down in ${some.many.cell.collapsed + some.many.cell.relapsed} of ${some.many.cell.runs} runs` : some?.result?.verdict ?? '…';
    this.futures.textContent = `With it: ${share(ours)}. ${without}: ${share(theirs)}.`;
    this.futures.title = `Without: ${settingText(pinned)}`;
  }
}

export function mountRemedies(app) {
  app.remedies = new Remedies(app);
}
