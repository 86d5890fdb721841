// Points on a canvas that can be moved and zoomed: drawing, and finding the point under a finger.
// Dots are written into the picture's bytes: 20,000 of them in a few milliseconds, with or without a graphics card.

/** Cells on a side of the grid that finds points. */
const CELLS = 96;
const NAMES = 40;
/** Pixels around the picture, so that no dot near its edge has to be cut. */
const MARGIN = 40;

export class Plot {
  /** `points`: {x, y, links, titles}; arrays as long as there are documents. */
  constructor(canvas, points) {
    this.canvas = canvas;
    this.points = points;
    this.count = points.x.length;
    this.view = { x: 0, y: 0, zoom: 1 };
    /** The colour of each point, the points that stand out (or null), the one under the pointer. */
    this.colour = new Uint32Array(this.count);
    this.bright = null;
    this.hover = -1;
    this.chosen = -1;
    /** Names of parts of the map, `{at, name, colour}`; the points that the one under the pointer links `to`, and those that it is linked `from`. */
    this.regions = [];
    this.links = undefined;
    /** Pixels on the left that something covers. */
    this.covered = 0;
    this.ink = { text: '#222', halo: '#fff', accent: '#00f' };
    this.size = points.links.map((links) => (links >= 100 ? 2 : links >= 10 ? 1 : 0));
    // Those that many link to are named first and drawn last.
    this.order = Uint32Array.from(points.links.keys()).sort((a, b) => points.links[b] - points.links[a] || a - b);
    /** How many pixels the names take, as far as they were measured. */
    this.long = [];
    this.grid = this.index();
    this.home = this.around();
    Object.assign(this.view, this.home);
    this.resize();
  }

  index() {
    const grid = Array.from({ length: CELLS * CELLS }, () => []);
    for (let i = 0; i < this.count; i += 1) grid[this.cell(this.points.y[i]) * CELLS + this.cell(this.points.x[i])].push(i);
    return grid;
  }

  /** The view that has nearly all points in it, and their middle in its middle. */
  around() {
    const ends = (values) => {
      const sorted = Float64Array.from(values).sort();
      const at = (share) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
      return [at(0.002), at(0.998)];
    };
    const [[left, right], [bottom, top]] = [ends(this.points.x), ends(this.points.y)];
    const size = Math.max(right - left, top - bottom, 0.1);
    return { x: (left + right) / 2, y: (bottom + top) / 2, zoom: Math.min(4, 2 / size) };
  }

