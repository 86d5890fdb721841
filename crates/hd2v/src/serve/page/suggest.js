// Suggest: a text box, and what the place at its caret should link to, with reasons.

import * as api from './api.js';
import { el, empty, nameOf, percent, route, say, settled, toDocument, words } from './dom.js';
import { filters } from './filters.js';
import { SYNTAXES, insertion } from './insert.js';
import { depth, largest, pieces, sharesOf } from './shade.js';

/** Characters on each side of the caret that are sent: far more than a window of words. */
const AROUND = 4000;
const SHOWN_WORDS = 7;
const DRAFT = 'hd2v.draft';

const store = (name, value) => { try { sessionStorage.setItem(name, value); } catch { /* it lasts as long as the page */ } };
const stored = (name) => { try { return sessionStorage.getItem(name) ?? ''; } catch { return ''; } };
const state = { text: stored(DRAFT), caret: [0, 0], syntax: stored('hd2v.syntax') || 'wiki' };

export async function suggest(main, { info, about, failed, titled }) {
  titled('Suggest');
  let hits = [], ranking = '', active = 0, asked, last = '';

  const shades = el('div', { class: 'shades', 'aria-hidden': 'true' });
  const box = el('textarea', {
    id: 'text', spellcheck: 'true', 'aria-label': 'Your text', 'aria-describedby': 'text-hint',
    placeholder: 'Write or paste a paragraph. What it should link to at the caret appears while you type.',
  });
  const list = el('ol', { class: 'hits', id: 'hits', 'aria-label': 'Suggestions' });
  const note = el('p', { class: 'note', id: 'note' });
  const syntax = el('select', { id: 'syntax', 'aria-label': 'How links are written' },
    Object.entries(SYNTAXES).map(([name, text]) => el('option', { value: name, selected: name === state.syntax }, text)));
  const filter = filters(info, () => { last = ''; look(); }, about);

  /** What is asked for the place at the caret. */
  function question() {
    const caret = box.selectionEnd;
    const [from, to] = [Math.max(0, caret - AROUND), caret + AROUND];
    const text = `${box.value.slice(from, caret)} [[?]] ${box.value.slice(caret, to)}`;
    return { text, explain: true, ...filter.chosen(box.value) };
  }

  async function ask() {
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
      [hits, ranking] = [answer.hits, answer.ranking];
      active = 0;
      show(answer);
      document.getElementById('trouble').hidden = true;
    } catch (error) {
      if (error.name === 'AbortError' || last !== written) return;
      last = '';
      if (error.kind === 'busy') setTimeout(ask, error.wait);
      else if (['gone', 'token'].includes(error.kind)) failed(error);
      else { hits = []; show({ reason: error.message }); }
    } finally {
      if (last === written || !last) list.removeAttribute('aria-busy');
    }
  }

  /** The text behind the box, its words shaded by their share in the chosen hit. */
  function shade() {
    const hit = hits[active];
    const parts = hit ? pieces(box.value, box.selectionEnd, info.window || 50, sharesOf(hit, ranking)) : [[box.value, 0]];
    shades.replaceChildren(...parts.map(([text, level]) => (level
      ? el('mark', { class: level > 0 ? 'for' : 'against', 'data-level': Math.abs(level) }, text) : text)), '\n');
    shades.scrollTop = box.scrollTop;
  }

  function choose(number, focus = false) {
    if (!hits.length) return;
    active = (number + hits.length) % hits.length;
    [...list.children].forEach((item, at) => {
      item.classList.toggle('active', at === active);
      item.querySelector('.insert').tabIndex = at === active ? 0 : -1;
    });
    const item = list.children[active];
    if (focus) item.querySelector('.insert').focus();
    else if (document.activeElement === box) { item.scrollIntoView({ block: 'nearest' }); say(nameOf(hits[active])); }
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

  function show(answer = {}) {
    const asked = new Set(words(box.value).map(([, , word]) => word));
    list.replaceChildren(...hits.map((hit, number) => item(hit, number, asked, ranking, { choose, insert })));
    if (hits.length) {
      const unknown = answer.query?.unknown ?? [];
      const list = unknown.slice(0, 6).map((word) => word.word ?? word).join(', ');
      note.replaceChildren(unknown.length ? `Not known to the model: ${list}${unknown.length > 6 ? ' …' : ''}` : '');
    } else if (box.value.trim()) {
      note.replaceChildren();
      list.append(el('li', { class: 'nothing' }, empty(answer.reason ? sentence(answer.reason) : 'Nothing found for this place.')));
    } else {
      note.replaceChildren();
      list.append(el('li', { class: 'nothing' }, empty('Suggestions appear here while you type. The words that made a suggestion are shaded in your text.')));
    }
    note.hidden = !note.textContent;
    if (hits.length) choose(active); else shade();
  }

  const look = settled(180, ask);
  function typed() {
    state.text = box.value;
    store(DRAFT, box.value);
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
    else if (step && event.altKey) choose(active + step);
    else return;
    event.preventDefault();
  });
  list.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose(active + step, true);
    else if (event.key === 'Home') choose(0, true);
    else if (event.key === 'End') choose(hits.length - 1, true);
    else if (event.key === 'o' && hits[active]) location.hash = route('document', hits[active].id);
    else if (event.key === 'Escape') box.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  main.replaceChildren(
    el('section', { class: 'write', 'aria-label': 'Text' },
      el('div', { class: 'editor' }, shades, box),
      el('div', { class: 'under' },
        el('label', { class: 'inline' }, 'Links as ', syntax),
        el('span', { id: 'text-hint', class: 'hint' }, el('kbd', {}, 'Ctrl'), ' ', el('kbd', {}, 'Enter'), ' inserts, ', el('kbd', {}, 'Alt'), ' ', el('kbd', {}, '↑'), el('kbd', {}, '↓'), ' chooses')),
      filter.element),
    el('section', { class: 'found', 'aria-label': 'Suggestions' }, note, list));
  box.value = state.text;
  show();
  box.focus();
  box.setSelectionRange(...(state.text && !state.caret[1] ? [state.text.length, state.text.length] : state.caret));
  ask();
  return () => { asked?.abort(); document.removeEventListener('selectionchange', moved); };
}

