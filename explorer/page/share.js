// What a reader takes along: the command line, the link, pictures, figures, and the lines that run it
// for real.
import {css, find, make} from './dom.js';
import {toFragment} from './link.js';
import {Dropped} from './pool.js';
import {settingText} from './verdict.js';

// A table as text: commas between, points in numbers, whatever the reader's country is.
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

// A row an interval of a run's answer; the server's figures are those of the same time.
export function runRows({client, server}) {
  const its = new Map(server.filter(({type}) => type === 'interval').map(each => [each.t, each]));
  return client.filter(({type}) => type === 'interval').map(each => {
    const {t, ...figures} = its.get(each.t) ?? {};
    return {...flat(each), ...flat(figures, 'server_')};
  });
}

// A row a seed; times in seconds.
export function seedRows(results, seed, setting) {
  return results.map((result, i) => {
    const row = {setting, seed: seed + i};
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

// Lines of a text that fit into a width.
function wrapped(context, text, width) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
    if (context.measureText(longer).width <= width || lines.at(-1) === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// The charts under each other, with what they show: on the ground they have on the page.
export function picture(title, command) {
  const canvases = [...find('timeline').querySelectorAll('canvas')].filter(({width, height}) => width > 0 && height > 0);
  const ratio = window.devicePixelRatio || 1, pad = 16, line = 18;
  const width = Math.max(320, ...canvases.map(each => each.width / ratio)) + 2 * pad;
  const image = document.createElement('canvas');
  const context = image.getContext('2d');
  const large = '600 16px system-ui, sans-serif', small = '12px ui-monospace, monospace', caption = '600 13px system-ui, sans-serif';
  context.font = small;
  const words = wrapped(context, command, width - 2 * pad);
  context.font = large;
  const titles = wrapped(context, title, width - 2 * pad);
  const height = 2 * pad + titles.length * 22 + words.length * line + canvases.reduce((sum, each) => sum + 26 + each.height / ratio, 0);
  image.width = Math.round(width * ratio);
  image.height = Math.round(height * ratio);
  context.scale(ratio, ratio);
  context.fillStyle = css('--panel');
  context.fillRect(0, 0, width, height);
  context.fillStyle = css('--text');
  let y = pad;
  const write = (font, texts, step) => {
    context.font = font;
    for (const text of texts) {
      context.fillText(text, pad, y + step - 6);
      y += step;
    }
  };
  write(large, titles, 22);
  context.fillStyle = css('--muted');
  write(small, words, line);
  for (const canvas of canvases) {
    context.fillStyle = css('--text');
    write(caption, [canvas.closest('figure')?.querySelector('figcaption')?.textContent ?? ''], 26);
    context.drawImage(canvas, pad, y, canvas.width / ratio, canvas.height / ratio);
    y += canvas.height / ratio;
  }
  return image;
}

class Share {
  constructor(app) {
    this.app = app;
    this.said = make('p', {className: 'muted share-said', role: 'status'});
    this.command = this.copied('share-command', 'The command line', 'Exactly this run, the same bytes:');
    this.link = this.copied('share-link', 'The link', 'This page with all that is set:');
    this.real = this.copied('share-real', 'For real', 'The same with real programs over real connections:');
    this.without = make('p', {className: 'muted'});
    this.real.element.append(this.without);
    const button = (id, text, action) => make('button', {type: 'button', id, onclick: () => this.attempt(action)}, text);
    this.seeds = button('share-seeds', 'Statistics as CSV', () => this.saveSeeds());
    find('share').append(make('h2', {}, 'Take it along'), this.command.element, this.link.element,
      make('div', {className: 'share-files'}, button('share-png', 'Charts as PNG', () => this.savePicture()),
        button('share-run', 'This run as CSV', () => this.saveRun()), this.seeds),
      this.said, this.real.element);
    for (const event of ['look', 'run', 'many', 'pinned', 'state']) app.on(event, () => this.show());
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
      // There is none, or it is not allowed: as of old, by what is selected.
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

  async savePicture() {
    const {look, ours, theirs, state} = this.app;
    const {cell} = ours.many ?? {};
    const verdict = cell ? `${['collapsed', 'relapsed', 'recovering', 'recovered'].filter(name => cell[name] > 0).map(name => `${name} ${cell[name]}`).join(', ')} of ${cell.runs} seeds` : ours.result?.verdict ?? '';
    const command = look.command + (theirs ? `  (thin lines: ${settingText(state.pinned)})` : '');
    const blob = await new Promise(resolve => picture(`retrystorm: ${verdict}`, command).toBlob(resolve, 'image/png'));
    if (!blob) throw new Error('The browser does not make a picture of this size.');
    save('retrystorm.png', blob);
    this.said.textContent = 'Saved as retrystorm.png.';
  }

  // By the second, asked anew: the page keeps no more of a run than its charts need.
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
    const {look, state, ours} = this.app;
    this.seeds.disabled = !ours.many;
    this.link.text.textContent = `${location.href.replace(/#.*/s, '')}#${toFragment(state)}`;
    if (!look) return;
    this.command.text.textContent = look.command;
    this.real.text.textContent = look.real.lines.join('\n');
    const {without} = look.real;
    this.without.textContent = without.length > 0 ? `Without a real twin, and left out here: ${without.join(', ')}.` : '';
  }
}

export function mountShare(app) {
  app.share = new Share(app);
}
