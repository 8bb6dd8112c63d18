// Values to colours, and the legend.

// Every eighth of matplotlib's viridis (CC0), linear between; a diverging ramp; categories told apart easily.
const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
const SIGNED = [[24, 78, 140], [110, 160, 205], [240, 240, 238], [222, 140, 105], [150, 40, 40]];
const CATEGORIES = [[70, 120, 190], [220, 140, 40], [80, 160, 90], [200, 70, 80], [140, 105, 180], [150, 110, 85], [225, 130, 190], [120, 120, 120]];

export class Scale {
  // kind: linear, log, signed or category; palette replaces the colours of categories
  constructor(kind, low, high, palette) {
    this.kind = kind;
    this.palette = palette ?? CATEGORIES;
    if (kind === "signed") {
      high = Math.max(Math.abs(low), Math.abs(high));
      low = -high;
    }
    this.low = low;
    this.high = high;
    this.log = kind === "log" && low > 0;
    this.table = ramp(kind === "signed" ? SIGNED : VIRIDIS);
    const [a, b] = this.log ? [Math.log(low), Math.log(high)] : [low, high];
    this.start = a;
    this.factor = b > a ? 255 / (b - a) : 0;
  }

  // Writes a colour of `size` bytes per value; NaN becomes nothing.
  paint(values, size = 3) {
    const out = new Uint8Array(values.length * size);
    for (let i = 0, o = 0; i < values.length; i++, o += size) {
      const value = values[i];
      if (value !== value) continue;
      if (this.kind === "category") {
        const low = Math.max(0, Math.floor(value)), part = Math.max(0, value - low), n = this.palette.length;
        const a = this.palette[low % n], b = this.palette[(low + 1) % n];
        for (let c = 0; c < 3; c++) out[o + c] = a[c] + part * (b[c] - a[c]); // where two liquids meet
      } else {
        const place = ((this.log ? Math.log(value) : value) - this.start) * this.factor;
        const k = 3 * Math.max(0, Math.min(255, Math.round(place)));
        out[o] = this.table[k]; out[o + 1] = this.table[k + 1]; out[o + 2] = this.table[k + 2];
      }
      if (size === 4) out[o + 3] = 255;
    }
    return out;
  }
}

function ramp(stops) {
  const table = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; i++) {
    const place = (i / 255) * (stops.length - 1);
    const k = Math.min(Math.floor(place), stops.length - 2);
    for (let c = 0; c < 3; c++) table[3 * i + c] = stops[k][c] + (place - k) * (stops[k + 1][c] - stops[k][c]);
  }
  return table;
}

export function showLegend(name, unit, scale) {
  const figure = document.getElementById("legend");
  figure.hidden = !scale || scale.kind === "category";
  if (figure.hidden) return;
  document.getElementById("legend-name").textContent = unit ? `${name} [${unit}]` : name;
  document.getElementById("legend-low").textContent = short(scale.low);
  document.getElementById("legend-high").textContent = short(scale.high);
  const canvas = document.getElementById("legend-bar");
  const context = canvas.getContext("2d");
  for (let x = 0; x < canvas.width; x++) {
    const k = 3 * Math.round((255 * x) / (canvas.width - 1));
    context.fillStyle = `rgb(${scale.table[k]},${scale.table[k + 1]},${scale.table[k + 2]})`;
    context.fillRect(x, 0, 1, canvas.height);
  }
}

export function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}
