// The knobs, made from the options' declarations and help texts: five first, the others in three tabs.
import {cliff} from './cliff.js';
import {find, grouped, make} from './dom.js';
import {drawService} from './service.js';
import {place, withPoints} from './durations.js';
import {sectionKind} from './options.js';
import {drawWaits} from './waits.js';
import {heat, onScheme} from './heat.js';
import {NO_LIMIT, textOf, meaningOf, wordsOf} from './words.js';

export const PARTS = [
  ['clients', 'Clients'],
  ['service', 'Service'],
  ['outage', 'Outage'],
  ['services', 'Services'],
];
const FIVE = ['strategy', 'max-attempts', 'timeout', 'clients', 'outage-for'];
// Shown first in a tab, although the command line's short help does not have them.
const FIRST = new Set(['rate', 'backoff-base', 'backoff-factor', 'rate-limit', 'arrivals', 'outage', 'outage-at', 'outage-for', 'observe',
  'base-delay', 'k', 'curve-factor', 'workers', 'service-time', 'queue-length', 'queue-order', 'queue-drop',
  'chain', 'waiting', 'retry-at', 'deadline-propagation', 'outage-of',
  'replicas', 'picker', 'balance', 'retry-host', 'eject', 'panic', 'probe', 'probe-does', 'host-start', 'outage-replicas']);
// Of one service behind services, and of the calls of one to another.
const OF_ONE = ['workers', 'service-time', 'calls', 'waiting', 'queue-length', 'shed-above', 'backlog', 'error-share', 'on-failure'];
const EXAMPLES = {chain: ['api 32x5ms > db 8x40ms', 'api 32x5ms > orders 16x20ms >200ms db 8x40ms']};
const OF_CALLS = ['strategy', 'max-attempts', 'timeout', 'deadline-propagation'];
const OF_CLIENTS = ['arrivals', 'rate', 'clients', ...OF_CALLS];
const wordsOfSection = {node: name => name, edge: name => `the calls of ${name.replace('.', ' to ')}`, kind: name => name.replace('.', ' ')};

class Knob {
  constructor(app, option) {
    Object.assign(this, {app, option});
    const {name, help, choices, stops, base} = option, examples = option.examples ?? EXAMPLES[name];
    const id = `knob-${name}`;
    this.help = make('p', {className: 'knob-help', id: `${id}-help`, hidden: true}, this.sentence(help));
    const more = make('button', {type: 'button', className: 'knob-more', 'aria-label': `What ${name} is`, 'aria-expanded': 'false', 'aria-controls': `${id}-help`, title: this.sentence(help)}, '?');
    more.addEventListener('click', () => {
      this.help.hidden = !this.help.hidden;
      more.setAttribute('aria-expanded', String(!this.help.hidden));
    });
    this.problem = make('p', {className: 'knob-problem refused', id: `${id}-problem`, role: 'alert'});
    const described = `${id}-help ${id}-problem`;
    this.reset = make('button', {type: 'button', className: 'knob-reset', onclick: () => this.change(null)});
    this.head = make('div', {className: 'knob-head'}, make('label', {htmlFor: id}, wordsOf(base ?? name, Boolean(base)), ' ', make('code', {}, base ?? name)), more, this.reset);
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
        this.exampleTexts = examples;
        this.examples = make('select', {'aria-label': `${name}: examples`},
          make('option', {value: ''}, 'e.g.'), ...examples.map(example => make('option', {value: example}, example)));
        this.examples.addEventListener('change', () => this.examples.value && this.change(this.examples.value));
        row.append(this.examples);
      }
      this.field.addEventListener('change', () => this.take(withPoints(this.field.value.trim())));
      row.append(this.field);
      this.unit = make('span', {className: 'knob-unit muted'});
      row.append(this.unit);
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

  // Checks what was typed, and does not apply it if the command line would refuse it.
  async take(text) {
    const {app, option: {name}} = this;
    this.shown = this.field.value; // typing has ended
    if (text === NO_LIMIT) text = 'none';
    if (text === '') return this.change(null);
    const description = await app.pool.ask({ask: 'describe', given: {...app.state.given, [name]: text}, seed: app.state.seed}).catch(error => ({errors: {[name]: error.message}}));
    const refused = description.errors[name];
    if (!refused) return this.change(text);
    this.field.setAttribute('aria-invalid', 'true');
    this.problem.textContent = refused;
  }

  // Hides the options of the service or of the strategy that are not in use.
  without() {
    const {app, option: {name, group, section}} = this;
    if (name in app.state.given || section) return false;
    if (group === 'Workers') return app.value('service') !== 'workers';
    if (group === 'Service curve') return app.value('service') !== 'curve';
    if (group === 'Replicas' && name !== 'replicas') return app.value('replicas') === '1';
    if (group.startsWith('Reconnects')) return app.value('outage') !== 'reconnect';
    if (name === 'backoff-factor') return app.value('growth') !== 'exponential';
    if (name === 'backoff-base') return app.value('growth') === 'none';
    if (name === 'rate') return app.value('arrivals') !== 'open';
    return false;
  }

