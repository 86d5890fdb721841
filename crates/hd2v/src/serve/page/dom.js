// Building elements. Whatever comes from the corpus goes in as text, never as markup.

/** An element: `el('a', {href, class: 'x', on: {click}}, 'text', child, …)`. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') for (const [event, heard] of Object.entries(value)) element.addEventListener(event, heard);
    else if (name === 'class') element.className = value;
    else if (name === 'vars') for (const [key, number] of Object.entries(value)) element.style.setProperty(key, number);
    else if (name === 'value' || name === 'checked') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

export const route = (...parts) => '#/' + parts.map(encodeURIComponent).join('/');

/** What a document is called. */
export const nameOf = (document) => document.title || document.id;

/** A link to a document's view. */
export const toDocument = (document, properties = {}) =>
  el('a', { href: route('document', document.id), ...properties }, nameOf(document), document.alike && el('span', { class: 'id' }, document.id));

/** The same documents; those whose title another one of them has too are `alike`, and are shown with their ids. */
export function apart(documents) {
  const ids = new Map();
  for (const { title, id } of documents) if (title) ids.set(title, (ids.get(title) ?? new Set()).add(id));
  return documents.map((document) => (ids.get(document.title)?.size > 1 ? { ...document, alike: true } : document));
}

/** An address that may be followed, or nothing: never javascript: and the like. */
export function address(url) {
  try {
    const parsed = new URL(url);
    return ['http:', 'https:'].includes(parsed.protocol) ? parsed.href : undefined;
  } catch { return undefined; }
}

/** `0.2621` as `26 %`. */
export function percent(share) {
  const hundred = 100 * share;
  if (hundred > 0 && hundred < 1) return '< 1 %';
  return `${hundred > 99 && hundred < 100 ? '> 99' : Math.round(hundred)} %`;
}

/** A number with so many decimals, and no -0.0. */
export const fixed = (number, decimals) => number.toFixed(decimals).replace(/^-(?=0\.?0*$)/, '');

export const thousands = (number) => Number(number).toLocaleString('en');

/** `1 link`, `1,200 links`. */
export const many = (number, what) => `${thousands(number)} ${what}${number === 1 ? '' : 's'}`;

/** For those who do not see it change. */
export function say(text) { document.getElementById('said').textContent = text; }

export const empty = (...text) => el('p', { class: 'empty' }, ...text);
export const waiting = () => el('p', { class: 'waiting', 'aria-label': 'Loading' }, el('i'), el('i'), el('i'));

/** Calls `work` once nothing has asked for it for so many milliseconds; `stop` takes back what was asked. */
export function settled(milliseconds, work) {
  let timer;
  const ask = () => { clearTimeout(timer); timer = setTimeout(work, milliseconds); };
  ask.stop = () => clearTimeout(timer);
  return ask;
}

/** Words of a text as `[start, end, lower-cased]`, cut as Unicode cuts them. */
export function words(text) {
  if (!('Segmenter' in Intl)) return [...text.matchAll(/[\p{L}\p{N}_']+/gu)].map((m) => [m.index, m.index + m[0].length, m[0].toLowerCase()]);
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  const found = [];
  for (const { index, segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike) found.push([index, index + segment.length, segment.toLowerCase()]);
    // C++ and C# are words of the model.
    else if (/^[+#]$/.test(segment) && found.length && found.at(-1)[1] === index) {
      found[found.length - 1] = [found.at(-1)[0], index + 1, found.at(-1)[2] + segment];
    }
  }
  return found;
}
let segmenter;
