// The outlook: figures computed from the options, without a simulation. Warnings are at the charts, the
// rest is below them.
import {find, make} from './dom.js';
import {asOnPage} from './words.js';

export function mountOutlook(app) {
  const warnings = make('div', {className: 'outlook-warnings'});
  const lines = make('dl', {});
  find('tiles').append(warnings);
  find('outlook').append(make('details', {}, make('summary', {}, 'What is asked, by arithmetic'), lines));
  app.on('run', () => {
    const {outlook} = app.ours;
    const texts = outlook.figures.warnings.map(text => `${asOnPage(text)}.`);
    // Those of several services would push the charts out of sight.
    warnings.replaceChildren(...app.ours.drawn.graph && texts.length > 0
      ? [make('details', {}, make('summary', {}, texts.length > 1 ? `${texts.length} warnings: ${texts[0]}` : `Warning: ${texts[0]}`), ...texts.map(text => make('p', {}, text)))]
      : texts.map(text => make('p', {}, text)));
    lines.replaceChildren(...outlook.lines.flatMap(([label, text]) => [make('dt', {}, label), make('dd', {}, text.replaceAll('--', ''))]));
  });
}
