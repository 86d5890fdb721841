// The options of Suggest, tucked away: what to rank by, what may be a hit, what the text stands in.

import { el } from './dom.js';
import { finder } from './finder.js';

const TOLD = {
  hybrid: 'hybrid: all that follows, and more',
  embedding: 'embedding: what is linked to in such contexts',
  bm25: 'bm25: the documents’ own words',
  'bm25-cited': 'bm25-cited: and the words of links to them',
};
const kept = { rank: '', before: '', labels: [], source: '', whole: false };

/** `chosen(text)` gives what goes into a question; `changed` is called when it is another. */
export function filters(info, changed, source) {
  if (source) kept.source = source;
  const rank = el('select', { id: 'rank' }, (info.rankings ?? []).map((name) =>
    el('option', { value: name, selected: name === (kept.rank || info.ranking) }, TOLD[name] ?? name)));
  const dates = info.dates;
  const before = el('input', {
    id: 'before', type: 'text', inputmode: 'numeric', placeholder: dates ? String(dates.last).slice(0, 10) : '2009-06', value: kept.before,
    pattern: '[0-9]{1,4}(-[0-9]{2}){0,2}', title: 'a year, a month (2009-06) or a day (2009-06-30)', size: 10,
  });
  const labels = el('select', { id: 'labels', multiple: true, size: Math.min(5, (info.labels ?? []).length) || 1 },
    (info.labels ?? []).slice(0, 200).map(({ label, documents }) =>
      el('option', { value: label, selected: kept.labels.includes(label) }, `${label} (${documents})`)));
  const sources = finder('The document that the text stands in', (hit) => { kept.source = hit.id; update(); }, { placeholder: 'none', keep: true });
  const sourceBox = sources.querySelector('input');
  sourceBox.value = kept.source;
  const whole = el('input', { type: 'checkbox', id: 'whole', checked: kept.whole });
  const count = el('span', { class: 'count' });

  function told() {
    const used = [kept.rank && kept.rank !== info.ranking, kept.before, kept.labels.length, kept.source, kept.whole].filter(Boolean).length;
    count.textContent = used ? `${used} set` : '';
  }
  function update() {
    kept.rank = rank.value;
    kept.before = before.checkValidity() ? before.value.trim() : '';
    kept.labels = [...labels.selectedOptions].map((option) => option.value);
    kept.whole = whole.checked;
    told();
    changed();
  }
  for (const field of [rank, before, labels, whole]) field.addEventListener('change', update);
  sourceBox.addEventListener('input', () => { if (!sourceBox.value.trim() && kept.source) { kept.source = ''; update(); } });
  const clear = el('button', { type: 'button', on: { click: () => {
    rank.value = info.ranking;
    [before.value, sourceBox.value, kept.source, whole.checked] = ['', '', '', false];
    for (const option of labels.options) option.selected = false;
    update();
  } } }, 'Clear');
  told();
  const element = el('details', { class: 'options', open: Boolean(source) },
    el('summary', {}, 'Ranking and filters ', count),
    el('div', { class: 'fields' },
      el('label', {}, el('span', {}, 'Rank by'), rank),
      el('div', { class: 'field' }, el('span', {}, 'Stands in the document'), sources),
      el('label', { class: 'tick' }, whole, el('span', {}, 'What I write is the whole document: heed all of it')),
      dates && el('label', {}, el('span', {}, 'Only documents before'), before),
      (info.labels ?? []).length > 0 && el('label', {}, el('span', {}, 'Only with one of these labels'), labels),
      clear));

  return {
    element,
    chosen: (text) => ({
      ...(kept.rank && kept.rank !== info.ranking && { rank: kept.rank }),
      ...(kept.before && { before: kept.before }),
      ...(kept.labels.length && { only: kept.labels }),
      ...(kept.source ? { source: kept.source } : kept.whole && { source_text: text }),
    }),
  };
}
