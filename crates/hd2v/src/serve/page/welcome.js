// The first screen: how large the collection is, where suggestions come from, and sentences of it to begin with.

import * as api from './api.js';
import { el, many, nameOf, thousands } from './dom.js';

/** Where the place of a link is, in a text of an example. */
const MARK = '[[?]]';

/** A text without its mark, and where that was. */
export function unmarked(text) {
  const at = text.indexOf(MARK);
  if (at < 0) return { text, caret: text.length };
  const [before, after] = [text.slice(0, at).trimEnd(), text.slice(at + MARK.length)];
  return { text: before + after, caret: before.length };
}

/** What one sentence can say of a model. */
export function about(info) {
  const learnt = thousands(info.trained ?? info.documents);
  const from = { hybrid: 'the words around their links, their texts, and which of them are linked together', embedding: 'the words around their links', bm25: 'their texts', 'bm25-cited': 'their texts and the words around links to them' }[info.ranking];
  return `A model of ${learnt} documents suggests it, going by ${from ?? 'what it has learnt from them'}.`;
}

/** Whether a text breaks off within a sentence. */
const breaksOff = (text) => /[\p{L}\p{N},]\s*$/u.test(text);

/** The first screen; `take` is given the text of the example that is chosen, and its caret. */
export function welcome(info, take) {
  const examples = el('ul', { class: 'examples', 'aria-label': 'Examples' });
  const tries = el('p', { class: 'tries', hidden: true }, 'Try a sentence of the collection:');
  api.examples().then(({ examples: found }) => {
    examples.replaceChildren(...found.map((example) => {
      const { text, caret } = unmarked(example.text);
      return el('li', {}, el('button', { type: 'button', class: 'example', on: { click: () => take(text, caret) } },
        el('span', { class: breaksOff(text) && 'broken-off' }, text.slice(0, caret), el('span', { class: 'here', title: 'the place of the link' }, '?'), text.slice(caret)),
        el('small', {}, `from ${nameOf({ id: example.source, title: example.title })}`)));
    }));
    tries.hidden = !found.length;
  }, () => { /* The box above works without them. */ });
  return el('div', { class: 'welcome' },
    el('p', { class: 'counts' }, [['document', info.documents], ['link', info.links], ['word', info.words]].map(([what, number]) =>
      el('span', {}, el('b', {}, thousands(number)), ` ${many(number, what).split(' ').at(-1)}`))),
    el('p', {}, 'What a text should link to at the cursor appears here. ', about(info)),
    tries, examples,
    el('p', { class: 'ways' }, 'Or ', el('a', { href: '#/draft' }, 'let a whole draft be read'), ', or look at the ', el('a', { href: '#/map' }, 'map'), '.'));
}
