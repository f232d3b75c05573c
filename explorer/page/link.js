// The whole state of the page as a link's fragment, and back.

// Old links go on working: a link of an older version is read by its own rules.
const VERSION = '1';

// state: {given: {name: text}, pinned: null | {name: text}, seed, map: null | {x, y}, challenge}
export function toFragment(state) {
  const words = new URLSearchParams({v: VERSION});
  for (const [name, text] of Object.entries(state.given)) words.append(name, text);
  if (state.seed !== 1) words.append('seed', state.seed);
  if (state.pinned) {
    words.append('b', '1');
    for (const [name, text] of Object.entries(state.pinned)) words.append(`b.${name}`, text);
  }
  if (state.map) words.append('map', `${state.map.x},${state.map.y}`);
  if (state.challenge) words.append('challenge', state.challenge);
  return words.toString();
}

// The same for the same options, in whatever order; some may be left out of account.
export const settingKey = (given, ...but) =>
  JSON.stringify(Object.entries(given).filter(([name]) => !but.includes(name)).sort());

// {state, problem, ofRun}: a link that cannot be read opens the defaults, and `problem` is a sentence.
// `known` says whether there is an option of this name. With `run=1` the link was made from the
// options of a run (`ofRun`), of which those that the simulation does not have are passed over.
export function fromFragment(fragment, known) {
  const usual = {given: {}, pinned: null, seed: 1, map: null, challenge: null};
  const text = fragment.replace(/^#/, '');
  if (text === '') return {state: usual, problem: null, ofRun: false};
  const state = structuredClone(usual);
  const problem = reason => ({state: usual, ofRun: false, problem: `This link cannot be read (${reason}): these are the defaults.`});
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
      if (!/^\d{1,15}$/.test(value)) return problem(`its seed '${value}' is no number`);
      state.seed = Number(value);
    } else if (name === 'map') {
      const [x, y] = value.split(',');
      if (!known(x) || !known(y)) return problem('its map is of unknown options');
      state.map = {x, y};
    } else if (name === 'challenge') {
      state.challenge = value;
    } else if (name.startsWith('b.') && known(name.slice(2))) {
      (state.pinned ??= {})[name.slice(2)] = value;
    } else if (known(name)) {
      state.given[name] = value;
    } else if (!ofRun) {
      return problem(`there is no option '${name}'`);
    }
  }
  return {state, problem: null, ofRun};
}

// Of all the options of a run those that say something: no second form of another, and not what would
// hold without it. `look` resolves to what the engine says of a setting.
export async function withoutUsual(given, options, look) {
  const forms = Object.fromEntries(Object.entries(given).filter(([name]) => !(options.get(name).same_as in given)));
  const {values, usual, errors} = await look(forms);
  const less = Object.fromEntries(Object.entries(forms).filter(([name]) => name in errors || usual[name] !== values[name]));
  const same = (await look(less)).values;
  return Object.keys(values).every(name => values[name] === same[name]) ? less : forms;
}
