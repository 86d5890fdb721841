// Suggest: a text box, and suggestions with reasons for a link at its cursor.

import * as api from './api.js';
import { el, empty, fixed, nameOf, percent, route, say, settled, toDocument, waiting, words } from './dom.js';
import { filters } from './filters.js';
import { SYNTAXES, insertion, links, place, unlinked } from './insert.js';
import { welcome } from './welcome.js';
import { AROUND, depth, largest, pieces, sharesOf } from './shade.js';

const SHOWN_WORDS = 7;
/** Suggestions shown, and asked for: what the text links to already is left out. */
const SHOWN = 10;
const TOP = 20;
/** Characters before the mark of a link that are shown, so that it is seen on a phone too. */
const BEFORE = 50;
const DRAFT = 'hd2v.draft';

const store = (name, value) => { try { sessionStorage.setItem(name, value); } catch { /* it lasts as long as the page */ } };
const stored = (name) => { try { return sessionStorage.getItem(name) ?? ''; } catch { return ''; } };
const state = { text: stored(DRAFT), caret: [0, 0], syntax: stored('hd2v.syntax') || 'wiki' };

export async function suggest(main, { info, about, failed, fine, current, titled, enter }) {
  titled('Suggest');
  let hits = [], ranking = '', active = 0, asked, last = '', first;

  const shades = el('div', { class: 'shades', 'aria-hidden': 'true' }, el('div'), el('div'), el('div'));
  const box = el('textarea', {
    id: 'text', spellcheck: 'true', 'aria-label': 'Your text', 'aria-describedby': 'text-hint',
    placeholder: 'Write or paste a paragraph. Suggestions for a link at the cursor appear as you type.',
  });
  const list = el('ol', { class: 'hits', id: 'hits', 'aria-label': 'Suggestions' });
  const note = el('p', { class: 'note', id: 'note' });
  const shown = (kind, level, text) => el('mark', { class: kind, 'data-level': level }, text);
  const key = el('p', { class: 'key', hidden: true }, 'Shaded words speak ', shown('for', 2, 'for'), ' ', shown('for', 4, 'the chosen suggestion'), ' or ', shown('against', 3, 'against'), ' it.');
  const syntax = el('select', { id: 'syntax', 'aria-label': 'Link format' },
    Object.entries(SYNTAXES).map(([name, text]) => el('option', { value: name, selected: name === state.syntax }, text)));
  const filter = filters(info, () => { last = ''; look(); }, about);

  /** The text before and behind the caret, without what would be taken for the place itself. */
  function around() {
    const caret = place(box.value, box.selectionEnd);
    const parts = [box.value.slice(Math.max(0, caret - AROUND), caret), box.value.slice(caret, caret + AROUND)];
    return parts.map((part) => unlinked(part.replaceAll('[[?]]', ' ')));
  }

  /** What is asked for the place at the caret. */
  const question = () => ({ text: around().join(' [[?]] '), explain: true, top: TOP, ...filter.chosen(box.value.replaceAll('[[?]]', ' ')) });

  async function ask() {
    if (!current()) return;
    store(DRAFT, box.value);
    if (!box.value.trim()) {
      asked?.abort();
      [hits, last] = [[], ''];
      show();
      return;
    }
    const wanted = question();
    const written = JSON.stringify(wanted);
    if (written === last) return;
    last = written;
    asked?.abort();
    asked = new AbortController();
    list.setAttribute('aria-busy', 'true');
    try {
      const answer = await api.recommend(wanted, asked.signal);
      if (last !== written) return;
      [hits, ranking] = [answer.hits.filter((hit) => !links(box.value, hit)).slice(0, SHOWN), answer.ranking];
      active = 0;
      show(answer);
      fine();
    } catch (error) {
      if (error.name === 'AbortError' || last !== written || !current()) return;
      last = '';
      if (error.kind === 'busy') { setTimeout(ask, error.wait); return; }
      hits = [];
      show({ reason: error.kind === 'gone' ? 'No answer from the server' : error.message });
      if (['gone', 'token'].includes(error.kind)) failed(error);
    } finally {
      if (last === written || !last) list.removeAttribute('aria-busy');
    }
  }

  /** The text behind the box, its words shaded by their share in the chosen hit. */
  function shade() {
    const hit = hits[active];
    const [text, caret] = [box.value, box.selectionEnd];
    // Three blocks, cut at ends of lines: the first and the last of a long text mostly stay as they are laid out.
    const start = caret > AROUND ? text.lastIndexOf('\n', caret - AROUND) + 1 : 0;
    const end = (text.indexOf('\n', caret + AROUND) + 1) || text.length;
    const near = text.slice(start, end);
    const parts = hit ? pieces(near, caret - start, info.window || 50, sharesOf(hit, ranking)) : [[near, 0]];
    const [before, middle, behind] = shades.children;
    const put = (block, rest) => { if (block.textContent !== rest) block.textContent = rest; };
    put(before, text.slice(0, start));
    middle.replaceChildren(...parts.map(([part, level]) => (level
      ? el('mark', { class: level > 0 ? 'for' : 'against', 'data-level': Math.abs(level) }, part) : part)));
    put(behind, `${text.slice(end)}\n`);
    shades.scrollTop = box.scrollTop;
  }

  function choose(number, by = '') {
    if (!hits.length) return;
    active = (number + hits.length) % hits.length;
    [...list.children].forEach((item, at) => {
      item.classList.toggle('active', at === active);
      item.querySelector('.insert').tabIndex = at === active ? 0 : -1;
    });
    const item = list.children[active];
    if (by === 'list') item.querySelector('.insert').focus();
    if (by === 'text') { item.scrollIntoView({ block: 'nearest' }); say(nameOf(hits[active])); }
    shade();
  }

  function insert(number = active) {
    const hit = hits[number];
    if (!hit) return;
    const [start, end] = [box.selectionStart, box.selectionEnd];
    const put = insertion(state.syntax, hit, box.value, start, end);
    box.focus();
    box.setSelectionRange(put.start, put.end);
    // This way it can be undone; where it is not there, it is put in all the same.
    if (!document.execCommand?.('insertText', false, put.text)) {
      box.setRangeText(put.text, put.start, put.end, 'end');
      typed();
    }
    say(`Linked to ${nameOf(hit)}`);
  }

  function show(answer) {
    const asked = new Set(words(around().join(' ')).map(([, , word]) => word));
    const point = (number) => { if (number !== active) choose(number); };
    list.replaceChildren(...hits.map((hit, number) => item(hit, number, asked, ranking, { point, insert })));
    if (hits.length) {
      const unknown = answer?.query?.unknown ?? [];
      const list = unknown.slice(0, 6).map((word) => word.word ?? word).join(', ');
      note.replaceChildren(unknown.length ? `Unknown to the model: ${list}${unknown.length > 6 ? ' …' : ''}` : '');
    } else if (box.value.trim()) {
      note.replaceChildren();
      list.append(el('li', { class: 'nothing' }, answer ? empty(answer.reason ? sentence(answer.reason) : 'No suggestions for this place.') : waiting()));
    } else {
      note.replaceChildren();
      list.append(el('li', { class: 'nothing first' }, first ??= welcome(info, take)));
    }
    note.hidden = !note.textContent;
    key.hidden = !hits.length;
    if (hits.length) choose(active); else shade();
  }

  /** Begins with a text, and the caret in it. */
  function take(text, caret) {
    box.value = text;
    box.focus();
    box.setSelectionRange(caret, caret);
    state.caret = [caret, caret];
    typed();
  }

  const look = settled(180, ask);
  function typed() {
    state.text = box.value;
    shade();
    look();
  }
  const moved = () => {
    if (document.activeElement !== box) return;
    state.caret = [box.selectionStart, box.selectionEnd];
    look();
  };

  box.addEventListener('input', typed);
  box.addEventListener('scroll', () => { shades.scrollTop = box.scrollTop; });
  document.addEventListener('selectionchange', moved);
  syntax.addEventListener('change', () => { state.syntax = syntax.value; store('hd2v.syntax', syntax.value); });
  box.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) insert();
    else if (step && event.altKey) choose(active + step, 'text');
    else return;
    event.preventDefault();
  });
  list.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose(active + step, 'list');
    else if (event.key === 'Home') choose(0, 'list');
    else if (event.key === 'End') choose(hits.length - 1, 'list');
    else if (event.key === 'o' && hits[active]) location.hash = route('document', hits[active].id);
    else if (event.key === 'Escape') box.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  main.replaceChildren(
    el('section', { class: 'write', 'aria-label': 'Text' },
      filter.chip,
      el('div', { class: 'editor' }, shades, box),
      key,
      el('div', { class: 'under' },
        el('label', { class: 'inline' }, 'Link format ', syntax),
        el('span', { id: 'text-hint', class: 'hint' }, el('kbd', {}, 'Ctrl'), ' ', el('kbd', {}, 'Enter'), ' inserts, ', el('kbd', {}, 'Alt'), ' ', el('kbd', {}, '↑'), el('kbd', {}, '↓'), ' chooses')),
      filter.element),
    el('section', { class: 'found', 'aria-label': 'Suggestions' }, note, list));
  box.value = state.text;
  show();
  enter(box);
  box.setSelectionRange(...(state.text && !state.caret[1] ? [state.text.length, state.text.length] : state.caret));
  ask();
  const leave = () => {
    look.stop();
    asked?.abort();
    store(DRAFT, box.value);
    document.removeEventListener('selectionchange', moved);
  };
  leave.again = () => { last = ''; ask(); };
  return leave;
}

