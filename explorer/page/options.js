// Options by name, those of services among them.

const OF_SERVICE = /^([A-Za-z][\w-]{0,31})(?:\.([A-Za-z][\w-]{0,31}))?\.([a-z0-9-]+)$/;

// Returns a function that finds the option with a name, in the engine's catalogue. One of a service ("api.workers") or of its
// calls ("api.db.timeout") is as the option of all, with its `section` and its `base` name. Undefined if there is none.
export function optionsOf(catalogue) {
  const options = new Map(catalogue.options.map(option => [option.name, option]));
  const ofOne = new Map(catalogue.of_one_service.map(option => [option.name, option]));
  return name => {
    const [, from, to, base] = options.has(name) ? [] : OF_SERVICE.exec(name) ?? [];
    if (from && catalogue[to ? 'edge' : 'node'].includes(base)) {
      const usual = !to && ofOne.get(base) || options.get(base);
      options.set(name, {...usual, name, base, section: to ? `${from}.${to}` : from, part: 'services'});
    }
    return options.get(name);
  };
}
