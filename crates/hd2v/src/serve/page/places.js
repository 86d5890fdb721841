// Proposed places in a draft: where they stand while the text changes, and what accepting one makes of it. Uses no page,
// so that it can be tested alone.

export const FORMATS = {
  markdown: 'Markdown', latex: 'LaTeX', rst: 'reStructuredText', html: 'HTML', mediawiki: 'MediaWiki', plain: 'Plain text',
};

const ENDINGS = {
  md: 'markdown', markdown: 'markdown', mdx: 'markdown', qmd: 'markdown', rmd: 'markdown', tex: 'latex', ltx: 'latex', latex: 'latex',
  rst: 'rst', rest: 'rst', html: 'html', htm: 'html', xhtml: 'html', wiki: 'mediawiki', mediawiki: 'mediawiki', wikitext: 'mediawiki',
};

/** The format that the name of a file says. */
export const formatOf = (name) => ENDINGS[name.split('.').pop().toLowerCase()] ?? 'plain';

/**
 * The suggestions of an answer with places that count as the text of a page does, in UTF-16 units instead of bytes:
 * `start` and `end` of what is underlined, and the `edit` that accepting it makes.
 */
export function placed(text, suggestions) {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  // In the order of the text, each place is counted from the one before it.
  const wanted = [...new Set(suggestions.flatMap(({ start, end, edits }) => [start, end, ...edits.flatMap((edit) => [edit.start, edit.end])]))];
  const at = new Map();
  let [units, byte] = [0, 0];
  for (const place of wanted.sort((a, b) => a - b)) {
    units += decoder.decode(bytes.subarray(byte, place)).length;
    byte = place;
    at.set(place, units);
  }
  return suggestions.map(({ edits, ...one }) => {
    const [start, end] = [at.get(one.start), at.get(one.end)];
    const moved = edits.map((edit) => ({ start: at.get(edit.start), end: at.get(edit.end), text: edit.text }));
    const from = Math.min(start, ...moved.map((edit) => edit.start));
    const until = Math.max(end, ...moved.map((edit) => edit.end));
    let [put, done] = ['', from];
    for (const edit of moved.sort((a, b) => a.start - b.start)) {
      put += text.slice(done, edit.start) + edit.text;
      done = edit.end;
    }
    return { ...one, start, end, edit: moved.length ? { start: from, end: until, text: put + text.slice(done, until) } : undefined };
  });
}

/** The places that are still there after a text became another, moved to where they stand now. */
export function kept(before, after, places) {
  if (before === after) return places;
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const shift = after.length - before.length;
  const move = (place) => {
    const [start, end] = [Math.min(place.start, place.edit?.start ?? place.start), Math.max(place.end, place.edit?.end ?? place.end)];
    if (end <= head) return place;
    if (start < before.length - tail) return undefined;
    const edit = place.edit && { ...place.edit, start: place.edit.start + shift, end: place.edit.end + shift };
    return { ...place, start: place.start + shift, end: place.end + shift, edit };
  };
  return places.map(move).filter(Boolean);
}

/** A text cut at its places: `[text, number of the place or -1]`. */
export function cut(text, places) {
  const out = [];
  let from = 0;
  places.forEach(({ start, end }, number) => {
    if (start < from) return;
    out.push([text.slice(from, start), -1], [text.slice(start, end), number]);
    from = end;
  });
  out.push([text.slice(from), -1]);
  return out.filter(([piece, number]) => piece || number >= 0);
}

/** The place at a caret or the next one behind it; the first where there is none. */
export function nearest(places, caret) {
  return Math.max(0, places.findIndex(({ end }) => end >= caret));
}