const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

/** One suggestion. */
function item(hit, number, asked, ranking, { choose, insert }) {
  const all = sharesOf(hit, ranking);
  const most = largest(all);
  const shares = all.filter(({ share }) => depth(share, most)).sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
  const chip = ({ word, share }) => el('li', {
    class: share < 0 ? 'against' : 'for', 'data-level': Math.abs(depth(share, most)),
    title: `${word}: ${share > 0 ? '+' : ''}${share.toFixed(3)}`,
  }, word);
  const probable = hit.probability !== undefined && hit.probability !== null;
  return el('li', { class: 'hit', on: { mouseenter: () => choose(number), focusin: () => choose(number) } },
    el('div', { class: 'head' },
      el('button', { type: 'button', class: 'insert', tabindex: number ? -1 : 0, title: 'Insert a link (Enter)', on: { click: () => insert(number) } },
        el('span', { class: 'title' }, nameOf(hit)),
        el('span', { class: 'id' }, [hit.title && hit.id, hit.date].filter(Boolean).join(' · '))),
      el('span', { class: 'score', title: probable ? 'the probability that this is what is linked to' : `score by ${ranking}` },
        probable ? percent(hit.probability) : hit.score.toFixed(2),
        probable && el('span', { class: 'bar', 'aria-hidden': 'true', vars: { '--share': hit.probability } })),
      el('a', { class: 'open', href: route('document', hit.id), 'aria-label': `Open ${nameOf(hit)}`, title: 'Open (o)' }, '→')),
    shares.length > 0 && el('ul', { class: 'chips', 'aria-label': 'Words that made it' }, shares.slice(0, SHOWN_WORDS).map(chip),
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
  return at < 0 ? bold(text) : [...bold(text.slice(0, at)), el('span', { class: 'here' }, 'this'), ...bold(text.slice(at + 6))];
}
