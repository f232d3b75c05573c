// What a reader can take along: the command line, the link, pictures, figures, and the commands for the
// real programs.
import {css, find, make} from './dom.js';
import {toFragment} from './link.js';
import {Dropped} from './pool.js';
import {seedAfter} from './seeds.js';
import {sentence} from './story.js';
import {headline, settingText} from './verdict.js';

// A table as CSV, with commas and decimal points in any locale.
export function csvOf(rows) {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const cell = value => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows.map(row => columns.map(name => row[name]))].map(line => `${line.map(cell).join(',')}\n`).join('');
}

// {latency_ms: {p50: 1}} as {latency_ms_p50: 1}
function flat(object, prefix = '', into = {}) {
  for (const [name, value] of Object.entries(object)) {
    if (name === 'type') continue;
    if (value !== null && typeof value === 'object') flat(value, `${prefix}${name}_`, into);
    else into[prefix + name] = value;
  }
  return into;
}

// One row for each interval of a run, with the server's figures at the same time.
export function runRows({client, server}) {
  const its = new Map(server.filter(({type}) => type === 'interval').map(each => [each.t, each]));
  return client.filter(({type}) => type === 'interval').map(each => {
    const {t, ...figures} = its.get(each.t) ?? {};
    return {...flat(each), ...flat(figures, 'server_')};
  });
}

// One row for each seed. Times are in seconds.
export function seedRows(results, seed, setting) {
  return results.map((result, i) => {
    const row = {setting, seed: seedAfter(seed, i)};
    for (const [name, value] of Object.entries(result)) {
      if (name.endsWith('_ns')) row[name.replace(/_ns$/, '_s')] = value === null ? null : value / 1e9;
      else row[name] = value;
    }
    return row;
  });
}

