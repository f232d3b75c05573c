// The compiled simulation. explorer/engine/engine.h lists its questions and answers.

// Resolves to a function that answers a question (an object) with JSON text. Each thread needs its own
// instance.
export async function instantiate(module) {
  let memory;
  // The engine only needs a clock, to give up what takes too long. Its standard library also imports
  // functions for files and an environment, which are never called.
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