  show() {
    const {app, option: {name, default: defaultValue, section, base = name}} = this;
    const value = app.value(name);
    // A refused text stays, so that the reader can correct it, until something else changes. A text that
    // is being typed is not overwritten.
    const typing = document.activeElement === this.field && this.field.tagName !== 'SELECT' &&
      (this.problem.textContent !== '' || this.field.value !== this.shown);
    if (!typing) {
      this.field.value = this.shown = textOf(base, value);
      this.problem.textContent = '';
      this.field.removeAttribute('aria-invalid');
    }
    if (this.examples) this.examples.value = this.exampleTexts.includes(value) ? value : '';
    if (this.slider) {
      this.slider.value = Math.round(place(this.option, value) ?? 0);
      this.slider.setAttribute('aria-valuetext', value);
    }
    if (this.unit) this.unit.textContent = value === 'none' ? '' : meaningOf(base, value) ?? this.option.unit ?? '';
    const given = name in app.state.given;
    const otherwise = app.description.defaults[name] ?? (given ? defaultValue : value);
    const changed = given && value !== otherwise;
    this.element.classList.toggle('knob-changed', changed);
    this.reset.disabled = !given;
    this.reset.textContent = changed ? `reset to ${textOf(base, otherwise) || 'nothing'}` : value === defaultValue ? 'default' : section ? 'not set here' : `set by ${this.option.part === 'clients' ? 'the strategy' : 'another option'} (default ${defaultValue || 'nothing'})`;
    this.reset.setAttribute('aria-label', `${name}: ${this.reset.textContent}`);
    const unused = app.description.unused[name];
    this.element.classList.toggle('knob-unused', Boolean(unused));
    if (unused) this.reset.textContent = unused;
    // Of the basic options, shows only those that have an effect here.
    if (this.first) this.element.hidden = Boolean(unused) && !given || this.without();
  }
}

class Knobs {
  constructor(app) {
    this.app = app;
    this.knobs = [];
    this.places = new Map(); // by option: {part, group}
    const five = FIVE.map(name => this.knob(app.option(name), true));
    five[0].append(this.about());
    this.tabs = new Map(PARTS.map(([part, title]) => [part, this.tab(part, title)]));
    const panels = PARTS.map(([part]) => this.panel(part));
    this.panels = new Map(PARTS.map(([part], i) => [part, panels[i]]));
    const list = make('div', {className: 'knobs-tabs', role: 'tablist', 'aria-label': 'More knobs'}, ...this.tabs.values());
    list.addEventListener('keydown', event => this.key(event));
    find('knobs').append(this.legend(), ...five, list, ...panels);
    this.select(PARTS[0][0]);
    app.on('description', () => this.show());
  }

  // Of the strips under the knobs.
  legend() {
    const mark = value => {
      const swatch = make('i', {});
      onScheme(() => { swatch.style.background = heat(value); });
      swatch.style.background = heat(value);
      return swatch;
    };
    return make('p', {className: 'muted knobs-legend'}, 'Strips: with that value it', make('span', {}, mark(0), 'comes back,'), make('span', {}, mark(1), 'stays down'));
  }

  tab(part, title) {
    return make('button', {type: 'button', role: 'tab', id: `knobs-${part}`, 'aria-controls': `knobs-${part}-panel`, onclick: () => this.select(part)}, title);
  }

  select(part) {
    for (const [each, tab] of this.tabs) {
      tab.setAttribute('aria-selected', String(each === part));
      tab.tabIndex = each === part ? 0 : -1;
      this.panels.get(each).hidden = each !== part;
    }
  }

