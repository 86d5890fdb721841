// The options of Suggest: the ranking, filters on suggestions, and the document that the text is part of.

import * as api from './api.js';
import { el, nameOf, route, settled } from './dom.js';
import { finder } from './finder.js';

const TOLD = {
  hybrid: 'hybrid: learnt from the links of this collection (best)',
  embedding: 'embedding: linked to in similar contexts',
  bm25: 'bm25: words of the documents',
  'bm25-cited': 'bm25-cited: words of the documents and of the links to them',
};
const DATES = 'a year, a month (2009-06) or a day (2009-06-30)';
const kept = { rank: '', before: '', labels: [], whole: false };

/** Whether this is a date as the server reads it. */
function dated(text) {
  const [, month = 1, day = 1] = /^\d{1,4}(?:-(\d\d)(?:-(\d\d))?)?$/.exec(text) ?? [0, 0];
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/** `chosen(text)` gives what goes into a question; `changed` is called when it is another; `source` is the id in the address. */
export function filters(info, changed, source) {
  const rank = el('select', { id: 'rank' }, (info.rankings ?? []).map((name) =>
    el('option', { value: name, selected: name === (kept.rank || info.ranking) }, TOLD[name] ?? name)));
  const dates = info.dates;
  const before = el('input', {
    id: 'before', type: 'text', inputmode: 'numeric', placeholder: dates ? String(dates.last).slice(0, 10) : '2009-06', value: kept.before,
    title: DATES, 'aria-describedby': 'before-wrong',
  });
  const wrong = el('span', { class: 'wrong', id: 'before-wrong', role: 'status' });
  const labels = (info.labels ?? []).slice(0, 200).map(({ label, documents }) =>
    [label, documents, el('input', { type: 'checkbox', value: label, checked: kept.labels.includes(label) })]);
  const sources = finder('The document that the text is part of', writeIn, { placeholder: 'Title or id' });
  const whole = el('input', { type: 'checkbox', id: 'whole', checked: kept.whole });
  const count = el('span', { class: 'count' });
  const chip = el('p', { class: 'writing', hidden: true });

  /** Sets the document that contains the text; the address keeps it. */
  function tell(document, more = '') {
    source = document?.id;
    chip.hidden = !document;
    if (!document) return;
    chip.replaceChildren(el('span', {}, 'Writing in:'), el('a', { href: route('document', source) }, nameOf(document)), more,
      el('button', { type: 'button', class: 'icon', 'aria-label': 'Stop writing in this document', title: 'Stop writing in this document', on: { click: () => writeIn() } }, '×'));
  }
  function writeIn(document) {
    history.replaceState(null, '', document ? route('suggest', document.id) : route('suggest'));
    tell(document);
    update();
  }
  if (source) {
    tell({ id: source });
    const id = source;
    api.document_(id, 0, 1).then((found) => { if (source === id) tell(found); },
      (error) => { if (source === id && error.kind === 'unknown') tell({ id }, ' (not in this collection)'); });
  }

  function showCount() {
    const used = [kept.rank && kept.rank !== info.ranking, kept.before, kept.labels.length, source, kept.whole].filter(Boolean).length;
    count.textContent = used ? `${used} set` : '';
  }
  function update() {
    kept.rank = rank.value;
    const date = before.value.trim();
    const sound = !date || dated(date);
    kept.before = sound ? date : '';
    before.setAttribute('aria-invalid', String(!sound));
    wrong.textContent = sound ? '' : `Ignored: enter ${DATES}.`;
    kept.labels = labels.filter(([, , box]) => box.checked).map(([label]) => label);
    kept.whole = whole.checked;
    showCount();
    changed();
  }
  const boxes = labels.map(([, , box]) => box);
  for (const field of [rank, before, whole, ...boxes]) field.addEventListener('change', update);
  before.addEventListener('input', settled(400, update));
  const clear = el('button', { type: 'button', on: { click: () => {
    rank.value = info.ranking;
    [before.value, whole.checked] = ['', false];
    for (const box of boxes) box.checked = false;
    writeIn();
  } } }, 'Clear');
  showCount();
  const element = el('details', { class: 'options' },
    el('summary', {}, 'Ranking and filters ', count),
    el('div', { class: 'fields' },
      el('label', {}, el('span', {}, 'Rank by'), rank),
      el('div', { class: 'field' }, el('span', {}, 'The text is part of'), sources),
      el('label', { class: 'tick' }, whole, el('span', {}, 'The text is a whole document: use all of it, not just the words around the cursor')),
      dates && el('label', {}, el('span', {}, 'Only documents dated before'), before, wrong),
      labels.length > 0 && el('div', { class: 'field' }, el('span', {}, 'Only with one of these labels'),
        el('div', { class: 'ticks', id: 'labels', role: 'group', 'aria-label': 'Only with one of these labels' }, labels.map(([label, documents, box]) =>
          el('label', { class: 'tick' }, box, el('span', {}, `${label} (${documents})`))))),
      clear));

  return {
    element, chip,
    chosen: (text) => ({
      ...(kept.rank && kept.rank !== info.ranking && { rank: kept.rank }),
      ...(kept.before && { before: kept.before }),
      ...(kept.labels.length && { only: kept.labels }),
      ...(source ? { source } : kept.whole && { source_text: text }),
    }),
  };
}
