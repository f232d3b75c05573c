// The knobs, in three groups: from the options' registrations, each with what it says of itself.
import {cliff} from './cliff.js';
import {find, grouped, make} from './dom.js';
import {drawService} from './service.js';
import {place, withPoints} from './durations.js';
import {drawWaits} from './waits.js';

export const PARTS = [
  ['clients', 'How your clients retry'],
  ['service', 'What your service does'],
  ['outage', 'What befalls it'],
];
// What one turns first, though the command line's short help has it not.
const FIRST = new Set(['rate', 'backoff-base', 'backoff-factor', 'rate-limit', 'arrivals', 'outage', 'outage-at', 'outage-for', 'observe',
  'base-delay', 'k', 'curve-factor', 'workers', 'service-time', 'queue-length', 'queue-order', 'queue-drop']);

class Knob {
  constructor(app, option) {
    Object.assign(this, {app, option});
    const {name, help, unit, choices, examples, stops} = option;
    const id = `knob-${name}`;
    this.help = make('p', {className: 'knob-help', id: `${id}-help`}, this.sentence(help));
    this.problem = make('p', {className: 'knob-problem refused', id: `${id}-problem`, role: 'alert'});
    const described = `${id}-help ${id}-problem`;
    this.reset = make('button', {type: 'button', className: 'knob-reset', onclick: () => this.change(null)});
    this.head = make('div', {className: 'knob-head'}, make('label', {htmlFor: id}, name), this.reset);
    const row = make('div', {className: 'knob-row'});
    if (choices) {
      this.field = make('select', {id, 'aria-describedby': described}, ...choices.map(choice => make('option', {value: choice}, choice)));
      this.field.addEventListener('change', () => this.change(this.field.value));
      row.append(this.field);
    } else {
      if (stops?.length > 1) {
        this.slider = make('input', {type: 'range', id: `${id}-slider`, min: '0', max: String(stops.length - 1), step: '1', 'aria-label': `${name}, as a slider`});
        this.slider.addEventListener('input', () => this.change(stops[Number(this.slider.value)]));
        row.append(make('div', {className: 'knob-slide'}, this.slider, cliff(app, option)));
      }
      this.field = make('input', {type: 'text', id, 'aria-describedby': described, autocomplete: 'off', spellcheck: false, className: stops ? '' : 'knob-text'});
      if (examples) {
        this.examples = make('select', {'aria-label': `${name}: examples`},
          make('option', {value: ''}, 'e.g.'), ...examples.map(example => make('option', {value: example}, example)));
        this.examples.addEventListener('change', () => this.examples.value && this.change(this.examples.value));
        row.append(this.examples);
      }
      this.field.addEventListener('change', () => this.take(withPoints(this.field.value.trim())));
      row.append(this.field);
      if (unit) row.append(make('span', {className: 'knob-unit muted'}, unit));
    }
    this.element = make('div', {className: 'knob', dataset: {name}}, this.head, row);
    this.element.append(this.problem, this.help);
  }

  sentence(help) {
    return `${help[0].toUpperCase()}${help.slice(1)}.`;
  }

  change(text) {
    this.problem.textContent = '';
    this.app.change({[this.option.name]: text});
  }

  // What was typed is tried first, and held back where the command line would refuse it.
  async take(text) {
    const {app, option: {name}} = this;
    this.shown = this.field.value; // nobody types any more
    if (text === '') return this.change(null);
    const look = await app.pool.ask({ask: 'look', given: {...app.state.given, [name]: text}, seed: app.state.seed}).catch(error => ({errors: {[name]: error.message}}));
    const refused = look.errors[name];
    if (!refused) return this.change(text);
    this.field.setAttribute('aria-invalid', 'true');
    this.problem.textContent = refused;
  }

  // A service of workers has no curve, nor the curve workers; what the strategy leaves out is left out.
  without() {
    const {app, option: {name, group}} = this;
    if (name in app.state.given) return false;
    if (group === 'Workers') return app.value('service') !== 'workers';
    if (group === 'Service curve') return app.value('service') !== 'curve';
    if (name === 'backoff-factor') return app.value('growth') !== 'exponential';
    if (name === 'backoff-base') return app.value('growth') === 'none';
    if (name === 'rate') return app.value('arrivals') !== 'open';
    return false;
  }

