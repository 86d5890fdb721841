// The settings of the extension start a server that answers as an editor needs it. HD2V and HD2V_MODEL name the program
// and a model of samples/glossary.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import {
  CodeActionRequest, CompletionRequest, createMessageConnection, DidOpenTextDocumentNotification, ExecuteCommandRequest, ExitNotification,
  InitializedNotification, InitializeRequest, ShutdownRequest, StreamMessageReader, StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { initializationOptions, LANGUAGES, serverCommand } from '../dist/settings.mjs';

const { HD2V, HD2V_MODEL } = process.env;
const about = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const declared = about.contributes.configuration.properties;
const settings = Object.fromEntries(Object.entries(declared).map(([name, { default: value }]) => [name.replace('hd2v.', ''), value]));

test('what package.json declares is what the extension reads', () => {
  assert.deepEqual(Object.keys(settings).sort(), ['command', 'hints', 'minProbability', 'model', 'neverLink']);
  assert.equal(settings.hints, false, 'hints are off by default');
  assert.deepEqual(about.activationEvents, LANGUAGES.map((language) => `onLanguage:${language}`));
});

test('without a model nothing is started, and relative paths begin at the folder', () => {
  assert.equal(serverCommand(settings), undefined);
  const set = { ...settings, model: 'my.model', neverLink: 'never.txt' };
  assert.deepEqual(serverCommand(set, '/work'), { command: 'hd2v', args: ['lsp', '/work/my.model'] });
  assert.deepEqual(initializationOptions(set, '/work'), { hints: false, minProbability: 0.5, neverLink: '/work/never.txt' });
  assert.deepEqual(initializationOptions(settings), { hints: false, minProbability: 0.5 });
});

test('the server that it starts completes, acts and lists orphans', { skip: !HD2V_MODEL && 'HD2V_MODEL names no model' }, async () => {
  const set = { ...settings, command: HD2V, model: HD2V_MODEL, minProbability: 0.3 };
  const { command, args } = serverCommand(set);
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((done) => { server.once('exit', done); });
  const connection = createMessageConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  connection.listen();
  const { capabilities } = await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid, rootUri: null, capabilities: {}, initializationOptions: initializationOptions(set),
  });
  // The client registers these commands itself: the extension's own must have other names.
  const own = about.contributes.commands.map((one) => one.command);
  for (const name of capabilities.executeCommandProvider.commands) assert.ok(!own.includes(name), name);
  await connection.sendNotification(InitializedNotification.type, {});
  const uri = 'file:///draft.md';
  const text = 'We report the perplexity of a language model.\n\nAs in [[perpl';
  await connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: 'markdown', version: 1, text } });
  const completion = await connection.sendRequest(CompletionRequest.type, { textDocument: { uri }, position: { line: 2, character: 13 } });
  assert.match(completion.items[0].label, /perplexity/i);
  assert.equal(completion.items[0].textEdit.newText, 'Perplexity]]');
  const at = { line: 0, character: text.indexOf('perplexity') + 2 };
  const actions = await connection.sendRequest(CodeActionRequest.type, { textDocument: { uri }, range: { start: at, end: at }, context: { diagnostics: [] } });
  assert.match(actions[0]?.title ?? '', /^link to Perplexity/);
  assert.ok(Array.isArray(await connection.sendRequest(ExecuteCommandRequest.type, { command: 'hd2v.orphans', arguments: [] })));
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  assert.equal(await ended, 0);
  connection.dispose();
});
