// Inserting a link into a text: which characters, and where. Uses no page, so that it can be tested alone.

import { address } from './dom.js';

export const SYNTAXES = { wiki: '[[id]]', markdown: 'Markdown', bibtex: '\\cite{id}' };

/** The target of a link to `hit` in Markdown. An id that looks like an address and may not be followed is made none. */
const target = (hit) => (address(hit.url) ?? address(hit.id) ?? hit.id.replaceAll(':', '%3A'))
  .replace(/[<>\s]/g, encodeURIComponent).replace(/\(/g, '%28').replace(/\)/g, '%29');

/** The text of a link to `hit` around `words` that are selected, which may be none. */
function written(syntax, hit, words) {
  const plain = (text) => text.replace(/[\[\]]/g, '\\$&').replace(/\s+/g, ' ').trim();
  switch (syntax) {
    case 'markdown': return `[${words || plain(hit.title || hit.id)}](${target(hit)})`;
    case 'bibtex': return `${words}${words ? ' ' : ''}\\cite{${hit.id}}`;
    default: return words ? `[${words}][[${hit.id}]]` : `[[${hit.id}]]`;
  }
}

/** The words of a text: links are what they show, and their targets are no words. */
export const unlinked = (text) => text
  .replace(/\[([^\[\]]*)\]\[\[[^\[\]]*\]\]/g, '$1').replace(/\[\[(?!\?\]\])[^\[\]]*\]\]/g, ' ')
  .replace(/\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)/g, '$1').replace(/\\cite[a-z]*\*?(?:\[[^\[\]]*\])*\{[^{}]*\}/g, ' ');

/** Whether a text links to a document, in one of the syntaxes. */
export function links(text, hit) {
  if (text.includes(`[[${hit.id}]]`) || text.includes(`](${target(hit)})`)) return true;
  return [...text.matchAll(/\\cite[a-z]*\*?(?:\[[^\[\]]*\])*\{([^{}]*)\}/g)].some(([, keys]) => keys.split(',').some((key) => key.trim() === hit.id));
}

/** Where a caret that stands inside a word is meant to stand: at its end. */
export function place(text, caret) {
  const inside = /[\p{L}\p{M}\p{N}_]['’-]?$/u.test(text.slice(Math.max(0, caret - 4), caret));
  const rest = /^(?:[\p{L}\p{M}\p{N}_]|['’-](?=[\p{L}\p{N}]))+/u.exec(text.slice(caret, caret + 200));
  return inside && rest ? caret + rest[0].length : caret;
}

/**
 * Where to put a link: `{start, end, text}` replaces what is between. No word is split, beside one a space is left; a key
 * goes into the \cite{} that stands right before the caret.
 */
export function insertion(syntax, hit, text, start, end) {
  if (start === end) start = end = place(text, start);
  const before = text.slice(0, start);
  if (syntax === 'bibtex' && start === end) {
    const cite = /\\cite\{([^{}]*)\}$/.exec(before);
    if (cite) return { start: start - 1, end: start, text: `,${hit.id}}` };
  }
  const link = written(syntax, hit, text.slice(start, end));
  const left = start === end && /[^\s([{"'“‘~-]$/.test(before) ? ' ' : '';
  const right = /^[\p{L}\p{N}]/u.test(text.slice(end)) ? ' ' : '';
  return { start, end, text: left + link + right };
}
