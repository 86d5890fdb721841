// Links by meaning in Obsidian: `[[?` lists notes for the words around it, and a command goes through the links that a
// note could have. The answers come from `hd2v serve`.

import {
  App, Editor, EditorPosition, EditorSuggest, EditorSuggestContext, EditorSuggestTriggerInfo, MarkdownView, Modal, Notice, Plugin,
  PluginSettingTab, requestUrl, Setting, TFile,
} from 'obsidian';
import { byCharacters, DEFAULTS, Links, wanted, wikiLink, type Hit, type Post, type Settings, type Suggestion } from './links';

const percent = (probability: number) => `${Math.round(100 * probability)} %`;

const post: Post = async (url, headers, body) => {
  const answer = await requestUrl({ url, method: 'POST', headers, body, throw: false });
  if (answer.status === 200) return answer.json;
  let message = `the server answered with status ${answer.status}`;
  try { message = answer.json.error.message ?? message; } catch { /* it did not say why */ }
  throw new Error(message);
};

/** Notes for the place at the cursor, behind `[[?`. */
class ByMeaning extends EditorSuggest<Hit> {
  constructor(app: App, private readonly links: Links) { super(app); }

  onTrigger(cursor: EditorPosition, editor: Editor): EditorSuggestTriggerInfo | null {
    const found = wanted(editor.getLine(cursor.line), cursor.ch);
    return found ? { start: { line: cursor.line, ch: found.start }, end: cursor, query: found.words } : null;
  }

  async getSuggestions({ editor, start, end, query }: EditorSuggestContext): Promise<Hit[]> {
    const text = editor.getValue();
    try {
      return await this.links.recommend(text.slice(0, editor.posToOffset(start)), query, text.slice(editor.posToOffset(end)));
    } catch (error) {
      new Notice(`hd2v: ${(error as Error).message}`);
      return [];
    }
  }

  renderSuggestion(hit: Hit, element: HTMLElement): void {
    element.createDiv({ text: hit.title || hit.id });
    const more = [hit.id, hit.probability === undefined ? '' : percent(hit.probability)].filter(Boolean).join(' · ');
    element.createEl('small', { text: more });
  }

  selectSuggestion(hit: Hit): void {
    if (!this.context) return;
    const { editor, start, end } = this.context;
    // Obsidian may have closed the brackets itself.
    const closed = editor.getRange(end, { line: end.line, ch: end.ch + 2 }) === ']]';
    editor.replaceRange(wikiLink(hit), start, closed ? { line: end.line, ch: end.ch + 2 } : end);
  }
}

/** The links that a note could have, one after the other. */
class Review extends Modal {
  constructor(app: App, private readonly editor: Editor, private readonly path: string, private readonly plugin: LinksPlugin) { super(app); }

  async onOpen(): Promise<void> {
    this.titleEl.setText('Links for this note');
    await this.list();
  }

  private async list(): Promise<void> {
    const text = this.editor.getValue();
    let found: Suggestion[];
    try {
      found = await this.plugin.links.suggest(text, this.path);
    } catch (error) {
      this.contentEl.setText(`hd2v: ${(error as Error).message}`);
      return;
    }
    this.contentEl.empty();
    if (!found.length) this.contentEl.setText('No links are missing.');
    for (const one of found) this.row(text, one);
  }

  private row(text: string, one: Suggestion): void {
    const row = new Setting(this.contentEl)
      .setName(`${one.words || 'here'} → ${one.title || one.id}`)
      .setDesc(`line ${one.line}, ${percent(one.probability)}: ${one.why}`);
    row.addButton((button) => button.setButtonText('Link').setCta().onClick(() => {
      if (this.editor.getValue() !== text) { void this.list(); return; }
      for (const { start, end, text: put } of byCharacters(text, one.edits)) {
        this.editor.replaceRange(put, this.editor.offsetToPos(start), this.editor.offsetToPos(end));
      }
      void this.list();
    }));
    if (one.words) row.addButton((button) => button.setButtonText('Never').onClick(async () => {
      await this.plugin.never(one.words);
      void this.list();
    }));
  }
}

class Preferences extends PluginSettingTab {
  constructor(app: App, private readonly plugin: LinksPlugin) { super(app, plugin); }

  display(): void {
    const { containerEl, plugin } = this;
    containerEl.empty();
    const text = (name: string, description: string, key: 'server' | 'token') =>
      new Setting(containerEl).setName(name).setDesc(description).addText((field) =>
        field.setValue(plugin.settings[key]).onChange((value) => plugin.set({ [key]: value.trim() })));
    text('Server', 'The address that hd2v serve prints.', 'server');
    text('Token', 'If the server was started with --token-file.', 'token');
    new Setting(containerEl).setName('Least probability').setDesc('of a link that is suggested for a note').addSlider((field) =>
      field.setLimits(0.1, 0.95, 0.05).setValue(plugin.settings.minProbability).onChange((value) => plugin.set({ minProbability: value })));
    new Setting(containerEl).setName('Never link').setDesc('Titles, notes and phrases, a line each.').addTextArea((field) =>
      field.setValue(plugin.settings.neverLink).onChange((value) => plugin.set({ neverLink: value })));
  }
}

export default class LinksPlugin extends Plugin {
  settings: Settings = DEFAULTS;
  readonly links = new Links(() => this.settings, post);

  async onload(): Promise<void> {
    this.settings = { ...DEFAULTS, ...((await this.loadData()) as Partial<Settings> | null) };
    this.registerEditorSuggest(new ByMeaning(this.app, this.links));
    this.addSettingTab(new Preferences(this.app, this));
    this.addCommand({
      id: 'suggest-links',
      name: 'Suggest links in this note',
      editorCheckCallback: (checking, editor, view) => {
        const file: TFile | null = view instanceof MarkdownView ? view.file : null;
        if (!file) return false;
        if (!checking) new Review(this.app, editor, file.path, this).open();
        return true;
      },
    });
  }

  async set(changed: Partial<Settings>): Promise<void> {
    this.settings = { ...this.settings, ...changed };
    await this.saveData(this.settings);
  }

  /** Adds a phrase to what is never linked. */
  never(words: string): Promise<void> {
    return this.set({ neverLink: `${this.settings.neverLink.trimEnd()}\n${words}`.trim() });
  }
}
