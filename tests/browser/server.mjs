// Makes the model of the test's corpus with the program itself, and serves it.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { corpus } from './corpus.mjs';

export function makeModel(hd2v, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [pages, made, model] = ['pages.jsonl', 'corpus', 'trades.model'].map((name) => join(folder, name));
  writeFileSync(pages, corpus());
  const run = (...args) => execFileSync(hd2v, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  run('import', 'jsonl', pages, '-o', made);
  run('train', made, '-o', model, '--dim', '32');
  return model;
}

/** Starts a server; `{base, stop}` once it listens. */
export function serve(hd2v, model, ...options) {
  const server = spawn(hd2v, ['serve', model, '--port', '0', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((done) => { server.once('exit', done); });
  const stop = () => { server.kill('SIGTERM'); return ended; };
  return new Promise((resolve, reject) => {
    let talk = '';
    server.stderr.on('data', (data) => {
      talk += data;
      const found = /listening on (http:\/\/\S+)\s/.exec(talk);
      if (found) resolve({ base: `${found[1].replace(/\/$/, '')}/`, stop });
    });
    ended.then((code) => reject(new Error(`hd2v serve ended with ${code}: ${talk}`)));
  });
}
