// The gallery: settings with a claim each. Their runs were computed when the page was made.
import {find, make} from './dom.js';
import {cardWords, sparkline} from './sparkline.js';

function lines(all) {
  if (all.length === 0) return null;
  return make('details', {}, make('summary', {}, 'What is published, and what is assumed'),
    make('ul', {}, ...all.map(([kind, text]) => make('li', {}, make('strong', {}, `${kind[0].toUpperCase()}${kind.slice(1)}: `), text))));
}

export function mountGallery() {
  const cards = JSON.parse(find('gallery-cards').textContent);
  find('gallery').append(make('h2', {}, 'Examples'),
    make('p', {className: 'muted'}, 'A card opens its setting here. The curve is OK/s over time, with the outage shaded, and in brackets is the 95 % interval; a thin line is what it is compared with, or a run that ends otherwise.'),
    make('div', {className: 'gallery-cards'}, ...cards.map(card => make('div', {className: 'gallery-card'},
      make('a', {href: `#${card.link}`, dataset: {card: card.id}, onclick: () => scrollTo(0, 0)},
        make('span', {innerHTML: sparkline(card)}), make('strong', {}, card.claim)),
      ...cardWords(card).map(text => make('span', {className: 'muted'}, text)), lines(card.lines)))));
}
