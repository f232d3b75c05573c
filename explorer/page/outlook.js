// The outlook: figures computed from the options, without a simulation. The first line stands above the charts and
// unfolds the others; warnings are at the charts.
import {find, make} from './dom.js';
import {asOnPage} from './words.js';

export function mountOutlook(app) {
  const warnings = make('div', {className: 'outlook-warnings'});
  const first = make('span', {}), lines = make('dl', {});
  find('tiles').append(warnings);
  find('asked').append(make('details', {}, make('summary', {}, 'What is asked, by arithmetic', first), lines));
  // A step of the story says what to look at.
  for (const event of ['state', 'run']) app.on(event, () => { find('asked').hidden = app.state.story > 0; });
  app.on('run', () => {
    const {outlook} = app.ours;
    const texts = outlook.figures.warnings.map(({text}) => `${asOnPage(text)}.`);
    // Those of several services would push the charts out of sight.
    warnings.replaceChildren(...app.ours.drawn.graph && texts.length > 0
      ? [make('details', {}, make('summary', {}, texts.length > 1 ? `${texts.length} warnings: ${texts[0]}` : `Warning: ${texts[0]}`), ...texts.map(text => make('p', {}, text)))]
      : texts.map(text => make('p', {}, text)));
    first.textContent = `: ${outlook.line}`;
    lines.replaceChildren(...outlook.lines.flatMap(([label, text]) => [make('dt', {}, label), make('dd', {}, text)]));
  });
}
