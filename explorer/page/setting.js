// What is set, as chips, and the way back.
import {find, make} from './dom.js';
import {textOf, wordsOf} from './words.js';

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// "backlog 400, strategy reset": how one setting differs from an earlier one.
function changeText(before, after) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(name => before[name] !== after[name]);
  if (names.length > 2) return `${names.length} changes`;
  return names.map(name => name in after ? `${name} ${after[name]}` : `${name} reset`).join(', ');
}

// One entry of the browser's history for each settled change, so that its Back button takes one back.
class Past {
  constructor(app, link) {
    Object.assign(this, {app, link, plain: link()});
    this.replaces = true; // the link of the entry that is there
    this.settled = false;
    this.current = {}; // the setting of the entry
    app.on('many', () => { this.settled = true; });
  }

  // The page shows the setting of a link.
  restored() {
    this.replaces = true;
  }

  follow() {
    const {given} = this.app.state, link = this.link();
    const plain = location.hash.length < 2 && link === this.plain; // needs no link
    if (link !== location.hash && !plain) {
      if (this.replaces || !this.settled) {
        history.replaceState(history.state, '', link);
      } else {
        history.pushState({before: this.current}, '', link);
        this.settled = false;
      }
    }
    this.replaces = false;
    this.current = given;
    this.app.tell('past');
  }

  // What `undo` undoes, or null.
  get last() {
    const before = history.state?.before;
    return before && !same(before, this.app.state.given) ? changeText(before, this.app.state.given) : null;
  }
}

export function mountSetting(app, link) {
  const past = new Past(app, link);
  const chips = make('div', {className: 'setting-chips', role: 'group', 'aria-label': 'What is set'});
  const undo = make('button', {type: 'button', id: 'undo', className: 'quiet', title: 'Ctrl+Z', hidden: true, onclick: () => history.back()});
  let shown = null;
  const show = () => {
    undo.hidden = past.last === null;
    undo.textContent = `Undo: ${past.last}`;
    if (same(shown, app.state.given)) return; // what has the focus keeps it
    shown = {...app.state.given};
    const given = Object.entries(shown);
    chips.replaceChildren(...given.map(([name, text]) => make('span', {className: 'chip'},
      make('button', {type: 'button', className: 'chip-name', title: wordsOf(name), onclick: () => app.knobs.reveal(name)}, `${name} ${textOf(name.split('.').at(-1), text)}`),
      make('button', {type: 'button', className: 'chip-remove', 'aria-label': `Reset ${name}`, onclick: () => app.change({[name]: null})}, '×'))));
    if (given.length === 0) chips.replaceChildren(make('span', {className: 'muted'}, 'All at their defaults.'));
  };
  find('setting').append(make('div', {className: 'setting-head'}, chips, undo));
  for (const event of ['description', 'past']) app.on(event, show);
  document.addEventListener('keydown', event => {
    if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.target.matches('input[type=text]') || past.last === null) return;
    event.preventDefault();
    history.back();
  });
  return past;
}
