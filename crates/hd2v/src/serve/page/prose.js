// A text with its links, `[words][[id]]`, as paragraphs.

import { el, route } from './dom.js';

/** The paragraphs of a text, each as pieces `[words, id]`; the id is undefined where there is no link. */
export function paragraphs(text) {
  return text.split(/\n\s*\n/).filter((part) => part.trim()).map((part) => {
    const pieces = [];
    let from = 0;
    const put = (words, id) => { if (words) pieces.push([words.replace(/\\([[\]\\])/g, '$1'), id]); };
    for (const found of part.matchAll(/(?<!\\)(?:\[((?:[^[\]\\]|\\.)*)\])?\[\[((?:[^[\]\\]|\\.)+)\]\]/g)) {
      put(part.slice(from, found.index));
      const id = found[2].replace(/\\(.)/g, '$1');
      put(found[1] || id, id);
      from = found.index + found[0].length;
    }
    put(part.slice(from));
    return pieces;
  });
}

/** These paragraphs as elements. */
export const prose = (text) => paragraphs(text).map((pieces) => el('p', {},
  pieces.map(([words, id]) => (id === undefined ? words : el('a', { href: route('document', id) }, words)))));
