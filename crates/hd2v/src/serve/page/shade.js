// Which words of a text made a hit: pieces of it with their shares, for the layer behind the text box.

import { words } from './dom.js';

/** The shares that the ranking went by: of the embedding where it had a say, else of BM25. */
export function sharesOf(hit, ranking) {
  const first = ranking.startsWith('bm25') ? hit.bm25 : hit.why;
  const shares = first?.length ? first : hit.why?.length ? hit.why : hit.bm25 ?? [];
  return shares;
}

/** `[text, level]` pieces, level −4 to 4; only words within `window` words of the caret count. */
export function pieces(text, caret, window, shares) {
  const levels = new Map();
  const most = shares.reduce((most, { share }) => Math.max(most, Math.abs(share)), 0);
  for (const { word, share } of shares) levels.set(word.toLowerCase(), Math.sign(share) * Math.min(4, Math.round(4 * Math.abs(share) / (most || 1))));
  const all = words(text);
  const middle = all.findIndex(([start]) => start >= caret);
  const here = middle < 0 ? all.length : middle;
  const out = [];
  let from = 0;
  for (const [start, end, word] of all.slice(Math.max(0, here - window), here + window)) {
    const level = levels.get(word) ?? 0;
    if (!level) continue;
    out.push([text.slice(from, start), 0], [text.slice(start, end), level]);
    from = end;
  }
  out.push([text.slice(from), 0]);
  return out.filter(([piece]) => piece);
}
