// Options by name, those of services and of kinds of clients among them.

const OF_SERVICE = /^([A-Za-z][\w-]{0,31})(?:\.([A-Za-z][\w-]{0,31}))?\.([a-z0-9-]+)$/;

// What a section has: the calls of a service ("api.db"), clients of a kind ("clients.app"), or a service.
export const sectionKind = section => section.startsWith('clients.') ? 'kind' : section.includes('.') ? 'edge' : 'node';

// Returns a function that finds the option with a name, in the engine's catalogue. One of a service ("api.workers"), of its
// calls ("api.db.timeout") or of clients of a kind is as the option of all, with its `section` and its `base` name. Undefined if there is none.
export function optionsOf(catalogue) {
  const options = new Map(catalogue.options.map(option => [option.name, option]));
  const ofOne = new Map(catalogue.of_one_service.map(option => [option.name, option]));
  return name => {
    const [, from, to, base] = options.has(name) ? [] : OF_SERVICE.exec(name) ?? [];
    const section = to ? `${from}.${to}` : from;
    if (from && catalogue[sectionKind(section)].includes(base)) {
      const usual = !to && ofOne.get(base) || options.get(base);
      options.set(name, {...usual, name, base, section, part: 'services'});
    }
    return options.get(name);
  };
}
