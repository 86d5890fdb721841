// The parts of the page that need no browser.

import assert from 'node:assert/strict';
import test from 'node:test';
import { insertion } from '../../crates/hd2v/src/serve/page/insert.js';
import { depth, pieces } from '../../crates/hd2v/src/serve/page/shade.js';

const hit = { id: 'a(b) c', title: 'A [b]\nc' };
const put = (syntax, text, start, end = start, to = hit) => {
  const { start: from, end: until, text: link } = insertion(syntax, to, text, start, end);
  return text.slice(0, from) + link + text.slice(until);
};

test('a link is put at the caret, with a space where it touches words', () => {
  assert.equal(put('wiki', 'as shown in ', 12), 'as shown in [[a(b) c]]');
  assert.equal(put('wiki', 'as shown', 8), 'as shown [[a(b) c]]');
  assert.equal(put('wiki', 'as (shown', 4), 'as ([[a(b) c]] shown');
  assert.equal(put('wiki', '', 0), '[[a(b) c]]');
});

test('no word is split', () => {
  assert.equal(put('wiki', 'the mainsail tore', 8), 'the mainsail [[a(b) c]] tore');
  assert.equal(put('wiki', 'they don’t know', 8), 'they don’t [[a(b) c]] know');
  assert.equal(put('wiki', 'they don’t know', 9), 'they don’t [[a(b) c]] know');
  assert.equal(put('wiki', 'a well-known tale', 6), 'a well-known [[a(b) c]] tale');
  assert.equal(put('wiki', 'das Straßenfest.', 9), 'das Straßenfest [[a(b) c]].');
  assert.equal(put('wiki', 'the mainsail tore', 4), 'the [[a(b) c]] mainsail tore', 'before a word is not in it');
});

test('words that are selected become the anchor', () => {
  assert.equal(put('wiki', 'the old one', 4, 7), 'the [old][[a(b) c]] one');
  assert.equal(put('markdown', 'the old one', 4, 7), 'the [old](a%28b%29%20c) one');
  assert.equal(put('bibtex', 'the old one', 4, 7), 'the old \\cite{a(b) c} one');
});

test('markdown names the title and follows the address', () => {
  assert.equal(put('markdown', '', 0), '[A \\[b\\] c](a%28b%29%20c)');
  assert.equal(put('markdown', '', 0, 0, { ...hit, url: 'https://example.org/x_(y)' }), '[A \\[b\\] c](https://example.org/x_%28y%29)');
  assert.equal(put('markdown', '', 0, 0, { id: 'x', url: 'javascript:alert(1)' }), '[x](x)');
  assert.equal(put('markdown', '', 0, 0, { id: 'javascript:alert(1)' }), '[javascript:alert(1)](javascript%3Aalert%281%29)');
});

test('a second key goes into the same cite', () => {
  const once = put('bibtex', 'as shown', 8, 8, { id: 'one' });
  assert.equal(once, 'as shown \\cite{one}');
  assert.equal(put('bibtex', once, once.length, once.length, { id: 'two' }), 'as shown \\cite{one,two}');
});

test('words near the caret are shaded by their share, others are not', () => {
  const shares = [{ word: 'mainsail', share: 2 }, { word: 'storm', share: -0.5 }, { word: 'the', share: 0.001 }];
  const text = 'The Mainsail! the storm';
  assert.deepEqual(pieces(text, text.length, 50, shares), [['The ', 0], ['Mainsail', 4], ['! the ', 0], ['storm', -2]]);
  assert.deepEqual(pieces(text, text.length, 1, shares), [['The Mainsail! the ', 0], ['storm', -2]]);
  assert.deepEqual(pieces('', 0, 50, shares), []);
  const long = 'sand '.repeat(100000);
  const place = long.length / 2;
  const shaded = pieces(`${long.slice(0, place)}mainsail ${long.slice(place)}`, place, 50, shares);
  assert.deepEqual(shaded.map(([text, level]) => [text.length, level]), [[place, 0], [8, 4], [place + 1, 0]], 'in a long text too');
  assert.equal(depth(1, 0), 4);
  assert.equal(Math.abs(depth(0, 1)), 0);
});
