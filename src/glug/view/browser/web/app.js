// The page: asks the server what there is, shows a frame, follows a run that goes on.

import { Scale, showLegend } from "./colours.js";
import { Plots } from "./plots.js";
import { Player } from "./player.js";
import { Stage } from "./stage.js";
import { ask, Store } from "./store.js";

const POLL = 1000; // ms between questions about a run that goes on
const $ = (id) => document.getElementById(id);

class App {
  constructor() {
    this.stage = new Stage($("canvas"));
    this.store = new Store();
    this.plots = new Plots($("plots"), (frame) => this.player.goTo(Math.round(frame)));
    this.player = new Player(this);
    this.ranges = new Map(); // the widest range of each quantity seen so far, so that colours do not flicker
    this.messages = {};
    this.stage.onDrawn = () => this.drawn();
    this.wire();
  }

  async start() {
    for (;;) {
      try {
        const run = await (await ask("/api/run")).json();
        this.message("server", "");
        if (run.state !== "waiting" && run.frames.length) await this.update(run);
        else $("waiting").textContent = "waiting for the first frame…";
        await this.updatePlots();
        if (run.state === "complete") return;
      } catch (error) {
        this.message("server", error.message);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }

  async update(run) {
    const before = this.run;
    this.run = run;
    if (before && before.frames.at(-1) > run.frames.at(-1)) this.store.clear(); // it began again
    if (!before || before.scene !== run.scene) this.introduce(run);
    const shown = run.frames.length - 1;
    $("state").textContent = run.state === "complete"
      ? `${run.frames.length} frames`
      : `not complete: frame ${run.frames[shown]} of ${run.last}`;
    this.options($("colour"), this.colourChoices(run));
    this.options($("slice"), [["", "nothing"], ...run.slices.map(({ name }) => [name, name])]);
    $("slices").hidden = !run.slices.length;
    $("no-slices").hidden = Boolean(run.slices.length);
    await this.player.setFrames(run.frames, run.fps);
  }

  introduce(run) {
    document.title = `${run.name} – glug`;
    $("name").textContent = run.name;
    $("about").textContent = run.about;
    $("scene").textContent = run.scene;
    $("facts").replaceChildren(...run.facts.flatMap(([label, value]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = label;
      dd.textContent = value;
      return [dt, dd];
    }));
    this.cover();
    this.stage.set(run);
    if (run.dim === 2) {
      $("slice-axis").value = "2";
      this.stage.fit();
    }
    $("show-solids").parentElement.hidden = !run.solids.length;
    this.message("note", run.note);
    this.loadSolids(0);
  }

  colourChoices(run) {
    const choices = run.colours.map(({ name }) => [name, name]);
    if (!choices.some(([name]) => name === "speed")) choices.unshift(["speed", "speed"]);
    return run.liquids.length > 1 && choices.some(([name]) => name === "liquid")
      ? [["liquid", "the liquids' own"], ...choices.filter(([name]) => name !== "liquid")]
      : [["material", "the liquid's own"], ...choices.filter(([name]) => name !== "liquid")];
  }

  options(select, choices) {
    if (select.dataset.choices === JSON.stringify(choices)) return;
    select.dataset.choices = JSON.stringify(choices);
    const value = select.value;
    select.replaceChildren(...choices.map(([name, label]) => new Option(label, name)));
    if (choices.some(([name]) => name === value)) select.value = value;
  }

  async loadSolids(frame) {
    for (const [number, { sequence }] of this.run.solids.entries()) {
      if (frame && !sequence) continue;
      try {
        this.stage.showSolid(number, await this.store.get(`/api/solid/${number}?frame=${frame}`));
        this.stage.poseSolids(this.bodies ?? []);
      } catch (error) {
        this.message("note", error.message);
      }
    }
  }

  // Addresses of what a frame needs, by layer.
  addresses(index) {
    const colour = $("colour").value || "material";
    const wanted = {};
    if ($("show-surface").checked) wanted.surface = `/api/surface/${index}?colour=${colour}`;
    if ($("show-particles").checked) wanted.particles = `/api/particles/${index}?colour=${colour === "material" ? "speed" : colour}`;
    const quantity = $("slice").value, axis = Number($("slice-axis").value);
    if (quantity && this.run) {
      const at = this.run.lower[axis] + Number($("slice-at").value) * (this.run.upper[axis] - this.run.lower[axis]);
      wanted.slice = `/api/slice/${index}?quantity=${quantity}&axis=${axis}&at=${at}`;
    }
    if (!Object.keys(wanted).length) wanted.surface = `/api/surface/${index}?colour=material`; // for the solids' poses
    return wanted;
  }

  ready(index) {
    return Object.values(this.addresses(index)).every((address) => this.store.has(address));
  }

  fetch(index) {
    return Promise.all(Object.values(this.addresses(index)).map((address) => this.store.get(address)));
  }

  // Fetch and show a frame; a frame that cannot be read is shown empty, with the reason.
  async show(index) {
    const wanted = this.addresses(index);
    const found = {};
    let trouble = "";
    this.stage.expecting = true;
    await Promise.all(Object.entries(wanted).map(async ([layer, address]) => {
      try {
        found[layer] = await this.store.get(address);
      } catch (error) {
        trouble ||= error.message;
      }
    }));
    this.message("frame", trouble && `frame ${index}: ${trouble}`);
    this.bodies = (found.surface ?? found.particles ?? found.slice)?.bodies ?? [];
    if (this.run.solids.some(({ sequence }) => sequence)) await this.loadSolids(index);
    this.stage.poseSolids(this.bodies);
    this.paint(found);
    this.pending = { index, found };
    this.plots.mark(index);
    this.stage.expecting = false;
    this.stage.redraw();
  }

  paint(found) {
    const colour = $("colour").value;
    const slice = this.run.slices.find(({ name }) => name === $("slice").value);
    const liquid = this.run.colours.find(({ name }) => name === (colour === "material" ? "speed" : colour))
      ?? { name: "speed", unit: "m/s", scale: "linear" };
    const surface = $("show-surface").checked ? found.surface : null;
    const values = found.particles ?? (colour === "material" ? null : surface);
    const scale = values && this.scale(liquid, values.range);
    const painted = surface?.arrays.value;
    this.stage.showSurface(surface, painted && scale ? scale.paint(painted) : null);
    this.stage.showParticles(found.particles, found.particles && scale ? scale.paint(found.particles.arrays.value) : null);
    const cut = found.slice && slice && this.scale({ ...slice, name: `slice ${slice.name}` }, found.slice.range);
    this.stage.showSlice(found.slice && cut ? found.slice : null, cut?.paint(found.slice.arrays.value, 4), $("slice-open").checked);
    if (cut) showLegend(slice.name, slice.unit, cut);
    else showLegend(liquid.name, liquid.unit, scale);
  }

  scale({ name, scale }, range) {
    const [low, high] = range ?? [0, 1];
    const seen = this.ranges.get(name) ?? [low, high];
    const wide = [Math.min(seen[0], low), Math.max(seen[1], high)];
    this.ranges.set(name, wide);
    const palette = name === "liquid" ? this.run.liquids.map(({ colour }) => colour.map((c) => 255 * c)) : undefined;
    return new Scale(scale, ...(name === "speed" || name.endsWith("age") ? [0, wide[1]] : wide), palette);
  }

  // After a picture: what tests and benches read is what is on the screen.
  drawn() {
    if (!this.pending) return;
    const { index, found } = this.pending;
    document.body.dataset.frame = index;
    document.body.dataset.first ??= performance.now().toFixed(0);
    $("waiting").hidden = true;
    const parts = [`<b>${index}</b> / ${this.run.frames.at(-1)}`, `${(index / this.run.fps).toFixed(2)} s`];
    $("now").innerHTML = parts.join(" &nbsp; ");
    const triangles = found.surface?.arrays.triangle.length / 3;
    $("now").title = [
      triangles && `${triangles.toLocaleString()} triangles`,
      found.particles && `${(found.particles.arrays.position.length / 3).toLocaleString()} of ${found.particles.total.toLocaleString()} particles`,
    ].filter(Boolean).join(", ");
  }

  async updatePlots() {
    const from = this.plots.steps.length;
    const answer = await (await ask(`/api/stats?from=${from}`)).json();
    if (!this.plots.add(answer, from)) await this.updatePlots();
  }

  // One message at a time: that of the server before that of a frame before that of the run.
  message(kind, text) {
    this.messages[kind] = text;
    const shown = this.messages.server || this.messages.frame || this.messages.note || "";
    $("message").textContent = shown;
    $("message").hidden = !shown;
  }

  cover() {
    const bare = document.body.classList.contains("bare") || innerWidth < 720;
    this.stage.covered = [bare ? 0 : $("panel").offsetWidth + 14, $("timeline").offsetHeight + 14];
  }

  wire() {
    const again = () => this.player.refresh();
    for (const id of ["show-surface", "show-particles", "colour", "slice", "slice-axis", "slice-open"]) $(id).addEventListener("change", again);
    $("slice-at").addEventListener("input", again);
    $("show-solids").addEventListener("change", () => this.stage.showSolids($("show-solids").checked));
    $("show-box").addEventListener("change", () => {
      this.stage.box.visible = $("show-box").checked;
      this.stage.redraw();
    });
    $("reset-view").addEventListener("click", () => (this.run.dim === 2 ? this.stage.fit() : this.stage.resetView()));
    $("fit-view").addEventListener("click", () => this.stage.fit());
    const hide = () => {
      document.body.classList.toggle("bare");
      this.cover();
      this.stage.resize();
      this.stage.redraw();
    };
    $("hide").addEventListener("click", hide);
    addEventListener("resize", () => {
      this.cover();
      this.stage.resize();
      this.stage.redraw();
    });
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input:not(#frame)")) return;
      const step = event.shiftKey ? 10 : 1;
      const action = {
        " ": () => this.player.toggle(), ArrowLeft: () => this.player.step(-step), ArrowRight: () => this.player.step(step),
        Home: () => this.player.step(-Infinity), End: () => this.player.step(Infinity), f: () => this.stage.fit(), h: hide,
      }[event.key];
      if (!action || (event.target.tagName === "BUTTON" && event.key === " ")) return;
      event.preventDefault();
      action();
    });
  }
}

try {
  const app = new App();
  app.start();
} catch (error) {
  $("waiting").hidden = true;
  $("message").hidden = false;
  $("message").textContent = `This browser cannot draw in three dimensions (WebGL 2 is off): ${error.message}`;
}
