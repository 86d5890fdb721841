// Map: all documents on a plane, coloured by label, by folder or by where they lie; the links of the one under the pointer.

import * as api from './api.js';
import { apart, el, empty, many, nameOf, route, say, settled, thousands, toDocument } from './dom.js';
import { Plot, packed } from './plot.js';
import { MOST, groupings, middles } from './regions.js';

const COLOURS = ['#4361ee', '#e8590c', '#2b9a5b', '#d6336c', '#8d5bd6', '#c29000', '#0f9bb8', '#a0522d', '#74a12e', '#e0736d', '#5a8dbf', '#b5529a'];
const FOUND = 30;
/** Links that are drawn of a document, in each direction; milliseconds that the pointer rests on it before they are asked for. */
const LINKS = 60;
const REST = 120;

async function load(main, current) {
  for (let wait = 150; ; wait = Math.min(1000, 2 * wait)) {
    const answer = await api.map();
    if (!current()) return undefined;
    if (answer.ready !== false) return answer;
    if (answer.done) main.replaceChildren(empty(`Computing the map, once for this model: ${Math.round(100 * answer.done)} % …`));
    await new Promise((resolve) => { setTimeout(resolve, wait); });
    if (!current()) return undefined;
  }
}

export async function map(main, { about, current, titled, notice }) {
  titled('Map');
  const data = await load(main, current);
  if (!data) return undefined;
  if (!data.documents) { main.replaceChildren(empty('There are no documents.')); return undefined; }
  const titles = data.titles.map((title, i) => title || data.ids[i]);
  const lower = titles.map((title, i) => `${title}\n${data.ids[i]}`.toLowerCase());

  const canvas = el('canvas', { tabindex: 0, role: 'application', 'aria-roledescription': 'map', 'aria-label': `Map of ${thousands(data.documents)} documents. Arrow keys move, plus and minus zoom, Enter opens the document nearest the centre.` });
  const tip = el('div', { class: 'tip', hidden: true });
  const search = el('input', { type: 'search', id: 'map-search', placeholder: 'Highlight titles', 'aria-label': 'Highlight documents by title', autocomplete: 'off' });
  const number = el('p', { class: 'hint', 'aria-live': 'polite' });
  const found = el('ul', { class: 'rows found-on-map', hidden: true });
  const legend = el('ul', { class: 'legend', 'aria-label': 'Colours' });
  const ways = groupings(data, titles);
  const group = el('select', { id: 'group', 'aria-label': 'Colour by' }, ways.map(({ name }, number) => el('option', { value: number }, name)));
  const button = (text, label, click) => el('button', { type: 'button', class: 'icon', 'aria-label': label, title: label, on: { click } }, text);
  const side = el('details', { class: 'side', open: matchMedia('(min-width: 50rem)').matches },
    el('summary', {}, `${thousands(data.documents)} documents`),
    data.ids.length < data.documents && el('p', { class: 'hint' }, `Showing the ${thousands(data.ids.length)} with the most links to them.`),
    search, number, found, ways.length > 1 && el('label', { class: 'inline' }, 'Colour by ', group), legend);
  main.replaceChildren(canvas, tip, side, el('div', { class: 'zoom' },
    button('+', 'Zoom in (+)', () => plot.zoom(1.5)), button('−', 'Zoom out (−)', () => plot.zoom(1 / 1.5)), button('⤢', 'Show all (0)', () => plot.all())));
  const plot = new Plot(canvas, { x: data.x, y: data.y, links: data.links ?? data.ids.map(() => 0), titles });

  let only = -1, members;
  function colours() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    plot.ink = { text: read('--text'), halo: read('--page'), accent: read('--accent') };
    const grey = read('--dot');
    const { names, none: without, members: own } = ways[group.value] ?? ways[0];
    const shown = names.slice(0, MOST);
    // The entries that a document belongs to, of which the first colours it: groups that have colours, others, none.
    const [others, none] = [shown.length, shown.length + 1];
    const counts = new Array(none + 1).fill(0);
    members = own.map((numbers) => {
      const of = new Set(numbers.map((number) => Math.min(number, others)));
      if (of.size > 1) of.delete(others);
      if (!of.size) of.add(none);
      for (const number of of) counts[number] += 1;
      return of;
    });
    plot.regions = middles(plot.points, own, shown.length).map((at, number) => at && { at, name: shown[number], colour: COLOURS[number] }).filter(Boolean);
    const paints = [...COLOURS.slice(0, shown.length), grey, grey].map(packed);
    plot.colour = Uint32Array.from(members, (own) => paints[Math.min(...own)]);
    const entry = (name, number) => counts[number] > 0 && el('li', {}, el('button', {
      type: 'button', 'aria-pressed': String(only === number), vars: { '--dot': COLOURS[number < others ? number : -1] ?? grey },
      on: { click: () => { only = only === number ? -1 : number; colours(); highlight(); } },
    }, el('span', { class: 'name' }, name), el('span', { class: 'times' }, thousands(counts[number]))));
    legend.replaceChildren(...[...shown.map((name, number) => entry(name, number)), entry('others', others), entry(without, none)].filter(Boolean));
    plot.draw();
  }

  function highlight() {
    const text = search.value.trim().toLowerCase();
    if (!text && only < 0) {
      plot.bright = null;
      number.textContent = 'Choose a colour to filter by it.';
      found.hidden = true;
      plot.draw();
      return;
    }
    const matches = [];
    for (let i = 0; i < lower.length; i += 1) {
      if ((!text || lower[i].includes(text)) && (only < 0 || members[i].has(only))) matches.push(i);
    }
    plot.bright = new Set(matches);
    const links = matches.sort((a, b) => plot.points.links[b] - plot.points.links[a] || a - b).slice(0, FOUND);
    number.textContent = many(matches.length, 'document');
    found.hidden = !text || !matches.length;
    found.replaceChildren(...apart(links.map((i) => ({ i, id: data.ids[i], title: titles[i] }))).map((one) =>
      el('li', {}, toDocument(one, { on: { focus: () => hover(one.i), mouseenter: () => hover(one.i) } }))));
    plot.draw();
  }

  // The links of the document under the pointer, asked for once it rests there.
  const rows = new Map(data.ids.map((id, i) => [id, i]));
  const known = new Map();
  const ask = settled(REST, async () => {
    const i = plot.hover;
    if (i < 0 || !current()) return;
    try {
      if (!known.has(i)) {
        const { links_to: to = [], linked_by: by = {} } = await api.document_(data.ids[i], 0, LINKS);
        const at = (linked) => [...new Set(linked.slice(0, LINKS).map(({ id }) => rows.get(id)))].filter((row) => row !== undefined);
        known.set(i, { to: at(to), from: at(by.contexts ?? []) });
      }
    } catch { return; }
    if (plot.hover !== i) return;
    plot.links = known.get(i);
    plot.draw();
  });

  function hover(i, touched = false) {
    if (i !== plot.hover) plot.links = known.get(i);
    plot.hover = i;
    if (i >= 0 && !known.has(i)) ask();
    tip.classList.toggle('touched', touched);
    canvas.classList.toggle('on-point', i >= 0);
    tip.hidden = i < 0;
    if (i >= 0) {
      const [x, y] = plot.screen(i);
      const labels = data.label[i].map((label) => data.labels[label]).join(', ');
      tip.replaceChildren(el('b', {}, titles[i]), el('span', {}, [labels, plot.points.links[i] ? `${many(plot.points.links[i], 'link')} to it` : ''].filter(Boolean).join(' · ')),
        touched ? el('a', { href: route('document', data.ids[i]) }, 'Open') : '');
      const left = Math.max(8, Math.min(plot.width - tip.offsetWidth - 8, x + 14));
      tip.style.setProperty('left', `${left}px`);
      tip.style.setProperty('top', `${Math.max(8, Math.min(plot.height - tip.offsetHeight - 8, y + 14))}px`);
    }
    plot.draw();
  }
  const open = (i) => { if (i >= 0) location.hash = route('document', data.ids[i]); };

  // Fingers and the mouse: one moves, two zoom, one that does not move opens.
  const pointers = new Map();
  let travelled = 0;
  /** Pixels that do not count as a move. */
  const still = (event) => (event.pointerType === 'mouse' ? 4 : 10);
  const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (!pointers.size) travelled = 0;
    pointers.set(event.pointerId, at(event));
  });
  canvas.addEventListener('pointermove', (event) => {
    const [x, y] = at(event);
    const last = pointers.get(event.pointerId);
    if (!last) { const i = plot.at(x, y); if (i !== plot.hover) hover(i); return; }
    travelled += Math.hypot(x - last[0], y - last[1]);
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const far = (a) => Math.max(1, Math.hypot(a[0] - other[0], a[1] - other[1]));
      plot.zoom(far([x, y]) / far(last), (x + other[0]) / 2, (y + other[1]) / 2);
      plot.move((x - last[0]) / 2, (y - last[1]) / 2);
    } else if (travelled > still(event)) {
      hover(-1);
      canvas.classList.add('moving');
      plot.move(x - last[0], y - last[1]);
    }
    pointers.set(event.pointerId, [x, y]);
  });
  const up = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    canvas.classList.remove('moving');
    if (event.type === 'pointerup' && !pointers.size && travelled <= still(event)) {
      const touched = event.pointerType !== 'mouse';
      const i = plot.at(...at(event), touched ? 22 : 12);
      // A finger cannot hover: its first touch shows the title, the next one opens.
      if (touched && i !== plot.hover) hover(i, i >= 0); else open(i);
    }
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  // A finger leaves as soon as it is lifted; what it touched stays.
  canvas.addEventListener('pointerleave', (event) => { if (event.pointerType === 'mouse' && !pointers.size) hover(-1); });
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    plot.zoom(Math.exp(-Math.max(-200, Math.min(200, event.deltaY * lines)) * 0.002), ...at(event));
    hover(-1);
  }, { passive: false });
  // All over the view, wherever it was come from.
  const keys = (event) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    if (event.target.closest('input, textarea, select, details') || (event.key === 'Enter' && event.target.closest('a, button'))) return;
    if (step) plot.move(...step);
    else if (event.key === '+' || event.key === '=') plot.zoom(1.3);
    else if (event.key === '-' || event.key === '−') plot.zoom(1 / 1.3);
    else if (event.key === '0') plot.all();
    else if (event.key === 'Enter') open(plot.hover >= 0 ? plot.hover : middle());
    else return;
    event.preventDefault();
    if (event.key !== 'Enter') { const i = middle(); hover(i); if (i >= 0) say(titles[i]); }
  };
  document.addEventListener('keydown', keys);
  const middle = () => plot.at(plot.middle, plot.height / 2, 80);
  search.addEventListener('input', settled(100, highlight));
  group.addEventListener('change', () => { only = -1; colours(); highlight(); });

  // On a wide screen all of the map is to be seen beside what lies over it.
  const resize = () => {
    plot.covered = side.open && canvas.clientWidth > 800 ? side.offsetWidth + 16 : 0;
    plot.resize();
    hover(plot.hover, tip.classList.contains('touched'));
  };
  side.addEventListener('toggle', resize);
  const resized = new ResizeObserver(resize);
  resized.observe(canvas);
  addEventListener('theme', colours);
  colours();
  highlight();
  if (about) {
    plot.chosen = data.ids.indexOf(about);
    if (plot.chosen >= 0) { plot.show(plot.chosen, 6); hover(plot.chosen); titled(`${nameOf({ title: titles[plot.chosen], id: about })} on the map`); }
    else notice(`There is no document “${about}” on this map.`);
  }
  const leave = () => {
    resized.disconnect();
    ask.stop();
    removeEventListener('theme', colours);
    document.removeEventListener('keydown', keys);
  };
  // All is here: it stays as it is when the server comes back.
  leave.again = () => {};
  return leave;
}