  cell(x) { return Math.max(0, Math.min(CELLS - 1, Math.floor((x + 1) / 2 * CELLS))); }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    Object.assign(this, { width, height });
    this.canvas.width = Math.max(1, Math.round(width * this.ratio));
    this.canvas.height = Math.max(1, Math.round(height * this.ratio));
    this.stride = this.canvas.width + 2 * MARGIN;
    this.picture = new ImageData(this.stride, this.canvas.height + 2 * MARGIN);
    this.pixels = new Uint32Array(this.picture.data.buffer);
    this.draw();
  }

  /** Pixels for one unit of the map. */
  get middle() { return (this.width + this.covered) / 2; }
  get scale() { return Math.min(this.width - this.covered, this.height) / 2 * 0.94 * this.view.zoom; }
  screen(i) { return [this.middle + (this.points.x[i] - this.view.x) * this.scale, this.height / 2 - (this.points.y[i] - this.view.y) * this.scale]; }
  place(left, top) { return [this.view.x + (left - this.middle) / this.scale, this.view.y - (top - this.height / 2) / this.scale]; }

  move(dx, dy) {
    this.view.x = Math.max(-1.2, Math.min(1.2, this.view.x - dx / this.scale));
    this.view.y = Math.max(-1.2, Math.min(1.2, this.view.y + dy / this.scale));
    this.draw();
  }

  /** Nearer by `factor`, with what is at this pixel staying there. */
  zoom(factor, left = this.middle, top = this.height / 2) {
    const [x, y] = this.place(left, top);
    this.view.zoom = Math.max(0.7, Math.min(200, this.view.zoom * factor));
    const [nx, ny] = this.place(left, top);
    this.view.x += x - nx;
    this.view.y += y - ny;
    this.draw();
  }

  show(i, zoom) {
    Object.assign(this.view, { x: this.points.x[i], y: this.points.y[i], zoom: Math.max(this.view.zoom, zoom) });
    this.draw();
  }

  all() { Object.assign(this.view, this.home); this.draw(); }

  /** The point nearest to a pixel, not further than `most` pixels; −1 if there is none. */
  at(left, top, most = 12) {
    const [x, y] = this.place(left, top);
    const reach = most / this.scale;
    let [best, nearest] = [-1, reach * reach];
    for (let row = this.cell(y - reach); row <= this.cell(y + reach); row += 1) {
      for (let column = this.cell(x - reach); column <= this.cell(x + reach); column += 1) {
        for (const i of this.grid[row * CELLS + column]) {
          if (this.bright && !this.bright.has(i)) continue;
          const far = (this.points.x[i] - x) ** 2 + (this.points.y[i] - y) ** 2;
          if (far < nearest) [best, nearest] = [i, far];
        }
      }
    }
    return best;
  }

  /** Draws with the next frame, once however often it is asked for. */
  draw() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      const start = performance.now();
      this.paint();
      // How long it took, for those who measure.
      this.canvas.dataset.ms = (performance.now() - start).toFixed(1);
    });
  }

  radius(i) { return this.base * (1 + 0.55 * this.size[i]); }

  /** The pixels of a dot: how far from its middle in the picture, and how much of each it covers (0 to 255). */
  dot(size, opacity) {
    const radius = this.base * (1 + 0.55 * size) * this.ratio;
    const reach = Math.ceil(radius);
    const [offsets, cover] = [[], []];
    for (let y = -reach; y <= reach; y += 1) {
      for (let x = -reach; x <= reach; x += 1) {
        const share = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(x, y)));
        if (share > 0.02) { offsets.push(y * this.stride + x); cover.push(Math.round(255 * share * opacity)); }
      }
    }
    return { offsets: Int32Array.from(offsets), cover: Uint8Array.from(cover) };
  }

  paint() {
    const { ratio, width, height, scale, view, pixels, stride, points, bright } = this;
    const context = this.canvas.getContext('2d');
    const crowd = Math.max(1, Math.min(4, 130 / Math.sqrt(this.count + 1)));
    this.base = Math.min(7, crowd * (view.zoom / this.home.zoom) ** 0.4);
    pixels.fill(0);
    const [left, top] = [this.middle - view.x * scale, height / 2 + view.y * scale];
    const dots = (opacity, wanted) => {
      const sizes = [0, 1, 2].map((size) => this.dot(size, opacity));
      for (let at = this.count - 1; at >= 0; at -= 1) {
        const i = this.order[at];
        if (wanted !== null && bright.has(i) !== wanted) continue;
        const [x, y] = [left + points.x[i] * scale, top - points.y[i] * scale];
        if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
        const middle = (Math.round(y * ratio) + MARGIN) * stride + Math.round(x * ratio) + MARGIN;
        const { offsets, cover } = sizes[this.size[i]];
        const colour = this.colour[i];
        for (let k = 0; k < offsets.length; k += 1) {
          const pixel = middle + offsets[k];
          pixels[pixel] = over(colour, cover[k], pixels[pixel]);
        }
      }
    };
    if (bright) { dots(0.12, false); dots(1, true); } else dots(0.9, null);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.picture, -MARGIN, -MARGIN);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.links) this.lines(context);
    this.names(context, this.parts(context));
    for (const i of [this.chosen, this.hover]) if (i >= 0) this.ring(context, i);
  }

  ring(context, i) {
    const [x, y] = this.screen(i);
    context.strokeStyle = this.ink.accent;
    context.lineWidth = 2.5;
    context.beginPath();
    context.arc(x, y, this.radius(i) + 4, 0, 2 * Math.PI);
    context.stroke();
  }

  /** Lines from the point under the pointer to those it links to, and dashed ones to those that link to it. */
  lines(context) {
    if (this.hover < 0) return;
    const from = this.screen(this.hover);
    context.strokeStyle = this.ink.accent;
    context.lineWidth = 1;
    context.globalAlpha = 0.55;
    for (const [ends, dashes] of [[this.links.to, []], [this.links.from, [3, 4]]]) {
      context.setLineDash(dashes);
      for (const i of ends) {
        context.beginPath();
        context.moveTo(...from);
        context.lineTo(...this.screen(i));
        context.stroke();
      }
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  /** Names of parts of the map, until one is so near that points tell more; the boxes that they take. */
  parts(context) {
    if (this.view.zoom > 3 * this.home.zoom) return [];
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.font = '600 15px system-ui, sans-serif';
    const taken = [];
    for (const { at: [x, y], name, colour } of this.regions) {
      const text = name.length > 34 ? `${name.slice(0, 33)}…` : name;
      const long = context.measureText(text).width;
      const [left, top] = [this.middle + (x - this.view.x) * this.scale - long / 2, this.height / 2 - (y - this.view.y) * this.scale];
      const box = [left - 4, top - 11, left + long + 4, top + 11];
      if (box[0] < this.covered || box[1] < 0 || box[2] > this.width || box[3] > this.height || taken.some((other) => meet(box, other))) continue;
      taken.push(box);
      context.strokeStyle = this.ink.halo;
      context.lineWidth = 5;
      context.strokeText(text, left, top);
      context.fillStyle = colour;
      context.fillText(text, left, top);
    }
    return taken;
  }

  /** Names beside the points that most link to, where there is room. */
  names(context, taken) {
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    const most = taken.length + Math.min(NAMES, Math.round(this.width * this.height / 22000));
    let looked = 0;
    for (const i of this.order) {
      if (taken.length >= most || looked > 4000) break;
      if (this.bright && !this.bright.has(i)) continue;
      const [x, y] = this.screen(i);
      if (x < 0 || y < 8 || x > this.width || y > this.height - 8) continue;
      looked += 1;
      const name = this.points.titles[i];
      const text = name.length > 30 ? `${name.slice(0, 29)}…` : name;
      const [beside, long] = [this.radius(i) + 3, this.long[i] ??= context.measureText(text).width];
      const from = x + beside + long < this.width ? x + beside : x - beside - long;
      if (from < 0) continue;
      const box = [from, y - 8, from + long + 2, y + 8];
      if (taken.some((other) => meet(box, other))) continue;
      taken.push(box);
      context.strokeStyle = this.ink.halo;
      context.lineWidth = 3;
      context.strokeText(text, box[0], y);
      context.fillStyle = this.ink.text;
      context.fillText(text, box[0], y);
    }
  }
}

/** Whether two boxes, `[left, top, right, bottom]`, overlap. */
const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

/** A colour that covers so much (of 255) of a pixel, over what is there; blue, green and red from the highest byte down. */
function over(colour, cover, below) {
  if (cover === 255 || !below) return (cover << 24 | colour) >>> 0;
  const mix = (shift) => {
    const [a, b] = [colour >>> shift & 255, below >>> shift & 255];
    return (b + ((a - b) * cover + 127) / 255 & 255) << shift;
  };
  return (Math.max(cover, below >>> 24) << 24 | mix(16) | mix(8) | mix(0)) >>> 0;
}

/** `#4361ee` as a number for [`Plot.colour`]. */
export function packed(colour) {
  const number = Number.parseInt(colour.slice(1), 16);
  return (number & 255) << 16 | number & 0xff00 | number >>> 16;
}
