// What the settings say: which program to start, on which model, with which options. Uses no editor, so that it can be
// tested alone.

import { isAbsolute, join } from 'node:path';

/** The settings of the extension, as package.json declares them. */
export interface Settings {
  model: string;
  command: string;
  hints: boolean;
  minProbability: number;
  neverLink: string;
}

/** The languages whose texts are sent to the server. */
export const LANGUAGES = ['markdown', 'latex', 'tex', 'restructuredtext', 'html', 'wikitext', 'plaintext'];

/** A path of the settings: relative ones begin at the folder of the workspace. */
export function resolved(path: string, folder: string | undefined): string {
  return !path || isAbsolute(path) || !folder ? path : join(folder, path);
}

/** The command that starts the server; nothing where no model is named. */
export function serverCommand(settings: Settings, folder?: string): { command: string; args: string[] } | undefined {
  if (!settings.model) return undefined;
  return { command: settings.command || 'hd2v', args: ['lsp', resolved(settings.model, folder)] };
}

/** What the server is told when it starts. */
export function initializationOptions(settings: Settings, folder?: string): Record<string, unknown> {
  const { hints, minProbability, neverLink } = settings;
  return { hints, minProbability, ...(neverLink && { neverLink: resolved(neverLink, folder) }) };
}
