// Words: the words nearest to a word, and the documents that it points to.

import * as api from './api.js';
import { apart, el, empty, fixed, route, toDocument, waiting } from './dom.js';

export async function words(main, { about, titled, current, failed, enter }) {
  titled(about ? `“${about}”` : 'Words');
  const input = el('input', { type: 'search', name: 'word', 'aria-label': 'Word', placeholder: 'Word', value: about ?? '', autocomplete: 'off', spellcheck: 'false' });
  const form = el('form', { class: 'ask', role: 'search', on: { submit: (event) => {
    event.preventDefault();
    const word = input.value.trim();
    if (word) location.hash = route('words', word);
  } } }, input, el('button', { class: 'primary' }, 'Look up'));
  const body = el('div', { class: 'cards' });
  main.replaceChildren(el('div', { class: 'middle' }, el('h1', {}, about ? `“${about}”` : 'Which word?'), form), body);
  if (!about) {
    body.replaceWith(empty('Shows the words that are used in similar ways, those that occur among the same words, and the documents that a word leads to.'));
    enter(input);
    return undefined;
  }
  // The model has words in lower case, unless its corpus was imported with --keep-case.
  const near = async (by) => {
    try { return await api.near(about, by); } catch (error) {
      if (error.kind !== 'unknown' || about === about.toLowerCase()) throw error;
      return api.near(about.toLowerCase(), by);
    }
  };
  const look = async () => {
    body.replaceChildren(waiting());
    try {
      const [inside, outside] = await Promise.all([near('in'), near('out').catch((error) => ({ hits: [], reason: error.message }))]);
      body.replaceChildren(
        card('Used in similar ways', 'similarity', 'cosine of IN vectors', inside.hits.map(word), inside.reason),
        card('Found among the same words', 'similarity', 'cosine of OUT vectors', outside.hits.map(word), outside.reason),
        card('Leads to', 'score', 'documents that are linked to with this word: its IN vector times their OUT vectors', apart(inside.documents ?? []).map(pointed)));
    } catch (error) {
      if (!current()) return;
      const several = /\s/.test(about) ? ' Look up one word at a time.' : '';
      body.replaceChildren(empty(error.kind === 'unknown' ? `The model does not know “${about}”.${several}` : error.message));
      if (error.kind !== 'unknown') failed(error);
    }
  };
  look();
  const leave = () => {};
  leave.again = look;
  return leave;
}

// Bars are as long as their share of the first one.
const meter = (hit, all, digits) => el('span', { class: 'meter', vars: { '--share': Math.max(0, Math.min(1, hit.score / (all[0].score || 1))) } }, fixed(hit.score, digits));
const word = (hit, _, all) => el('li', {}, el('a', { href: route('words', hit.word) }, hit.word), meter(hit, all, 2));
const pointed = (hit, _, all) => el('li', {}, toDocument(hit), meter(hit, all, 1));
const card = (title, more, tip, rows, reason) => el('section', { class: 'card' }, el('h2', {}, el('span', { class: 'tipped', title: tip }, title), ' ', el('small', {}, more)),
  rows.length ? el('ul', { class: 'rows' }, rows) : empty(reason ?? 'None.'));
