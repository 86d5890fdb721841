// What the plug-in does with a note, and with the answers of a server. HD2V and HD2V_MODEL name the program and a model of
// samples/glossary.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { applied, byCharacters, DEFAULTS, Links, wanted, wikiLink } from '../dist/links.mjs';

const { HD2V, HD2V_MODEL } = process.env;

test('a link by meaning is wanted behind `[[?`, with the words that follow', () => {
  assert.deepEqual(wanted('as in [[?', 9), { start: 6, words: '' });
  assert.deepEqual(wanted('as in [[?book with zombies', 26), { start: 6, words: 'book with zombies' });
  assert.equal(wanted('as in [[book', 12), undefined, 'Obsidian completes that itself');
  assert.equal(wanted('as in [[?]] and', 15), undefined);
});

test('a note is linked by its path, and shown by its title', () => {
  assert.equal(wikiLink({ id: 'Beam search', title: 'Beam search' }), '[[Beam search]]');
  assert.equal(wikiLink({ id: 'notes/beam', title: 'Beam search' }), '[[notes/beam|Beam search]]');
  assert.equal(wikiLink({ id: 'a', title: 'A [b]' }), '[[a]]');
});

test('changes are made by characters, although the server counts bytes', () => {
  const edits = [{ start: 7, end: 7, text: '[[' }, { start: 11, end: 11, text: ']]' }];
  assert.equal(applied('é𝄞 beam.', edits), 'é𝄞 [[beam]].');
  assert.deepEqual(byCharacters('é𝄞 beam.', edits).map(({ start }) => start), [8, 4], 'the last first');
});

test('the manifest and the package have one version', () => {
  const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
  assert.equal(read('manifest.json').version, read('package.json').version);
});

test('a server answers', { skip: !HD2V_MODEL && 'HD2V_MODEL names no model' }, async () => {
  const server = spawn(HD2V, ['serve', HD2V_MODEL, '--port', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((done) => { server.once('exit', done); });
  try {
    const base = await new Promise((resolve, reject) => {
      let said = '';
      server.stderr.on('data', (data) => {
        said += data;
        const found = /listening on (http:\/\/\S+)/.exec(said);
        if (found) resolve(found[1]);
      });
      ended.then((code) => reject(new Error(`it ended with ${code}: ${said}`)));
    });
    const settings = { ...DEFAULTS, server: `${base}/`, minProbability: 0.3 };
    const links = new Links(() => settings, async (url, headers, body) => {
      const answer = await fetch(url, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error((await answer.json()).error.message);
      return answer.json();
    });
    const hits = await links.recommend('A measure of language models is ', 'surprise of a test text', '.');
    assert.ok(hits.length > 3 && hits[0].id, JSON.stringify(hits[0]));
    const note = 'é: we report the perplexity of a language model.\n';
    const [one] = await links.suggest(note, 'Draft.md');
    assert.ok(one, 'a link is missing');
    const linked = applied(note, one.edits);
    assert.ok(linked.length > note.length && linked.includes('](') | linked.includes('[['), linked);
    assert.ok(!(await links.suggest(linked, 'Draft.md')).some(({ id }) => id === one.id), 'what is linked is not suggested again');
    settings.neverLink = one.words;
    assert.ok(!(await links.suggest(note, 'Draft.md')).some(({ words }) => words === one.words), 'never means never');
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
});
