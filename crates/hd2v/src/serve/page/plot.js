// Points on a canvas that can be moved and zoomed: drawing, and finding the point under a finger.

/** Cells on a side of the grid that finds points. */
const CELLS = 96;
const NAMES = 40;

export class Plot {
  /** `points`: {x, y, links, titles}; arrays as long as there are documents. */
  constructor(canvas, points) {
    this.canvas = canvas;
    this.points = points;
    this.count = points.x.length;
    this.view = { x: 0, y: 0, zoom: 1 };
    /** The colour of each point, the points that stand out (or null), the one under the pointer. */
    this.colour = new Array(this.count).fill('#888');
    this.bright = null;
    this.hover = -1;
    this.chosen = -1;
    this.ink = { text: '#222', halo: '#fff', accent: '#00f' };
    this.size = points.links.map((links) => (links >= 100 ? 2 : links >= 10 ? 1 : 0));
    // Those that many link to are named first and drawn last.
    this.order = Uint32Array.from(points.links.keys()).sort((a, b) => points.links[b] - points.links[a] || a - b);
    this.sprites = new Map();
    this.grid = this.index();
    this.resize();
  }

  index() {
    const grid = Array.from({ length: CELLS * CELLS }, () => []);
    for (let i = 0; i < this.count; i += 1) grid[this.cell(this.points.y[i]) * CELLS + this.cell(this.points.x[i])].push(i);
    return grid;
  }

  cell(x) { return Math.max(0, Math.min(CELLS - 1, Math.floor((x + 1) / 2 * CELLS))); }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    Object.assign(this, { width, height });
    this.canvas.width = Math.max(1, Math.round(width * this.ratio));
    this.canvas.height = Math.max(1, Math.round(height * this.ratio));
    this.sprites.clear();
    this.draw();
  }

  /** Pixels for one unit of the map. */
  get scale() { return Math.min(this.width, this.height) / 2 * 0.94 * this.view.zoom; }
  screen(i) { return [this.width / 2 + (this.points.x[i] - this.view.x) * this.scale, this.height / 2 - (this.points.y[i] - this.view.y) * this.scale]; }
  place(left, top) { return [this.view.x + (left - this.width / 2) / this.scale, this.view.y - (top - this.height / 2) / this.scale]; }

  move(dx, dy) {
    this.view.x = Math.max(-1.2, Math.min(1.2, this.view.x - dx / this.scale));
    this.view.y = Math.max(-1.2, Math.min(1.2, this.view.y + dy / this.scale));
    this.draw();
  }

  /** Nearer by `factor`, with what is at this pixel staying there. */
  zoom(factor, left = this.width / 2, top = this.height / 2) {
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

  all() { Object.assign(this.view, { x: 0, y: 0, zoom: 1 }); this.draw(); }

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

  /** A dot of a colour, drawn once and copied. */
  sprite(colour, size) {
    const key = `${colour} ${size} ${this.base}`;
    let sprite = this.sprites.get(key);
    if (!sprite) {
      if (this.sprites.size > 200) this.sprites.clear();
      const radius = this.base * (1 + 0.55 * size) * this.ratio;
      sprite = document.createElement('canvas');
      sprite.width = sprite.height = Math.ceil(2 * radius + 2);
      const context = sprite.getContext('2d');
      context.fillStyle = colour;
      context.beginPath();
      context.arc(sprite.width / 2, sprite.width / 2, radius, 0, 2 * Math.PI);
      context.fill();
      this.sprites.set(key, sprite);
    }
    return sprite;
  }

  paint() {
    const context = this.canvas.getContext('2d');
    const { ratio, width, height, scale, view } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const crowd = Math.max(1.3, Math.min(4, 260 / Math.sqrt(this.count + 1)));
    this.base = Math.round(4 * Math.min(7, crowd * view.zoom ** 0.4)) / 4;
    const [left, top] = [width / 2 - view.x * scale, height / 2 + view.y * scale];
    const dot = (i) => {
      const [x, y] = [left + this.points.x[i] * scale, top - this.points.y[i] * scale];
      if (x < -9 || y < -9 || x > width + 9 || y > height + 9) return;
      const sprite = this.sprite(this.colour[i], this.size[i]);
      context.drawImage(sprite, Math.round(x * ratio - sprite.width / 2), Math.round(y * ratio - sprite.width / 2));
    };
    context.globalAlpha = this.bright ? 0.12 : 0.85;
    for (let at = this.count - 1; at >= 0; at -= 1) if (!this.bright?.has(this.order[at])) dot(this.order[at]);
    context.globalAlpha = 1;
    if (this.bright) for (let at = this.count - 1; at >= 0; at -= 1) if (this.bright.has(this.order[at])) dot(this.order[at]);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.names(context);
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

  /** Names beside the points that most link to, where there is room. */
  names(context) {
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    const taken = [];
    const most = Math.min(NAMES, Math.round(this.width * this.height / 22000));
    let looked = 0;
    for (const i of this.order) {
      if (taken.length >= most || looked > 4000) break;
      if (this.bright && !this.bright.has(i)) continue;
      const [x, y] = this.screen(i);
      if (x < 0 || y < 8 || x > this.width - 40 || y > this.height - 8) continue;
      looked += 1;
      const name = this.points.titles[i];
      const text = name.length > 30 ? `${name.slice(0, 29)}…` : name;
      const box = [x + this.radius(i) + 3, y - 8, x + this.radius(i) + 5 + text.length * 6.4, y + 8];
      if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      taken.push(box);
      context.strokeStyle = this.ink.halo;
      context.lineWidth = 3;
      context.strokeText(text, box[0], y);
      context.fillStyle = this.ink.text;
      context.fillText(text, box[0], y);
    }
  }
}
