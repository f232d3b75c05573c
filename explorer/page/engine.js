// The compiled simulation: questions in, answers out (explorer/engine/engine.h says which).

// Resolves to a function that answers a question (an object) with a text, which is JSON. One
// instance, for one thread.
export async function instantiate(module) {
  let memory;
  // All that the engine wants of the outside is a clock, to give up what takes too long. Its
  // standard library asks for more (files, an environment) that is never used.
  const known = {
    clock_time_get(id, precision, at) {
      new DataView(memory.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit(code) {
      throw new Error(`the engine has ended (${code})`);
    },
  };
  const imports = {};
  for (const {module: from, name} of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = known[name] ?? (() => 0);
  }
  const {exports} = await WebAssembly.instantiate(module, imports);
  memory = exports.memory;
  exports._initialize();
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  return question => {
    const bytes = encoder.encode(JSON.stringify(question));
    const at = exports.question(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const length = exports.ask();
    return decoder.decode(new Uint8Array(memory.buffer, exports.answer(), length));
  };
}