  show() {
    const {app, option: {name, default: usual}} = this;
    const value = app.value(name);
    // What was refused stays to be mended, until something else has changed; what is being typed is
    // not typed over.
    const typing = document.activeElement === this.field && this.field.tagName !== 'SELECT' &&
      (this.problem.textContent !== '' || this.field.value !== this.shown);
    if (!typing) {
      this.field.value = this.shown = value;
      this.problem.textContent = '';
      this.field.removeAttribute('aria-invalid');
    }
    if (this.examples) this.examples.value = this.option.examples.includes(value) ? value : '';
    if (this.slider) {
      this.slider.value = Math.round(place(this.option, value) ?? 0);
      this.slider.setAttribute('aria-valuetext', value);
    }
    const given = name in app.state.given;
    const by_itself = app.look.usual[name] ?? (given ? usual : value);
    const changed = given && value !== by_itself;
    this.element.classList.toggle('knob-changed', changed);
    this.reset.disabled = !given;
    this.reset.textContent = changed ? `back to ${by_itself || 'nothing'}` : value === usual ? 'default' : `by the strategy (default ${usual || 'nothing'})`;
    this.reset.setAttribute('aria-label', `${name}: ${this.reset.textContent}`);
    const unused = app.look.unused[name];
    this.element.classList.toggle('knob-unused', Boolean(unused));
    if (unused) this.reset.textContent = unused;
    // Of what most people need, only what has an effect here.
    if (this.first) this.element.hidden = Boolean(unused) && !given || this.without();
  }
}

class Knobs {
  constructor(app) {
    this.app = app;
    this.knobs = [];
    const panels = PARTS.map(([part, title]) => this.panel(part, title));
    find('knobs').append(...panels);
    app.on('look', () => this.show());
  }

  knob(option, first = false) {
    const knob = new Knob(this.app, option);
    knob.first = first;
    this.knobs.push(knob);
    return knob.element;
  }

  panel(part, title) {
    const {app} = this;
    const options = app.catalogue.options.filter(option => option.part === part && !option.same_as);
    const [first, later] = [[], []];
    for (const option of options) (option.basic || FIRST.has(option.name) ? first : later).push(option);
    // The name of the strategy comes before its parts.
    first.sort((a, b) => Number(b.name === 'strategy') - Number(a.name === 'strategy'));
    const groups = grouped(later, option => option.group);
    const panel = make('section', {className: `panel knobs-${part}`, 'aria-labelledby': `knobs-${part}`}, make('h2', {id: `knobs-${part}`}, title));
    const elements = first.map(option => this.knob(option, true));
    if (part === 'clients') {
      const about = make('p', {className: 'muted knobs-about', role: 'status'});
      const showAbout = () => {
        const strategy = app.catalogue.strategies.find(({name}) => name === app.value('strategy'));
        about.textContent = strategy ? `${strategy.summary}. Source: ${strategy.source}, ${strategy.date}.` : '';
      };
      app.on('look', showAbout);
      elements[0].append(about);
      elements.splice(1, 0, drawWaits(app));
    }
    if (part === 'service') elements.splice(1, 0, drawService(app));
    panel.append(...elements);
    for (const [group, members] of groups) {
      const body = make('div');
      const details = make('details', {}, make('summary', {}, group, make('span', {className: 'knobs-count muted'})), body);
      // Built when it is opened: there are a hundred of them.
      const open = () => {
        if (body.childElementCount > 0) return;
        body.append(...members.map(option => this.knob(option)));
        if (app.look) this.show();
      };
      details.addEventListener('toggle', () => details.open && open());
      app.on('look', () => {
        const count = members.filter(({name}) => name in app.state.given).length;
        details.querySelector('.knobs-count').textContent = count > 0 ? ` ${count} changed` : '';
      });
      panel.append(details);
    }
    return panel;
  }

  show() {
    for (const knob of this.knobs) knob.show();
  }
}

export function mountKnobs(app) {
  app.knobs = new Knobs(app);
}
