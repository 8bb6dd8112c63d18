// Small plots of the steps of a run: volume, energy, momentum, what came and left, iterations, seconds.

import { uPlot } from "./vendor/three.js";
import { short } from "./colours.js";

const COLOURS = ["#c9770c", "#3b6ea5", "#4f9a63", "#9a5aa8"];
const WIDTH = 238, HEIGHT = 82;

export class Plots {
  constructor(where, onPick) {
    this.where = where;
    this.onPick = onPick;
    this.steps = [];
    this.frame = 0;
    this.made = new Map();
  }

  add(answer, from) {
    if (answer.total < from) {
      this.steps = [];
      return false;
    }
    this.steps.push(...answer.steps);
    this.where.parentElement.hidden = !this.steps.length;
    if (answer.steps.length) this.draw(answer.solves);
    return true;
  }

  mark(frame) {
    this.frame = frame;
    for (const { plot } of this.made.values()) plot.redraw(false);
  }

  draw(solves) {
    const steps = this.steps;
    // Steps of a frame are spread evenly between the frame before and it.
    const x = new Array(steps.length);
    for (let i = 0; i < steps.length; ) {
      let n = i;
      while (n < steps.length && steps[n].frame === steps[i].frame) n++;
      for (let k = i; k < n; k++) x[k] = steps[k].frame - 1 + (k - i + 1) / (n - i);
      i = n;
    }
    const largest = Math.max(...steps.map((s) => s.target), 1e-30);
    const [unit, factor] = largest >= 1 ? ["m³", 1] : largest >= 1e-3 ? ["l", 1e3] : ["ml", 1e6];
    this.one("volume", `liquid volume [${unit}]`, x, [
      ["carried", steps.map((s) => s.target * factor), "#b8bbc0"],
      ["on the grid", steps.map((s) => s.volume * factor), COLOURS[0]],
    ]);
    this.balance(x, steps);
    this.one("iterations", "iterations", x,
      solves.map((name, i) => [name, steps.map((s) => s.iterations[name] ?? null), COLOURS[i % 4]]));
    this.one("seconds", "seconds per step", x, [["seconds", steps.map((s) => s.seconds), COLOURS[1]]]);
  }

  // What the liquid has, and the mass that came and left so far. Runs of earlier versions say nothing of it.
  balance(x, steps) {
    if (!steps.some((s) => s.liquid)) return;
    const of = (read) => steps.map((s) => (s.liquid ? read(s.liquid) : null));
    this.measured("energy", "energy", [["mJ", 1e3], ["J", 1], ["kJ", 1e-3]], x, [
      ["potential", of((l) => l.potential), "#b8bbc0"],
      ["kinetic", of((l) => l.kinetic), COLOURS[0]],
      ["both", of((l) => l.kinetic + l.potential), COLOURS[1]],
    ]);
    const parts = (key) => ["x", "y", "z"]
      .map((name, a) => [name, of((l) => l[key][a]), COLOURS[a]])
      .filter(([, values]) => values.some((value) => value));
    this.measured("momentum", "momentum", [["g m/s", 1e3], ["kg m/s", 1]], x, parts("momentum"));
    this.measured("angular", "angular momentum", [["g m²/s", 1e3], ["kg m²/s", 1]], x, parts("angular"));
    const ways = ["came", "left"].filter((key) => steps.some((s) => s[key]));
    const summed = (key) => { let sum = 0; return steps.map((s) => (sum += s[key])); };
    this.measured("flux", "liquid so far", [["g", 1e3], ["kg", 1], ["t", 1e-3]], x,
      ways.map((key, n) => [key, summed(key), COLOURS[n + 1]]));
  }

  // The series in the largest of the units in which the greatest value is above 1.
  measured(key, title, units, x, series) {
    if (!series.length) return;
    const greatest = series.flatMap(([, values]) => values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const [unit, factor] = units.findLast(([, factor]) => greatest * factor >= 1) ?? units[0];
    const scaled = series.map(([name, values, stroke]) => [name, values.map((v) => v === null ? null : v * factor), stroke]);
    this.one(key, `${title} [${unit}]`, x, scaled);
  }

  one(key, title, x, series) {
    const data = [x, ...series.map(([, values]) => values)];
    const known = this.made.get(key);
    if (known && known.names === series.map(([name]) => name).join()) {
      known.plot.setData(data);
      known.box.firstChild.firstChild.textContent = title;
    } else {
      known?.box.remove();
      const box = document.createElement("div");
      box.className = "plot";
      box.innerHTML = "<h3></h3>";
      box.firstChild.textContent = title;
      const last = document.createElement("span");
      box.firstChild.append(last);
      this.where.append(box);
      const plot = new uPlot(this.options(series), data, box);
      plot.over.addEventListener("click", () => this.onPick(plot.posToVal(plot.cursor.left, "x")));
      this.made.set(key, { plot, box, last, names: series.map(([name]) => name).join() });
    }
    const { last } = this.made.get(key);
    if (series.length === 1 || key === "volume") last.textContent = short(series.at(-1)[1].at(-1) ?? 0);
    else {
      last.replaceChildren(...series.map(([name, , stroke]) => {
        const word = document.createElement("i");
        word.textContent = name;
        word.style.color = stroke;
        return word;
      }));
    }
  }

  options(series) {
    const axis = { stroke: "#6b7078", font: "10px system-ui", grid: { stroke: "rgba(0,0,0,0.06)", width: 1 }, ticks: { show: false } };
    return {
      width: WIDTH, height: HEIGHT, legend: { show: false }, padding: [6, 4, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
      scales: { x: { time: false }, y: { range: (plot) => limits(plot.data) } },
      axes: [{ ...axis, size: 18, space: 40 }, { ...axis, size: 40, space: 24, values: (_, ticks) => ticks.map(short) }],
      series: [{}, ...series.map(([label, , stroke]) => ({ label, stroke, width: 1.4, points: { show: false } }))],
      hooks: { draw: [(plot) => this.line(plot)] },
    };
  }

  line(plot) {
    const at = Math.round(plot.valToPos(this.frame, "x", true));
    const { left, top, width, height } = plot.bbox;
    if (at < left || at > left + width) return;
    plot.ctx.save();
    plot.ctx.fillStyle = "rgba(35,38,43,0.55)";
    plot.ctx.fillRect(at, top, Math.max(1, devicePixelRatio), height);
    plot.ctx.restore();
  }
}

// From zero, or from below it where there are negative values.
function limits([, ...series]) {
  const values = series.flat().filter((value) => value !== null);
  const below = values.filter((value) => value < 0).map((value) => -value), above = values.filter((value) => value > 0);
  return [below.length ? -1.08 * largest(below) : 0, above.length || !below.length ? 1.08 * largest(above) : 0];
}

// The first steps of a run may compile kernels for a minute: the rarest few do not set the scale.
function largest(values) {
  values.sort((a, b) => a - b);
  const most = values.at(-1) || 1, usual = values[Math.floor(0.97 * (values.length - 1))] || most;
  return most > 3 * usual ? 1.5 * usual : most;
}