function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = make('a', {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Breaks a text into lines that fit a width.
function wrapped(context, text, width) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
    if (context.measureText(longer).width <= width || lines.at(-1) === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const SHARP = 2; // pixels of a picture for one of the page

// The charts below each other at twice the page's resolution, with the titles and keys of the page, on
// its background. Above them a claim and what it is of, below them the notes.
export function picture(claim, about, notes) {
  const figures = [...find('timeline').querySelectorAll('figure')];
  const charts = figures.map(figure => Chart.getChart(figure.querySelector('canvas')));
  const sharpen = ratio => {
    for (const chart of charts) {
      chart.options.devicePixelRatio = ratio;
      chart.resize();
    }
  };
  sharpen(SHARP);
  const pad = 16, width = Math.max(320, ...charts.map(each => each.width)) + 2 * pad;
  const image = document.createElement('canvas');
  const context = image.getContext('2d');
  const LARGE = ['600 17px system-ui, sans-serif', 23], PLAIN = ['14px system-ui, sans-serif', 19], SMALL = ['11px ui-monospace, monospace', 16];
  const blocks = [[claim, LARGE], ...about.map(text => [text, PLAIN])], last = notes.map(text => [text, SMALL]);
  const lines = all => all.filter(([text]) => text).flatMap(([text, [font, step]]) => {
    context.font = font;
    return wrapped(context, text, width - 2 * pad).map(line => ({line, font, step}));
  });
  const [top, foot] = [lines(blocks), lines(last)];
  const sum = all => all.reduce((height, {step}) => height + step, 0);
  image.width = Math.round(width * SHARP);
  image.height = Math.round((2 * pad + sum(top) + sum(foot) + 8 + charts.reduce((height, each) => height + 26 + each.height, 0)) * SHARP);
  context.scale(SHARP, SHARP);
  context.fillStyle = css('--panel');
  context.fillRect(0, 0, width, image.height);
  let y = pad;
  const write = all => {
    for (const {line, font, step} of all) {
      context.font = font;
      context.fillText(line, pad, y + step - 6);
      y += step;
    }
  };
  context.fillStyle = css('--text');
  write(top);
  figures.forEach((figure, i) => {
    const chart = charts[i];
    y += 26;
    context.font = '600 13px system-ui, sans-serif';
    const title = figure.querySelector('figcaption').textContent;
    context.fillStyle = css('--text');
    context.fillText(title, pad, y - 8);
    let x = pad + context.measureText(title).width + 18;
    context.font = '12px system-ui, sans-serif';
    for (const {label, borderColor, borderDash, borderWidth, fill, backgroundColor, extra} of chart.data.datasets) {
      if (extra) continue;
      if (fill) {
        context.fillStyle = backgroundColor;
        context.fillRect(x, y - 16, 26, 8);
        context.fillStyle = css('--text');
      }
      const top = fill ? y - 16 : y - 12;
      context.strokeStyle = borderColor;
      context.lineWidth = Math.max(borderWidth, 2);
      context.setLineDash(borderDash);
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x + 26, top);
      context.stroke();
      context.setLineDash([]);
      context.fillText(label, x + 31, y - 8);
      x += context.measureText(label).width + 46;
    }
    context.drawImage(chart.canvas, pad, y, chart.width, chart.height);
    y += chart.height;
  });
  sharpen(undefined);
  y += 8;
  context.fillStyle = css('--muted');
  write(foot);
  return image;
}

class Share {
  constructor(app) {
    this.app = app;
    this.said = make('p', {className: 'muted share-said', role: 'status'});
    this.command = this.copied('share-command', 'The command line', 'This run, byte for byte:');
    this.link = this.copied('share-link', 'The link', 'This page with this setting:');
    this.place = make('span', {className: 'muted'});
    this.link.element.querySelector('p').append(this.place);
    this.real = this.copied('share-real', 'Real programs', 'The same setting with the real server and client, over real connections:');
    this.without = make('p', {className: 'muted'});
    this.real.element.append(this.without);
    const button = (id, text, action) => make('button', {type: 'button', id, onclick: () => this.attempt(action)}, text);
    this.markdown = make('pre', {hidden: true, tabIndex: 0, role: 'group', 'aria-label': 'Markdown'});
    this.png = button('share-png', 'Charts as PNG', () => this.savePicture());
    this.seeds = button('share-seeds', 'Statistics as CSV', () => this.saveSeeds());
    this.whole = make('a', {target: '_blank', rel: 'noopener'}, 'All knobs, the map and more');
    find('knobs').append(make('p', {className: 'embed-whole'}, this.whole));
    find('share').append(make('h2', {}, 'Share and export'), this.command.element, this.link.element,
      make('div', {className: 'share-files'}, this.png,
        button('share-run', 'This run as CSV', () => this.saveRun()), this.seeds,
        button('share-markdown', 'Copy as Markdown', () => this.copyMarkdown())),
      this.said, this.markdown, this.real.element);
    for (const event of ['description', 'run', 'many', 'pinned', 'state', 'error']) app.on(event, () => this.show());
  }

  // A text with a button that copies it.
  copied(id, title, about) {
    const text = make('pre', {id, tabIndex: 0, role: 'group', 'aria-label': title});
    const copy = make('button', {type: 'button', className: 'share-copy', 'aria-label': `Copy: ${title}`, onclick: () => this.copy(text, title)}, 'Copy');
    const head = make('div', {className: 'share-head'}, make('p', {}, make('strong', {}, title), make('span', {className: 'muted'}, ` ${about}`)), copy);
    return {text, element: make('div', {className: 'share-part'}, head, text)};
  }

  async copy(element, title) {
    try {
      await navigator.clipboard.writeText(element.textContent);
      this.said.textContent = `${title}: copied.`;
      return;
    } catch {
      // No clipboard, or not allowed: copies the selection instead.
    }
    getSelection().selectAllChildren(element);
    this.said.textContent = document.execCommand('copy') ? `${title}: copied.` : `${title}: selected, copy it with Ctrl+C.`;
  }

  async attempt(action) {
    try {
      this.said.textContent = '';
      await action();
    } catch (error) {
      if (!(error instanceof Dropped)) this.said.textContent = error.message;
    }
  }

  // What the runs say, of what, and why, as sentences.
  claim() {
    const {ours, theirs, state} = this.app, {cell} = ours.many ?? {};
    const verdict = cell ? headline(cell).map(([, text]) => text).join(', ') : `one run: ${ours.result.verdict}`;
    return {
      verdict: verdict ? verdict[0].toUpperCase() + verdict.slice(1) : 'No outage',
      about: sentence(this.app), why: this.app.timeline.sentence(),
      pinned: theirs ? `Thin lines: ${settingText(state.pinned)}` : '',
    };
  }

  async savePicture() {
    const {verdict, about, why, pinned} = this.claim();
    const image = picture(`${verdict}: ${about}`, [why], [find('timeline').querySelector('.timeline-note > span').innerText.replaceAll('\n', ' ').replace(/ see one of.*/, ''), pinned,
      this.app.description.command, `${document.querySelector('meta[name=generator]').content}, ${this.address}`]);
    const blob = await new Promise(resolve => image.toBlob(resolve, 'image/png'));
    if (!blob) throw new Error('The browser cannot make a picture of this size.');
    save('retrystorm.png', blob);
    this.said.textContent = 'Saved as retrystorm.png.';
  }

  copyMarkdown() {
    const {verdict, about, why} = this.claim();
    this.markdown.textContent = `**${verdict}**: ${about} ${why}\n\n    ${this.app.description.command}\n\n[Turn its knobs](${this.address}), ${document.querySelector('meta[name=generator]').content}\n`;
    this.markdown.hidden = false;
    return this.copy(this.markdown, 'Markdown');
  }

  // Computes the run again, because the page keeps only what its charts need.
  async saveRun() {
    const {pool, state: {given, seed}} = this.app;
    pool.drop('share');
    const rows = runRows(await pool.ask({ask: 'run', given, seed}, {order: 0, group: 'share'}));
    save('retrystorm-run.csv', new Blob([csvOf(rows)], {type: 'text/csv'}));
    this.said.textContent = `${rows.length} rows, saved as retrystorm-run.csv.`;
  }

  saveSeeds() {
    const {ours, theirs, state: {seed}} = this.app;
    if (!ours.many) throw new Error('There are no statistics yet.');
    const rows = seedRows(ours.many.results, seed, 'this');
    if (theirs?.many) rows.push(...seedRows(theirs.many.results, seed, 'pinned'));
    save('retrystorm-seeds.csv', new Blob([csvOf(rows)], {type: 'text/csv'}));
    this.said.textContent = `${rows.length} rows, saved as retrystorm-seeds.csv.`;
  }

  show() {
    const {description, state, ours, behind} = this.app;
    // Never from an earlier setting than the command line next to it.
    this.png.disabled = behind || !ours.run;
    this.seeds.disabled = behind || !ours.many;
    const fragment = toFragment({...state, embed: false});
    // For others, a file's address on this machine is of no use.
    const isFile = location.protocol === 'file:', published = document.querySelector('link[rel=canonical]')?.href;
    this.address = `${isFile ? published ?? 'explorer.html' : location.href.replace(/#.*/s, '')}#${fragment}`;
    this.link.text.textContent = this.address;
    this.place.textContent = isFile && !published ? ' behind the address of your copy of this file, which has none on the web' : '';
    this.whole.href = `#${fragment}`;
    document.documentElement.toggleAttribute('data-embed', state.embed);
    if (!description) return;
    this.command.text.textContent = description.command;
    this.real.element.hidden = !description.real;
    if (!description.real) return;
    this.real.text.textContent = description.real.lines.join('\n');
    const {without} = description.real;
    this.without.textContent = without.length > 0 ? `Left out, because only the simulator has it: ${without.join(', ')}.` : '';
  }
}

export function mountShare(app) {
  app.share = new Share(app);
}
