// The meanings of the words (`--explain` prints the same). Each word on the page shows its meaning.
import {make} from './dom.js';
import WORDS from '../../common/cli/glossary.json';

// Words of one meaning are one entry: "peak concurrency, peak conc.".
export const MEANINGS = Object.fromEntries(Object.entries(WORDS)
  .flatMap(([names, meaning]) => names.split(', ').map(name => [name, meaning])));

let number = 0;

// A word that shows its meaning on a click, or by the keyboard.
export function term(name, text = name) {
  const id = `term-${++number}`;
  const meaning = make('span', {id, className: 'term-meaning', role: 'note', hidden: true}, MEANINGS[name]);
  const button = make('button', {type: 'button', className: 'term', 'aria-expanded': 'false', 'aria-controls': id, title: MEANINGS[name]}, text);
  button.addEventListener('click', () => {
    meaning.hidden = !meaning.hidden;
    button.setAttribute('aria-expanded', String(!meaning.hidden));
  });
  return make('span', {className: 'term-of'}, button, meaning);
}
