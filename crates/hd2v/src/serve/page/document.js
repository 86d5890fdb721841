// Document: the links to it with their contexts, its own links, links it might have, and similar documents.

import * as api from './api.js';
import { address, apart, el, empty, fixed, many, nameOf, percent, route, thousands, toDocument, waiting } from './dom.js';
import { finder } from './finder.js';
import { prose } from './prose.js';

const CONTEXTS = 10;
const opened = [];

export async function document_(main, { about, info, current, titled, failed, enter }) {
  if (!about) return choose(main, { info, titled, enter });
  let found;
  try { found = await api.document_(about, 0, CONTEXTS); } catch (error) {
    if (error.kind !== 'unknown') throw error;
  }
  if (!current()) return undefined;
  if (!found) return choose(main, { info, titled, enter, missing: about });
  titled(nameOf(found));
  const before = opened.findIndex(({ id }) => id === found.id);
  if (before >= 0) opened.splice(before, 1);
  opened.unshift({ id: found.id, title: found.title });
  opened.length = Math.min(opened.length, 12);

  const url = address(found.url);
  const head = el('header', { class: 'about' },
    el('h1', {}, nameOf(found)),
    el('p', { class: 'facts' },
      found.title && found.title !== found.id && el('code', {}, found.id),
      found.date && el('span', {}, found.date),
      (found.labels ?? []).map((label) => el('span', { class: 'label' }, label))),
    el('p', { class: 'actions' },
      url && el('a', { class: 'itself', href: url, target: '_blank', rel: 'noopener noreferrer' }, 'Open the page itself ↗'),
      el('a', { href: route('map', found.id) }, 'Show on the map'),
      el('a', { href: route('draft', found.id) }, 'Suggest links in it'),
      el('a', { href: route('suggest', found.id) }, 'Write in it')));
  const card = (...parts) => asked({ current, failed }, ...parts);
  main.replaceChildren(head, el('div', { class: 'cards' },
    found.excerpt && beginning(found),
    linkedBy(found),
    card(tipped('Might link to', 'and does not yet; by its most distinctive words'), 'probability', () => api.suggestions(found.id), suggested, 'No suggestions found.'),
    linksTo(found),
    card(tipped('Says similar things', 'cosine of IN vectors: documents as sources of links'), 'similarity', () => api.similar(found.id, 'in'), nearBy, 'No similar documents found.'),
    card(tipped('Linked in similar contexts', 'cosine of OUT vectors: documents as targets of links'), 'similarity', () => api.similar(found.id, 'out'), nearBy, 'No similar documents found.')));
  return undefined;
}

/** No document yet, or none of that id. */
function choose(main, { info, titled, enter, missing }) {
  titled(missing ? 'Not found' : 'Document');
  const box = finder('Find a document by its title or id', (hit) => { location.hash = route('document', hit.id); }, { placeholder: 'Title or id' });
  main.replaceChildren(el('div', { class: 'middle' },
    el('h1', {}, missing ? 'No such document' : 'Which document?'),
    missing && empty(`There is no document “${missing}” in this collection.`),
    box,
    empty(`${thousands(info.documents)} documents, ${thousands(info.links)} links. Or choose one on the `, el('a', { href: '#/map' }, 'map'), '.'),
    opened.length > 0 && el('section', { class: 'card' }, el('h2', {}, 'Recently opened'), el('ul', { class: 'rows' }, apart(opened).map((one) => el('li', {}, toDocument(one)))))));
  enter(box.querySelector('input'));
  const leave = () => {};
  // What is typed here stays when the server comes back.
  if (!missing) leave.again = () => {};
  return leave;
}

const heading = (title, more) => el('h2', {}, title, ' ', el('small', {}, more));
/** A heading that says more to those who ask. */
const tipped = (title, tip) => el('span', { class: 'tipped', title: tip }, title);

/** A card that is filled when its answer comes. */
function asked({ current, failed }, title, more, ask, row, nothing) {
  const body = el('div', {}, waiting());
  const fill = () => current() && ask().then(
    ({ hits, reason }) => body.replaceChildren(hits.length ? el('ul', { class: 'rows' }, apart(hits).map((hit) => row(hit, hits))) : empty(reason ?? nothing)),
    (error) => {
      if (error.kind === 'busy') { setTimeout(fill, error.wait); return; }
      body.replaceChildren(empty(error.message));
      if (error.kind === 'gone' && current()) failed(error);
    });
  fill();
  return el('section', { class: 'card' }, heading(title, more), body);
}

const meter = (share, text) => el('span', { class: 'meter', title: text, vars: { '--share': Math.max(0, Math.min(1, share)) } }, text);
// Bars are as long as their share of the largest one, so that they can be told apart; the numbers are as they are.
const largest = (hits, of) => Math.max(...hits.map(of), 1e-6);
const nearBy = (hit, hits) => el('li', {}, toDocument(hit), meter(hit.score / largest(hits, ({ score }) => score), fixed(hit.score, 2)));
const suggested = (hit, hits) => (hit.probability === undefined ? nearBy(hit, hits)
  : el('li', {}, toDocument(hit), meter(hit.probability / largest(hits, ({ probability }) => probability), percent(hit.probability))));

/** The beginning of its text, and the rest on demand. */
function beginning(found) {
  const body = el('div', { class: 'prose' }, prose(found.excerpt));
  const more = el('button', { type: 'button', on: { click: async () => {
    more.disabled = true;
    try {
      body.replaceChildren(...prose((await api.text(found.id)).text));
      more.remove();
    } catch (error) {
      more.disabled = false;
      more.dispatchEvent(new CustomEvent('trouble', { bubbles: true, detail: error }));
    }
  } } }, 'Show all of it');
  return el('section', { class: 'card text' }, heading('Text'), body, found.excerpt.endsWith(' …') && more);
}

function linksTo({ links_to: links = [] }) {
  const row = (target) => el('li', {}, toDocument(target), target.links > 1 && el('span', { class: 'times' }, `${target.links} times`));
  const all = apart(links), shown = all.slice(0, 12), more = all.slice(12);
  return el('section', { class: 'card' }, heading('Links to', many(links.length, 'document')),
    links.length ? el('ul', { class: 'rows' }, shown.map(row)) : empty('It links to no document of this collection.'),
    more.length > 0 && el('details', {}, el('summary', {}, `${thousands(more.length)} more`), el('ul', { class: 'rows' }, more.map(row))));
}

function linkedBy(found) {
  const { total = 0, contexts = [] } = found.linked_by ?? {};
  const row = (context) => el('li', { class: 'context' }, toDocument(context, { class: 'from' }), ' ',
    `… ${context.before} `, el('span', { class: 'here' }, 'this'), ` ${context.after} …`);
  const list = el('ul', { class: 'contexts' }, contexts.map(row));
  let shown = contexts.length;
  const more = el('button', { type: 'button', hidden: shown >= total, on: { click: async () => {
    more.disabled = true;
    try {
      const next = (await api.document_(found.id, shown, CONTEXTS)).linked_by.contexts;
      list.append(...next.map(row));
      shown += next.length;
      more.hidden = !next.length || shown >= total;
    } catch (error) {
      more.dispatchEvent(new CustomEvent('trouble', { bubbles: true, detail: error }));
    }
    more.disabled = false;
  } } }, 'Show more');
  return el('section', { class: 'card wide' }, heading('Linked by', many(total, 'link')),
    total ? list : empty('No document links to it yet.'), more);
}
