// The parts of the page that need no browser.

import assert from 'node:assert/strict';
import test from 'node:test';
import { insertion, links, unlinked } from '../../crates/hd2v/src/serve/page/insert.js';
import { cut, formatOf, kept, nearest, placed } from '../../crates/hd2v/src/serve/page/places.js';
import { paragraphs } from '../../crates/hd2v/src/serve/page/prose.js';
import { byFolder, byPlace, groupings, middles } from '../../crates/hd2v/src/serve/page/regions.js';
import { unmarked } from '../../crates/hd2v/src/serve/page/welcome.js';
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

test('links are no words of a question, and what is linked is known', () => {
  assert.equal(unlinked('the [big sail][[mainsail]] and [[jib]] in the [storm](https://example.org/storm), as \\citep[p. 3]{a,b} said'),
    'the big sail and   in the storm, as   said');
  assert.equal(unlinked('a place [[?]] and a [bracket]'), 'a place [[?]] and a [bracket]');
  const at = { id: 'x(1)', url: 'https://example.org/x' };
  assert.ok(links('see [[x(1)]]', at) && links('see [it](https://example.org/x)', at) && links('see \\cite{a, x(1)}', at));
  assert.ok(!links('see [[x(11)]] and \\cite{ax(1)}', at));
});

test('places of an answer count bytes, those of the page do not', () => {
  const text = 'é𝄞 a beam search.';
  const edits = [{ start: 9, end: 9, text: '[' }, { start: 20, end: 20, text: '](b.md)' }];
  const [one] = placed(text, [{ start: 9, end: 20, words: 'beam search', edits }]);
  assert.equal(text.slice(one.start, one.end), 'beam search');
  assert.deepEqual(one.edit, { start: 6, end: 17, text: '[beam search](b.md)' });
  const [none] = placed(text, [{ start: 9, end: 20, words: 'beam search', edits: [] }]);
  assert.equal(none.edit, undefined);
  const [wanted] = placed('as \\cite{?}.', [{ start: 3, end: 11, edits: [{ start: 9, end: 10, text: 'key' }] }]);
  assert.deepEqual(wanted.edit, { start: 3, end: 11, text: '\\cite{key}' });
});

test('places stay with their words while others are written', () => {
  const before = 'one two three';
  const places = [{ start: 0, end: 3 }, { start: 4, end: 7 }, { start: 8, end: 13, edit: { start: 8, end: 13, text: '[three](3)' } }];
  const after = kept(before, 'one twoo three', places);
  assert.deepEqual(after.map(({ start, end }) => 'one twoo three'.slice(start, end)), ['one', 'two', 'three']);
  assert.equal(after[2].edit.start, 9);
  assert.deepEqual(kept(before, 'one 2 three', places).length, 2, 'the words are gone');
  assert.deepEqual(kept(before, '', places), []);
  assert.equal(kept(before, before, places), places);
});

test('a text is cut at its places', () => {
  assert.deepEqual(cut('one two', [{ start: 4, end: 7 }]), [['one ', -1], ['two', 0]]);
  assert.deepEqual(cut('one', [{ start: 3, end: 3 }]), [['one', -1], ['', 0]], 'a place without words');
  assert.deepEqual(cut('one', [{ start: 0, end: 3 }, { start: 1, end: 2 }]), [['one', 0]], 'no two over the same words');
  assert.equal(nearest([{ end: 3 }, { end: 9 }], 4), 1);
  assert.equal(nearest([{ end: 3 }, { end: 5 }], 9), 0);
  assert.equal(formatOf('Draft.TEX'), 'latex');
  assert.equal(formatOf('README'), 'plain');
});

test('a text is shown in paragraphs, with its links', () => {
  assert.deepEqual(paragraphs('a [big sail][[x/y]] and [[jib]].\n\n\nno \\[[link]] here'),
    [[['a ', undefined], ['big sail', 'x/y'], [' and ', undefined], ['jib', 'jib'], ['.', undefined]], [['no [[link]] here', undefined]]]);
  assert.deepEqual(paragraphs(''), []);
  const long = '['.repeat(100000);
  assert.deepEqual(paragraphs(long), [[[long, undefined]]]);
});

test('an example has its caret where its link was', () => {
  assert.deepEqual(unmarked('as the jib [[?]] of old'), { text: 'as the jib of old', caret: 10 });
  assert.deepEqual(unmarked('none'), { text: 'none', caret: 4 });
});

test('folders group documents as deep as it takes', () => {
  const ids = ['site/a/1', 'site/a/2', 'site/b/3', 'site/b/4', 'top'];
  const { names, members } = byFolder(ids);
  assert.deepEqual([names, members], [['site/a', 'site/b'], [[0], [0], [1], [1], []]]);
  assert.equal(byFolder(['a', 'b']), undefined);
  assert.equal(byFolder(['x/a', 'x/b']), undefined, 'one folder is no group');
});

test('regions are where documents lie, and are named by their titles', () => {
  const count = 200, x = [], y = [], titles = [];
  for (let i = 0; i < count; i += 1) {
    const left = i % 2;
    x.push((left ? -1 : 1) + 0.1 * Math.sin(i));
    y.push(0.1 * Math.cos(i));
    titles.push(left ? `The sail number ${i}` : `Bread of type ${i}`);
  }
  const data = { x, y, links: x.map(() => 1), ids: x.map(String), labels: [], label: x.map(() => []), titles };
  const { names, members } = byPlace(data);
  const groups = [0, 1].map((side) => new Set(members.filter((_, i) => i % 2 === side).map(([group]) => group)));
  assert.ok([...groups[0]].every((group) => !groups[1].has(group)), 'no region has both');
  assert.ok([...groups[1]].every((group) => /sail/.test(names[group])), `${names}`);
  assert.deepEqual(groupings(data, titles).map(({ name }) => name), ['region']);
  assert.ok(middles(data, members, names.length).every((at, group) => at && Math.sign(at[0]) === (groups[1].has(group) ? -1 : 1)));
  assert.deepEqual(byPlace({ x: [0], y: [0], titles: ['One'], links: [0] }).names, ['around One']);
});

test('labels come first where they tell of many, folders where they do not', () => {
  const data = { x: [0, 1, 0, 1], y: [0, 0, 1, 1], links: [1, 1, 1, 1], ids: ['a/1', 'a/2', 'b/1', 'b/2'], labels: ['kind:x'], label: [[0], [0], [], []] };
  assert.deepEqual(groupings(data, data.ids).map(({ name }) => name), ['kind', 'folder', 'region']);
  assert.deepEqual(groupings({ ...data, label: [[0], [], [], []] }, data.ids).map(({ name }) => name), ['folder', 'region', 'kind']);
});
