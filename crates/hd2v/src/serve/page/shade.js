// The text in pieces, each with the share of its word in a hit's score, for the shaded layer behind the text box.

import { words } from './dom.js';

/** The shares that the ranking went by: of the embedding where it had a say, else of BM25. */
export function sharesOf(hit, ranking) {
  const first = ranking.startsWith('bm25') ? hit.bm25 : hit.why;
  const shares = first?.length ? first : hit.why?.length ? hit.why : hit.bm25 ?? [];
  return shares;
}

/** How deep a share is shaded, −4 to 4, beside the largest one. By the root, so that small shares are seen too. */
export function depth(share, most) {
  return Math.sign(share) * Math.min(4, Math.round(4 * Math.sqrt(Math.abs(share) / (most || 1))));
}

export const largest = (shares) => shares.reduce((most, { share }) => Math.max(most, Math.abs(share)), 0);

/** Characters on each side of the caret that are looked at: far more than a window of words, far less than a long text. */
export const AROUND = 4000;

/** `[text, level]` pieces, level −4 to 4; only words within `window` words of the caret count. */
export function pieces(text, caret, window, shares) {
  const levels = new Map();
  const most = largest(shares);
  for (const { word, share } of shares) levels.set(word.toLowerCase(), depth(share, most));
  const first = Math.max(0, caret - AROUND);
  const all = words(text.slice(first, caret + AROUND)).map(([start, end, word]) => [first + start, first + end, word]);
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
