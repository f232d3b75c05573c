// A thread that answers one question after the other: {id, question} in, {id, answer} out. What
// comes first is {module}.
import {instantiate} from './engine.js';

let ask;
self.onmessage = async ({data: {module, id, question}}) => {
  if (module) {
    ask = instantiate(module);
    return;
  }
  let answer;
  try {
    answer = (await ask)(question);
  } catch (error) {
    answer = {error: String(error.message ?? error), broken: true};
  }
  self.postMessage({id, answer});
};
