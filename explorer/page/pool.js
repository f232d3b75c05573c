// The threads that simulate: one for each core, each with its engine. The page's thread never
// simulates, so that the page answers at once.

// How many milliseconds a question may still run after its answer is no longer wanted. Then its
// thread is ended.
const PATIENCE = 150;

export class Dropped extends Error {}

export class Pool {
  // `start` makes a worker. There are at least two, so that one is free for the reader's changes while
  // the other is busy with statistics.
  constructor(start, size = Math.min(Math.max(navigator.hardwareConcurrency || 2, 2), 8)) {
    this.start = start;
    this.waiting = []; // {question, order, group, resolve, reject, number}
    this.number = 0;
    this.workers = Array.from({length: size}, () => this.hire());
  }

  get size() {
    return this.workers.length;
  }

  // Resolves to the engine's answer. Rejects with its error, or with `Dropped`. Questions with a lower
  // order come first. All questions of a group can be dropped at once.
  ask(question, {order = 0, group = ''} = {}) {
    return new Promise((resolve, reject) => {
      this.waiting.push({question, order, group, resolve, reject, number: this.number++});
      this.next();
    });
  }

  drop(group) {
    for (const task of this.waiting.filter(each => each.group === group)) task.reject(new Dropped());
    this.waiting = this.waiting.filter(each => each.group !== group);
    for (const slot of this.workers) {
      const {task} = slot;
      if (task?.group !== group || task.dropped) continue;
      task.dropped = true;
      task.reject(new Dropped());
      setTimeout(() => {
        if (slot.task === task) this.replace(slot);
      }, PATIENCE);
    }
  }

  hire() {
    const slot = {worker: this.start(), task: null};
    slot.worker.onmessage = ({data: {text, broken}}) => {
      const {task} = slot;
      slot.task = null;
      const answer = broken ? {error: broken} : task.dropped ? null : JSON.parse(text);
      if (answer?.error) task.reject(new Error(answer.error));
      else task.resolve(answer);
      if (broken) this.replace(slot); // its memory may be corrupt
      this.next();
    };
    slot.worker.onerror = event => {
      event.preventDefault();
      const {task} = slot;
      if (!task) return; // it could not start, so a new one would not either
      slot.task = null;
      task.reject(new Error(event.message || 'a thread of the page has ended'));
      this.replace(slot);
    };
    return slot;
  }

  replace(slot) {
    slot.worker.terminate();
    slot.worker.onmessage = null;
    this.workers[this.workers.indexOf(slot)] = this.hire();
    this.next();
  }

  next() {
    // Questions that the reader waits for (order 0) may use every thread. Others leave one free for them.
    for (const slot of this.workers) {
      if (slot.task || this.waiting.length === 0) continue;
      const free = this.workers.filter(({task}) => !task).length;
      const wanted = this.waiting.reduce((best, each) =>
        each.order < best.order || each.order === best.order && each.number < best.number ? each : best);
      if (wanted.order > 1 && free < 2) continue;
      this.waiting.splice(this.waiting.indexOf(wanted), 1);
      slot.task = wanted;
      slot.worker.postMessage({id: wanted.number, question: wanted.question});
    }
  }
}
