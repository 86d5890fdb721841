// Starts `hd2v lsp` for the texts of the editor, and lists the documents that nothing links to.

import * as vscode from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';
import { initializationOptions, LANGUAGES, serverCommand, type Settings } from './settings.js';

interface Orphan { id: string; title?: string }

let client: LanguageClient | undefined;

function settings(): Settings {
  const of = vscode.workspace.getConfiguration('hd2v');
  return {
    model: of.get('model', ''),
    command: of.get('command', 'hd2v'),
    hints: of.get('hints', false),
    minProbability: of.get('minProbability', 0.5),
    neverLink: of.get('neverLink', ''),
  };
}

async function start(): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = serverCommand(settings(), folder);
  if (!server) return;
  client = new LanguageClient('hd2v', 'hd2v', server, {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    initializationOptions: initializationOptions(settings(), folder),
  });
  await client.start();
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart(): Promise<void> {
  await stop();
  try {
    await start();
  } catch (error) {
    void vscode.window.showErrorMessage(`hd2v: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Lists the documents that nothing links to; the chosen one is put into the clipboard as a link. */
async function showOrphans(): Promise<void> {
  if (!client) {
    void vscode.window.showInformationMessage('hd2v: name a model in the setting hd2v.model first.');
    return;
  }
  const orphans = await client.sendRequest<Orphan[]>('workspace/executeCommand', { command: 'hd2v.orphans', arguments: [] });
  const items = orphans.map(({ id, title }) => ({ label: title || id, description: id }));
  const placeHolder = items.length ? 'Nothing links to these documents. Enter copies the id.' : 'Every document has a link to it.';
  const chosen = await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true });
  if (chosen) await vscode.env.clipboard.writeText(chosen.description);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand('hd2v.restart', restart),
    vscode.commands.registerCommand('hd2v.showOrphans', showOrphans),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('hd2v')) void restart();
    }),
  );
  await restart();
}

export const deactivate = stop;
