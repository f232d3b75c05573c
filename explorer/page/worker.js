// A thread that answers one question after the other. It gets {module} first, then {id, question}, and
// posts {id, text}, or {id, broken} if its engine is broken. The text is JSON, and is passed on
// unparsed, because copying an object to the page costs more than everything else.
import {instantiate} from './engine.js';

let ask;
self.onmessage = async ({data: {module, id, question}}) => {
  if (module) {
    ask = instantiate(module);
    return;
  }
  try {
    self.postMessage({id, text: (await ask)(question)});
  } catch (error) {
    self.postMessage({id, broken: String(error.message ?? error)});
  }
};
