// Which frame is shown: scrubbing, playing, following a run, fetching ahead.

const AHEAD = 8; // frames fetched ahead while playing
const BESIDE = 2; // and around a frame that is looked at
const PATIENCE = 20; // ms between looks whether the picture is done

export class Player {
  constructor(app) {
    this.app = app;
    this.frames = [];
    this.fps = 24;
    this.at = -1; // place in frames
    this.playing = false;
    this.slider = document.getElementById("frame");
    this.button = document.getElementById("play");
    this.slider.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.slider.value));
    });
    this.button.addEventListener("click", () => this.toggle());
  }

  // The frames that are there; a page that shows the newest goes on to the newest.
  async setFrames(frames, fps) {
    const follows = this.at === this.frames.length - 1;
    const first = this.at < 0;
    this.frames = frames;
    this.fps = fps;
    this.slider.max = frames.length - 1;
    if (this.at >= frames.length || (follows && !this.playing && (first || this.at < frames.length - 1))) {
      await this.go(first ? this.opening() : frames.length - 1);
    }
    this.paintLoaded();
  }

  // A complete run opens in its middle, where there is something to see; one that goes on at its newest frame.
  opening() {
    const last = this.frames.length - 1;
    return this.app.run.state === "complete" ? Math.round(0.6 * last) : last;
  }

  goTo(index) {
    const found = this.frames.findIndex((frame) => frame >= index);
    this.pause();
    return this.go(found < 0 ? this.frames.length - 1 : found);
  }

  step(by) {
    this.pause();
    return this.go(Math.max(0, Math.min(this.frames.length - 1, this.at + by)));
  }

  // Show the frame at a place. While one is being fetched, only the latest wish is kept.
  async go(at) {
    if (!this.frames.length) return; // nothing is known of the run yet
    this.at = at;
    this.slider.value = at;
    this.wish = at;
    if (this.busy) return this.busy;
    this.busy = (async () => {
      while (this.wish !== null) {
        const next = this.wish;
        this.wish = null;
        await this.app.show(this.frames[next]);
      }
    })().finally(() => (this.busy = null));
    await this.busy;
    this.paintLoaded();
    if (!this.playing) this.fetchAround();
  }

  refresh() {
    if (this.at >= 0) this.go(this.at);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  pause() {
    this.playing = false;
    this.button.textContent = "▶";
  }

  play() {
    if (this.playing || this.frames.length < 2) return;
    this.playing = true;
    this.button.textContent = "❚❚";
    if (this.at === this.frames.length - 1) this.at = -1;
    this.due = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      this.advance(now);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  // The next frame when its time has come and it is here; late frames are waited for, not skipped.
  advance(now) {
    const interval = 1000 / (this.fps * Number(document.getElementById("speed").value));
    let next = this.at + 1;
    if (next >= this.frames.length) {
      if (this.app.run.state !== "complete") return;
      if (!document.getElementById("loop").checked) return this.pause();
      next = 0;
    }
    this.fetchAhead(next);
    if (now < this.due || this.busy || !this.app.ready(this.frames[next])) {
      if (!this.busy && !this.app.ready(this.frames[next]) && !this.app.store.coming.size) this.go(next); // it cannot be read
      return;
    }
    this.due = Math.max(this.due + interval, now - interval);
    this.go(next);
  }

  fetchAhead(from) {
    for (let k = 0; k < AHEAD && this.app.store.coming.size < 3; k++) {
      const index = this.frames[(from + k) % this.frames.length];
      if (!this.app.ready(index)) this.app.fetch(index).catch(() => {});
    }
  }

  async fetchAround() {
    const at = this.at;
    while (this.app.stage.drawing()) { // fetching would make the picture late
      await new Promise((resolve) => setTimeout(resolve, PATIENCE));
      if (this.at !== at) return;
    }
    for (let k = 1; k <= BESIDE; k++) {
      for (const place of [at + k, at - k]) {
        const index = this.frames[place];
        if (index === undefined || this.app.ready(index)) continue;
        await this.app.fetch(index).catch(() => {});
        if (this.at !== at || this.playing || this.busy) return;
      }
    }
    this.paintLoaded();
  }

  // A thin line under the slider: the frames that are here.
  paintLoaded() {
    const canvas = document.getElementById("loaded");
    const context = canvas.getContext("2d");
    canvas.width = Math.max(1, canvas.clientWidth);
    context.fillStyle = "rgba(201,119,12,0.55)";
    const n = this.frames.length;
    const width = canvas.width / n;
    this.frames.forEach((index, k) => {
      if (this.app.ready(index)) context.fillRect(k * width, 0, Math.max(1, width), canvas.height);
    });
  }
}
