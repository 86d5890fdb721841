// Draft: a whole text, with the places underlined where a link belongs, each accepted or dismissed by a key.

import * as api from './api.js';
import { el, empty, nameOf, percent, route, say, settled, toDocument, waiting } from './dom.js';
import { FORMATS, cut, formatOf, kept, nearest, placed } from './places.js';

/** Characters of a text that are sent, at the most. */
const LONGEST = 200000;
const THRESHOLDS = [0.9, 0.7, 0.5, 0.3, 0.1];
const store = (name, value) => { try { sessionStorage.setItem(name, value); } catch { /* it lasts as long as the page */ } };
const stored = (name) => { try { return sessionStorage.getItem(name); } catch { return null; } };

/** Drafts by the documents that they are; those without one share one. */
const drafts = new Map();

function draftOf(about) {
  const key = `hd2v.draft/${about ?? ''}`;
  if (!drafts.has(key)) {
    let draft;
    try { draft = JSON.parse(stored(key)); } catch { /* it is none of ours */ }
    drafts.set(key, { text: undefined, format: 'markdown', name: '', dismissed: [], ...draft });
  }
  const draft = drafts.get(key);
  return { draft, keep: () => store(key, JSON.stringify(draft)) };
}

export async function draft(main, { about, failed, fine, current, titled, enter }) {
  titled('Draft');
  const { draft: state, keep } = draftOf(about);
  let places = [], active = 0, asked, last = '', note = '', opened = false;

  if (about && state.text === undefined) {
    try {
      [state.text, state.format] = [(await api.text(about)).text, 'plain'];
    } catch (error) {
      if (error.kind !== 'unknown') throw error;
      note = `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
    }
    if (!current()) return undefined;
  }

  const marks = el('div', { class: 'shades places', 'aria-hidden': 'true' });
  const box = el('textarea', {
    id: 'draft', spellcheck: 'true', 'aria-label': 'Your draft', 'aria-describedby': 'draft-hint',
    placeholder: 'Write, paste or open a whole text. Places where a link belongs are underlined.',
  });
  const list = el('ol', { class: 'hits', id: 'proposals', 'aria-label': 'Proposed links' });
  const head = el('p', { class: 'note', id: 'proposed' });
  const format = el('select', { id: 'format' }, Object.entries(FORMATS).map(([name, text]) => el('option', { value: name, selected: name === state.format }, text)));
  const least = el('select', { id: 'least' }, THRESHOLDS.map((p) => el('option', { value: p, selected: p === 0.5 }, percent(p))));
  const file = el('input', { type: 'file', id: 'file', hidden: true, accept: '.md,.markdown,.mdx,.qmd,.tex,.rst,.html,.htm,.wiki,.mediawiki,.txt' });
  const again = el('button', { type: 'button', hidden: true, on: { click: () => { state.dismissed = []; [last, note] = ['', '']; ask(); } } }, 'Propose dismissed ones again');
  const chip = el('p', { class: 'writing', hidden: !about }, el('span', {}, 'Draft of:'), el('a', { href: route('document', about ?? '') }, about ?? ''));
  if (about) api.document_(about, 0, 1).then((found) => { chip.querySelector('a').textContent = nameOf(found); }, () => {});

  async function ask() {
    if (!current()) return;
    keep();
    asked?.abort();
    const text = box.value;
    if (!text.trim()) { [places, last] = [[], '']; show(); return; }
    const sent = text.length > LONGEST ? text.slice(0, LONGEST) : text;
    const wanted = { text: sent, format: format.value, path: about ?? (state.name || undefined), min_probability: Number(least.value), max: 200, never: state.dismissed };
    const written = JSON.stringify(wanted);
    if (written === last) return;
    last = written;
    asked = new AbortController();
    list.setAttribute('aria-busy', 'true');
    try {
      const { suggestions } = await api.suggest(wanted, asked.signal);
      if (last !== written) return;
      places = kept(sent, box.value, placed(sent, suggestions));
      active = nearest(places, box.selectionEnd);
      list.removeAttribute('aria-busy');
      note = sent.length < text.length ? `Only the first ${LONGEST.toLocaleString('en')} characters are looked at.` : '';
      show();
      // Of a text that was just opened, the first place is shown, which may be far below.
      if (opened) { opened = false; reveal(); }
      fine();
    } catch (error) {
      if (error.name === 'AbortError' || last !== written || !current()) return;
      last = '';
      if (error.kind === 'busy') { setTimeout(ask, error.wait); return; }
      places = [];
      note = error.kind === 'gone' ? 'No answer from the server.' : error.message;
      show();
      if (['gone', 'token'].includes(error.kind)) failed(error);
    } finally {
      if (last === written || !last) list.removeAttribute('aria-busy');
    }
  }

  /** The text behind the box, its places underlined. */
  function underline() {
    const parts = cut(box.value, places).map(([part, number]) => (number < 0 ? part
      : el('mark', { class: `place${number === active ? ' active' : ''}${part ? '' : ' gap'}`, 'data-number': number }, part)));
    marks.replaceChildren(...parts, '\n');
    marks.scrollTop = box.scrollTop;
  }

  /** Scrolls the text to the chosen place. */
  function reveal() {
    const mark = marks.querySelector('.active');
    if (!mark) return;
    const top = mark.offsetTop;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = Math.max(0, top - box.clientHeight / 3);
    marks.scrollTop = box.scrollTop;
  }

  function choose(number, by = '') {
    if (!places.length) return;
    active = (number + places.length) % places.length;
    [...list.children].forEach((item, at) => {
      item.classList.toggle('active', at === active);
      item.querySelector('.insert').tabIndex = at === active ? 0 : -1;
    });
    const item = list.children[active];
    if (by === 'list') item.querySelector('.insert').focus();
    if (by === 'text') { item.scrollIntoView({ block: 'nearest' }); say(`${places[active].words || 'here'}: ${places[active].title || places[active].id}`); }
    underline();
    if (by) reveal();
  }

  /** Takes a place away; the one behind it is chosen, in the list where that has the focus. */
  function without(number, listed) {
    places = places.filter((_, at) => at !== number);
    active = Math.max(0, Math.min(number, places.length - 1));
    show();
    if (!listed) return;
    if (places.length) choose(active, 'list'); else box.focus();
  }

  function accept(number = active) {
    const place = places[number];
    if (!place?.edit) return;
    const listed = list.contains(document.activeElement);
    const { start, end, text } = place.edit;
    const scrolled = box.scrollTop;
    box.focus();
    box.setSelectionRange(start, end);
    // This way it can be undone; where it is not there, it is put in all the same.
    if (!document.execCommand?.('insertText', false, text)) { box.setRangeText(text, start, end, 'end'); typed(); }
    box.scrollTop = scrolled;
    say(`Linked to ${place.title || place.id}`);
    // The text has changed, and with it the list.
    if (listed && places.length) choose(nearest(places, start), 'list');
  }

  function dismiss(number = active) {
    const place = places[number];
    if (!place) return;
    if (!state.dismissed.includes(place.id)) state.dismissed.push(place.id);
    say(`Dismissed ${place.title || place.id}`);
    without(number, list.contains(document.activeElement));
    look();
  }

  function show() {
    list.replaceChildren(...places.map((place, number) => item(place, number)));
    const count = places.length;
    head.textContent = count ? `${count} ${count === 1 ? 'link' : 'links'} proposed. ${note}` : '';
    head.hidden = !count;
    again.hidden = !state.dismissed.length;
    if (!count) {
      const text = note || (box.value.trim() ? 'No link is proposed.' : 'Proposed links appear here.');
      list.append(el('li', { class: 'nothing' }, last && list.getAttribute('aria-busy') ? waiting() : empty(text)));
    }
    if (count) choose(active); else underline();
  }

  function item(place, number) {
    const target = { id: place.id, title: place.title };
    const point = () => { if (number !== active) choose(number); };
    return el('li', { class: 'hit', on: { focusin: point, click: () => { choose(number, 'mouse'); } } },
      el('div', { class: 'head' },
        el('div', { class: 'what' },
          el('span', { class: 'words' }, place.words || 'here', ' → '), toDocument(target, { class: 'target' }),
          el('span', { class: 'id' }, `line ${place.line} · ${place.why}`)),
        el('span', { class: 'score', title: 'probability of a link here, to this document' }, percent(place.probability),
          el('span', { class: 'bar', 'aria-hidden': 'true', vars: { '--share': place.probability } })),
        el('button', { type: 'button', class: 'insert', tabindex: number ? -1 : 0, disabled: !place.edit, 'aria-label': `Link ${place.words || 'here'} to ${nameOf(target)}`, title: place.edit ? 'Accept (Enter)' : 'Its syntax cannot stand here', on: { click: (event) => { event.stopPropagation(); accept(number); } } }, 'Link'),
        el('button', { type: 'button', class: 'dismiss', tabindex: -1, 'aria-label': `Dismiss ${nameOf(target)}`, title: 'Dismiss (Delete)', on: { click: (event) => { event.stopPropagation(); dismiss(number); } } }, '×')));
  }

  const look = settled(400, ask);
  function typed() {
    const before = state.text ?? '';
    state.text = box.value;
    // An answer that is under way belongs to another text.
    asked?.abort();
    last = '';
    places = kept(before, box.value, places);
    active = Math.max(0, Math.min(active, places.length - 1));
    show();
    look();
  }

  box.addEventListener('input', typed);
  box.addEventListener('scroll', () => { marks.scrollTop = box.scrollTop; });
  // What was proposed would be put in as the other format wants it.
  format.addEventListener('change', () => { [state.format, places] = [format.value, []]; show(); ask(); });
  least.addEventListener('change', ask);
  file.addEventListener('change', async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    const text = await chosen.text();
    if (text.includes('\0')) { note = `${chosen.name} is no text.`; places = []; show(); return; }
    [box.value, state.name, format.value] = [text, chosen.name, formatOf(chosen.name)];
    [state.format, state.dismissed, places, opened] = [format.value, [], [], true];
    typed();
    box.focus();
    box.setSelectionRange(0, 0);
    box.scrollTop = 0;
  });
  const over = (event) => { if ([...event.dataTransfer?.types ?? []].includes('Files')) event.preventDefault(); };
  box.addEventListener('dragover', over);
  box.addEventListener('drop', (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    file.files = event.dataTransfer.files;
    file.dispatchEvent(new Event('change'));
  });
  box.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) accept();
    else if (step && event.altKey) choose(active + step, 'text');
    else if (event.key === 'Delete' && event.altKey) dismiss();
    else return;
    event.preventDefault();
  });
  box.addEventListener('click', () => {
    const at = places.findIndex(({ start, end }) => start <= box.selectionEnd && box.selectionEnd <= end);
    if (at >= 0 && box.selectionStart === box.selectionEnd) choose(at, 'text');
  });
  list.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose(active + step, 'list');
    else if (event.key === 'Home') choose(0, 'list');
    else if (event.key === 'End') choose(places.length - 1, 'list');
    else if (event.key === 'Delete' || event.key === 'x') dismiss();
    else if (event.key === 'o' && places[active]) location.hash = route('document', places[active].id);
    else if (event.key === 'Escape') box.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  const open = el('button', { type: 'button', title: 'Open a file', on: { click: () => file.click() } }, 'Open');
  const copy = el('button', { type: 'button', title: 'Copy the text', on: { click: async () => {
    try { await navigator.clipboard.writeText(box.value); } catch { box.select(); document.execCommand?.('copy'); }
    say('Copied');
    copy.textContent = 'Copied';
    setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
  } } }, 'Copy');
  main.replaceChildren(
    el('section', { class: 'write', 'aria-label': 'Draft' },
      chip,
      el('div', { class: 'under' }, el('span', { class: 'row' }, open, file, copy),
        el('label', { class: 'inline' }, 'Format ', format), el('label', { class: 'inline' }, 'At least ', least)),
      el('div', { class: 'editor' }, marks, box),
      el('div', { class: 'under' },
        el('span', { id: 'draft-hint', class: 'hint' }, el('kbd', {}, 'Ctrl'), ' ', el('kbd', {}, 'Enter'), ' links, ', el('kbd', {}, 'Alt'), ' ', el('kbd', {}, 'Delete'), ' dismisses, ', el('kbd', {}, 'Alt'), ' ', el('kbd', {}, '↑'), el('kbd', {}, '↓'), ' chooses'),
        again)),
    el('section', { class: 'found', 'aria-label': 'Proposed links' }, head, list));
  box.value = state.text ?? '';
  state.text = box.value;
  show();
  enter(box);
  box.setSelectionRange(0, 0);
  box.scrollTop = 0;
  ask();
  const leave = () => {
    look.stop();
    asked?.abort();
    keep();
  };
  leave.again = () => { last = ''; ask(); };
  return leave;
}
