// The time of the run that a part of the page shows: a slider, and a button that goes through the run.
import {make} from './dom.js';

const {minutes} = Retrystorm;
const PLAYED = 8000; // milliseconds for a whole run

export class TimeBar {
  // `what` is shown. `show` is called when it is to be shown at another time.
  constructor(app, id, what, show) {
    Object.assign(this, {app, show, ends: [], chosen: null}); // by the reader; null: the usual one
    this.slider = make('input', {type: 'range', id: `${id}-time`, min: '0', step: '1', 'aria-label': `The time of the run that ${what} are shown at`});
    this.slider.addEventListener('input', () => this.choose(this.ends[Number(this.slider.value)]));
    this.said = make('output', {className: 'muted', htmlFor: this.slider.id});
    this.play = make('button', {type: 'button', className: 'quiet', id: `${id}-play`, onclick: () => this.run()}, 'Play');
    this.element = make('div', {className: 'time-bar'}, this.slider, this.said, this.play);
  }

  // The run is shown in windows that end at these times, at first in that of the `usual` time. None: there is nothing to show.
  take(ends, usual) {
    Object.assign(this, {ends, usual});
    if (ends.length > 0) this.app.moment = this;
    else {
      this.chosen = null;
      if (this.app.moment === this) this.app.moment = null;
    }
  }

  choose(t) {
    this.chosen = t;
    this.show();
    this.app.tell('time');
  }

  // The window ends at the time, or is the next one to end.
  get index() {
    const found = this.ends.findIndex(t => t >= (this.chosen ?? this.usual));
    return found < 0 ? this.ends.length - 1 : found;
  }

  // Says which window is shown: {at, from, to}.
  fill() {
    const at = this.index, from = at > 0 ? this.ends[at - 1] : 0, to = this.ends[at];
    Object.assign(this.slider, {max: String(this.ends.length - 1), value: String(at)});
    this.slider.setAttribute('aria-valuetext', `${minutes(from)} to ${minutes(to)}`);
    this.said.textContent = `${minutes(from)} – ${minutes(to)}`;
    return {at, from, to};
  }

  // Shows the run from its beginning, or stops that.
  run() {
    const playing = this.timer !== undefined;
    clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = 'Play';
    if (playing) return;
    let at = 0;
    this.play.textContent = 'Stop';
    this.timer = setInterval(() => {
      if (at >= this.ends.length) return this.run();
      this.choose(this.ends[at++]);
    }, PLAYED / this.ends.length);
  }
}