const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

/** One suggestion. */
function item(hit, number, asked, ranking, { point, insert }) {
  const all = sharesOf(hit, ranking);
  const most = largest(all);
  const shares = all.filter(({ share }) => depth(share, most)).sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
  const chip = ({ word, share }) => el('li', {
    class: share < 0 ? 'against' : 'for', 'data-level': Math.abs(depth(share, most)),
    title: `${word}: ${share > 0 ? '+' : ''}${fixed(share, 3)}`,
  }, word);
  const probable = hit.probability !== undefined && hit.probability !== null;
  // A list that is drawn under a mouse at rest chooses nothing.
  const pointermove = (event) => { if (event.pointerType === 'mouse' && (event.movementX || event.movementY)) point(number); };
  return el('li', { class: 'hit', on: { pointermove, focusin: () => point(number), click: () => point(number) } },
    el('div', { class: 'head' },
      el('div', { class: 'what' },
        toDocument(hit, { class: 'title', title: 'Open (o)' }),
        el('span', { class: 'id' }, [hit.title && hit.title !== hit.id && hit.id, hit.date].filter(Boolean).join(' · '))),
      el('span', { class: 'score', title: probable ? 'probability that this is the right target' : `score of the ranking ${ranking}` },
        probable ? percent(hit.probability) : fixed(hit.score, 2), el('small', {}, probable ? ' likely' : ' score'),
        probable && el('span', { class: 'bar', 'aria-hidden': 'true', vars: { '--share': hit.probability } })),
      el('button', { type: 'button', class: 'insert', tabindex: number ? -1 : 0, 'aria-label': `Insert a link to ${nameOf(hit)}`, title: 'Insert a link (Enter)', on: { click: () => insert(number) } }, 'Insert')),
    shares.length > 0 && el('ul', { class: 'chips', 'aria-label': 'Words behind this suggestion' }, shares.slice(0, SHOWN_WORDS).map(chip),
      shares.length > SHOWN_WORDS && el('li', { class: 'more' }, `${shares.length - SHOWN_WORDS} more`)),
    (hit.contexts ?? []).slice(0, 2).map((context) => el('p', { class: 'context' },
      toDocument({ id: context.source, title: context.title }, { class: 'from' }), ' ', quoted(context.text, asked))));
}

/** The words around another link to the same document; those that the text has too are bold, `[this]` is the link. */
function quoted(text, asked) {
  const at = text.indexOf('[this]');
  const bold = (part) => {
    const out = [];
    let from = 0;
    for (const [start, end, word] of words(part)) {
      if (word.length < 4 || !asked.has(word)) continue;
      out.push(part.slice(from, start), el('b', {}, part.slice(start, end)));
      from = end;
    }
    return [...out, part.slice(from)];
  };
  if (at < 0) return bold(text);
  const before = text.slice(0, at);
  const short = before.length > BEFORE ? `… ${before.slice(-BEFORE).replace(/^\S*\s/, '')}` : before;
  return [...bold(short), el('span', { class: 'here' }, 'this'), ...bold(text.slice(at + 6))];
}