  key(event) {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key], all = [...this.tabs.keys()];
    if (by === undefined) return;
    event.preventDefault();
    const part = all[(all.findIndex(each => this.tabs.get(each) === event.target) + by + all.length) % all.length];
    this.select(part);
    this.tabs.get(part).focus();
  }

  // Shows a knob, wherever it is, and gives it the focus.
  reveal(name) {
    const {section, base} = this.app.option(name) ?? {};
    if (section && [...this.whose.options].some(({value}) => value === section)) {
      this.openService(section);
      const its = this.sectionOf(section);
      if (![...OF_ONE, ...OF_CALLS].includes(base)) its.all();
      const knob = its.knobs.find(({option}) => option.name === name);
      knob?.element.scrollIntoView({block: 'center'});
      return knob?.field.focus({preventScroll: true});
    }
    const place = this.places.get(name);
    if (place) {
      this.select(place.part);
      place.group?.();
    }
    const knob = this.knobs.find(({option}) => option.name === name);
    knob?.element.scrollIntoView({block: 'center'});
    knob?.field.focus({preventScroll: true});
  }

  // What the strategy is, and where that is from.
  about() {
    const {app} = this;
    const summary = make('span', {role: 'status'}), source = make('span');
    const about = make('div', {className: 'muted knobs-about'}, summary, make('details', {}, make('summary', {}, 'Source'), source));
    app.on('description', () => {
      const strategy = app.catalogue.strategies.find(({name}) => name === app.value('strategy'));
      about.hidden = !strategy;
      summary.textContent = strategy ? `${strategy.summary}.` : '';
      source.textContent = strategy ? `${strategy.source}, ${strategy.date}.` : '';
    });
    return about;
  }

  knob(option, first = false) {
    const knob = new Knob(this.app, option);
    knob.first = first;
    this.knobs.push(knob);
    return knob.element;
  }

  panel(part) {
    const {app} = this;
    const options = app.catalogue.options.filter(option => option.part === part && !option.same_as && !FIVE.includes(option.name));
    const [first, later] = [[], []];
    for (const option of options) (option.basic || FIRST.has(option.name) ? first : later).push(option);
    const groups = grouped(later, option => option.group);
    const panel = make('div', {className: `knobs-panel knobs-${part}`, id: `knobs-${part}-panel`, role: 'tabpanel', 'aria-labelledby': `knobs-${part}`});
    for (const {name} of first) this.places.set(name, {part});
    const elements = first.map(option => this.knob(option, true));
    if (part === 'clients') elements.unshift(drawWaits(app));
    if (part === 'service') elements.unshift(drawService(app));
    panel.append(...elements);
    if (part === 'services') panel.append(this.services());
    for (const [group, members] of groups) {
      const body = make('div');
      const details = make('details', {}, make('summary', {}, group, make('span', {className: 'knobs-count muted'})), body);
      // Built when opened, because there are a hundred of them.
      const open = () => {
        if (body.childElementCount > 0) return;
        body.append(...members.map(option => this.knob(option)));
        if (app.description) this.show();
      };
      details.addEventListener('toggle', () => details.open && open());
      for (const {name} of members) {
        this.places.set(name, {part, group: () => {
          details.open = true;
          open();
        }});
      }
      app.on('description', () => {
        const count = members.filter(({name}) => name in app.state.given).length;
        details.querySelector('.knobs-count').textContent = count > 0 ? ` ${count} changed` : '';
      });
      panel.append(details);
    }
    return panel;
  }

  show() {
    for (const knob of this.knobs) knob.show();
    this.showServices();
  }

  // Under the knobs of all services: those of one, or of its calls of another.
  services() {
    this.sections = new Map(); // by name: {element, knobs}
    this.whose = make('select', {id: 'knobs-whose'});
    this.whose.addEventListener('change', () => this.showServices());
    this.section = make('div', {});
    this.ofOne = make('div', {className: 'knobs-one', hidden: true},
      make('div', {className: 'knob-row'}, make('label', {htmlFor: 'knobs-whose'}, make('strong', {}, 'Knobs of')), this.whose), this.section);
    return this.ofOne;
  }

  showServices() {
    const services = this.app.description?.services;
    this.ofOne.hidden = !services;
    if (!services) return;
    const names = [...services.kinds.map(each => `clients.${each}`), ...services.nodes, ...services.edges.map(edge => edge.join('.'))], was = this.whose.value;
    if (names.join() !== [...this.whose.options].map(({value}) => value).join()) {
      this.whose.replaceChildren(...names.map(name => make('option', {value: name}, wordsOfSection[sectionKind(name)](name))));
      this.whose.value = names.includes(was) ? was : names[0];
    }
    const {element, knobs} = this.sectionOf(this.whose.value);
    if (this.section.firstChild !== element) this.section.replaceChildren(element);
    for (const knob of knobs) knob.show();
  }

  sectionOf(section) {
    if (this.sections.has(section)) return this.sections.get(section);
    const {app} = this, kind = sectionKind(section), first = {node: OF_ONE, edge: OF_CALLS, kind: OF_CLIENTS}[kind], knobs = [];
    const knob = name => {
      knobs.push(new Knob(app, app.option(`${section}.${name}`)));
      return knobs.at(-1).element;
    };
    const others = app.catalogue[kind].filter(name => !first.includes(name) && !app.option(`${section}.${name}`).same_as);
    const body = make('div'), details = make('details', {}, make('summary', {}, 'All its knobs'), body);
    const open = () => {
      if (body.childElementCount > 0) return;
      body.append(...others.map(knob));
      this.showServices();
    };
    details.addEventListener('toggle', () => details.open && open());
    const made = {element: make('div', {}, ...first.map(knob), details), knobs, all: () => {
      details.open = true;
      open();
    }};
    this.sections.set(section, made);
    return made;
  }

  // Opens the knobs of a service, or of the calls of one to another ("api.db").
  openService(section) {
    this.select('services');
    this.whose.value = section;
    this.showServices();
    this.ofOne.scrollIntoView({block: 'nearest'});
    this.whose.focus({preventScroll: true});
  }
}

export function mountKnobs(app) {
  app.knobs = new Knobs(app);
}
