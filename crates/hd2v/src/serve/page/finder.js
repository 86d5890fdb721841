// The box that finds documents by title or id: a combobox with a list below it.

import * as api from './api.js';
import { el, nameOf, settled } from './dom.js';

let boxes = 0;

/** A box; `chosen(document)` is called with what was picked. */
export function finder(label, chosen, { placeholder = 'Find a document' } = {}) {
  const id = `found-${boxes += 1}`;
  let hits = [], active = -1, asked;
  const list = el('ul', { id, role: 'listbox', 'aria-label': 'Documents found', hidden: true });
  const input = el('input', {
    type: 'search', placeholder, role: 'combobox', autocomplete: 'off', spellcheck: 'false', 'aria-label': label,
    'aria-expanded': 'false', 'aria-controls': id, 'aria-autocomplete': 'list',
  });
  const close = () => {
    look.stop();
    asked?.abort();
    list.hidden = true;
    active = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const pick = (hit) => { input.value = ''; input.blur(); chosen(hit); };
  const show = () => {
    list.replaceChildren(...hits.map((hit, number) => el('li', {
      id: `${id}-${number}`, role: 'option', 'aria-selected': String(number === active),
      on: { mousedown: (event) => { event.preventDefault(); pick(hit); } },
    }, el('span', { class: 'title' }, nameOf(hit)), el('span', { class: 'id' }, [hit.id, hit.date].filter(Boolean).join(' · ')))));
    if (!hits.length) list.append(el('li', { class: 'none', role: 'option', 'aria-disabled': 'true' }, 'No document has that title or id.'));
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    if (active >= 0) {
      input.setAttribute('aria-activedescendant', `${id}-${active}`);
      list.children[active].scrollIntoView({ block: 'nearest' });
    }
  };
  const look = settled(120, async () => {
    asked?.abort();
    const text = input.value.trim();
    if (!text) return close();
    asked = new AbortController();
    try {
      hits = (await api.search(text, asked.signal)).hits;
      active = hits.length ? 0 : -1;
      if (document.activeElement === input) show();
    } catch (error) {
      if (error.name !== 'AbortError') input.dispatchEvent(new CustomEvent('trouble', { bubbles: true, detail: error }));
    }
  });
  input.addEventListener('input', look);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.length && !list.hidden) {
      active = (active + step + hits.length) % hits.length;
      show();
    } else if (event.key === 'Enter' && !list.hidden && hits[active]) pick(hits[active]);
    else if (event.key === 'Escape') { if (list.hidden) input.blur(); else close(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return el('div', { class: 'combo' }, input, list);
}
