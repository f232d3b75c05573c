// Short ways to make elements.

// make('button', {type: 'button', onclick: f, 'aria-label': 'x', dataset: {a: 1}}, 'text', node, ...)
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'dataset') Object.assign(node.dataset, value);
    else if (name in node && name !== 'list' && name !== 'role') node[name] = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

// A map from each key to the items that have it, in order. (Like Map.groupBy, which is from 2024.)
export function grouped(all, key) {
  const groups = new Map();
  for (const each of all) {
    if (!groups.has(key(each))) groups.set(key(each), []);
    groups.get(key(each)).push(each);
  }
  return groups;
}

export const find = id => document.getElementById(id);

// Clears a canvas and fits it to the screen's resolution. Returns {context, width, height} in CSS pixels.
export function paint(canvas) {
  const {width, height} = canvas.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  return {context, width, height};
}

export const css = name => Retrystorm.css(name);
