// Questions to `hd2v serve`, and what becomes of its answers in a note. Uses nothing of Obsidian, so that it can be
// tested alone.

/** Sends a JSON body to an address, with headers; the JSON of the answer. */
export type Post = (url: string, headers: Record<string, string>, body: string) => Promise<unknown>;

export interface Settings {
  /** The address that `hd2v serve` prints. */
  server: string;
  /** The token of a server that wants one. */
  token: string;
  minProbability: number;
  /** Phrases and notes that are never linked, a line each. */
  neverLink: string;
}

export const DEFAULTS: Settings = { server: 'http://127.0.0.1:8080', token: '', minProbability: 0.5, neverLink: '' };

/** A document that a text should link to. */
export interface Hit { id: string; title?: string; probability?: number }

/** A change of a text, by bytes of UTF-8. */
export interface Edit { start: number; end: number; text: string }

/** A link that a note could have. */
export interface Suggestion { words: string; id: string; title?: string; probability: number; why: string; line: number; edits: Edit[] }

/** Characters on each side of the cursor that are asked about. */
const AROUND = 4000;

/** What stands before the cursor: `[[?` and perhaps words behind it, where a link by meaning is wanted. */
export function wanted(line: string, column: number): { start: number; words: string } | undefined {
  const found = /\[\[\?([^\[\]|]*)$/.exec(line.slice(0, column));
  return found ? { start: found.index, words: found[1].trim() } : undefined;
}

/** The link to a note: its path, and its title where the path does not say it. */
export function wikiLink({ id, title }: Hit): string {
  const name = id.split('/').pop() ?? id;
  return !title || title === name || /[\[\]|#^]/.test(title) ? `[[${id}]]` : `[[${id}|${title}]]`;
}

/** The changes of a text by its characters instead of bytes, the last first, so that none moves another. */
export function byCharacters(text: string, edits: Edit[]): Edit[] {
  const bytes = new TextEncoder().encode(text);
  const at = (byte: number) => new TextDecoder().decode(bytes.subarray(0, byte)).length;
  return edits.map(({ start, end, text: put }) => ({ start: at(start), end: at(end), text: put })).sort((a, b) => b.start - a.start);
}

/** A text with the changes made. */
export function applied(text: string, edits: Edit[]): string {
  return byCharacters(text, edits).reduce((now, { start, end, text: put }) => now.slice(0, start) + put + now.slice(end), text);
}

export class Links {
  constructor(private readonly settings: () => Settings, private readonly post: Post) {}

  private ask(path: string, body: unknown): Promise<unknown> {
    const { server, token } = this.settings();
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    return this.post(`${server.replace(/\/+$/, '')}/api/${path}`, headers, JSON.stringify(body));
  }

  /** Notes for the place between two parts of a text; `words` say more about what is wanted. */
  async recommend(before: string, words: string, after: string): Promise<Hit[]> {
    const clean = (part: string) => part.replaceAll('[[?]]', ' ');
    const text = `${clean(before.slice(-AROUND))} ${words} [[?]] ${clean(after.slice(0, AROUND))}`;
    const { hits } = (await this.ask('recommend', { text, top: 20 })) as { hits: Hit[] };
    return hits;
  }

  /** The links that a note could have. */
  async suggest(text: string, path: string): Promise<Suggestion[]> {
    const { minProbability, neverLink } = this.settings();
    const never = neverLink.split('\n').map((line) => line.trim()).filter(Boolean);
    const body = { text, path, format: 'markdown', min_probability: minProbability, max: 100, never };
    const { suggestions } = (await this.ask('suggest', body)) as { suggestions: Suggestion[] };
    return suggestions;
  }
}
