// A thread that answers one question after the other: {id, question} in, {id, text} out, or {id,
// broken} when its engine is. What comes first is {module}. The text is JSON, and is passed on as
// it is: to read it here and hand over the object would cost more than all else.
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
