// Usage: node page.mjs GALLERY FOLDER
//
// Writes FOLDER/gallery.md, and its pictures into FOLDER/gallery/, from what gallery.mjs wrote.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {cardWords, sparkline} from '../page/sparkline.js';

const [file, folder] = process.argv.slice(2);
const STYLE = '<style>.spark-shade{fill:#8a94a0;opacity:.25}polyline{fill:none;stroke-linejoin:round}' +
  '.spark-now{stroke:#009e73;stroke-width:2}.spark-other{stroke:#8a8f95;stroke-width:1}</style>';

const cards = JSON.parse(readFileSync(file)).map(card => {
  const source = card.lines.find(([kind]) => kind === 'Source');
  return `## ${card.claim}

![OK/s over time, the outage shaded](gallery/${card.id}.svg)

${cardWords(card).join(' ')}

    ${card.command.replaceAll('\n', '\n    ')}
${source ? `\nAn incident: ${source[1]}\n` : ''}`;
});

mkdirSync(`${folder}/gallery`, {recursive: true});
for (const card of JSON.parse(readFileSync(file))) writeFileSync(`${folder}/gallery/${card.id}.svg`, `${sparkline(card, STYLE)}\n`);
writeFileSync(`${folder}/gallery.md`, `# Gallery

What retries do to a service, in ${cards.length} settings. [The explorer](explorer.md) has them as cards that open their setting. Under each claim:
in how many of a hundred runs the service stays down, with its 95 % interval. The curve is OK/s over time, the outage is shaded, and a thin
line is the setting that it is compared with, or a run that ends otherwise. Of incidents, the file of \`scripts/scenarios/\` says line by line what
is published and what is assumed. (\`explorer/gallery/page.mjs build/explorer/gallery.json docs\` writes this page, from what the build has computed.)

${cards.join('\n')}`);
