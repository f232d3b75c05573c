// The whole state of the page as a link's fragment, and back.

import {isSeed} from './seeds.js';

// Old links go on working: a link of an older version is read by its own rules.
const VERSION = '1';

// More than a browser's address has room for everywhere, and than 64 services need.
const LONGEST = 30000;

// An option of a service has a point in its name, and so has one that is pinned.
const OF_SERVICE = 's.';
const word = name => name.includes('.') ? OF_SERVICE + name : name;

// state: {given: {name: text}, pinned: null | {name: text}, seed: text, map: null | {x, y}, challenge, story: its step, embed: in another page}
export function toFragment(state) {
  const words = new URLSearchParams({v: VERSION});
  for (const [name, text] of Object.entries(state.given)) words.append(word(name), text);
  if (state.seed !== '1') words.append('seed', state.seed);
  if (state.pinned) {
    words.append('b', '1');
    for (const [name, text] of Object.entries(state.pinned)) words.append(`b.${word(name)}`, text);
  }
  if (state.map) words.append('map', `${state.map.x},${state.map.y}`);
  if (state.challenge) words.append('challenge', state.challenge);
  if (state.story) words.append('story', state.story);
  if (state.embed) words.append('embed', '1');
  return words.toString();
}

// A key that is the same for the same options in any order. Some options may be ignored.
export const settingKey = (given, ...but) =>
  JSON.stringify(Object.entries(given).filter(([name]) => !but.includes(name)).sort());

// Returns {state, problem, ofRun}. If the link cannot be read, `problem` says why, and the state is the
// defaults. `known` returns true for the names of options. With `run=1`, the link was made from the
// options of a run (`ofRun`); options that the simulation does not have are then ignored.
export function fromFragment(fragment, known) {
  const defaults = {given: {}, pinned: null, seed: '1', map: null, challenge: null, story: null, embed: false};
  const text = fragment.replace(/^#/, '');
  if (text === '') return {state: defaults, problem: null, ofRun: false};
  const state = structuredClone(defaults);
  const problem = reason => ({state: defaults, ofRun: false, problem: `This link cannot be read (${reason}): these are the defaults.`});
  if (text.length > LONGEST) return problem(`it is longer than ${LONGEST} characters`);
  // The option that a word of the link names, or null.
  const named = each => {
    const isOfService = each.startsWith(OF_SERVICE), name = isOfService ? each.slice(OF_SERVICE.length) : each;
    return name.includes('.') === isOfService && known(name) ? name : null;
  };
  let words;
  try {
    decodeURIComponent(text.replaceAll('+', ' '));
    words = new URLSearchParams(text);
  } catch {
    return problem('it is mangled');
  }
  if (!words.has('v')) return problem('it does not say its version');
  if (words.get('v') !== VERSION) return problem(`it is of version ${words.get('v')}, made by a newer explorer`);
  const ofRun = words.has('run');
  for (const [name, value] of words) {
    if (name === 'v' || name === 'run') continue;
    if (name === 'b') {
      state.pinned ??= {};
    } else if (name === 'seed') {
      if (!isSeed(value)) return problem(`its seed '${value}' is not a whole number of 64 bits`);
      state.seed = String(BigInt(value));
    } else if (name === 'map') {
      const [x, y] = value.split(',');
      if (!named(x ?? '') || !named(y ?? '')) return problem('its map is of unknown options');
      state.map = {x, y};
    } else if (name === 'challenge') {
      state.challenge = value;
    } else if (name === 'embed') {
      state.embed = true;
    } else if (name === 'story') {
      state.story = Number.parseInt(value, 10) || null;
    } else if (name.startsWith('b.') && named(name.slice(2))) {
      (state.pinned ??= {})[named(name.slice(2))] = value;
    } else if (named(name)) {
      state.given[named(name)] = value;
    } else if (!ofRun) {
      return problem(`there is no option '${name}'`);
    }
  }
  return {state, problem: null, ofRun};
}

// Removes from a run's options the second forms of other options, and the values that are the default.
// `describe` resolves to the engine's description of a setting.
// `option` is the one with a name.
export async function withoutDefaults(given, option, describe) {
  const forms = Object.fromEntries(Object.entries(given).filter(([name]) => !(option(name).same_as in given)));
  const {values, defaults, errors} = await describe(forms);
  const less = Object.fromEntries(Object.entries(forms).filter(([name]) => name in errors || defaults[name] !== values[name]));
  const same = (await describe(less)).values;
  return Object.keys(values).every(name => values[name] === same[name]) ? less : forms;
}
