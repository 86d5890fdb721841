// A link written into a text: which characters, and where the caret goes. No page here, so that it can be tried alone.

export const SYNTAXES = { wiki: '[[id]]', markdown: 'Markdown', bibtex: '\\cite{id}' };

/** The text of a link to `hit` around `words` that are selected, which may be none. */
function written(syntax, hit, words) {
  const plain = (text) => text.replace(/[\[\]]/g, '\\$&').replace(/\s+/g, ' ').trim();
  switch (syntax) {
    case 'markdown': {
      const target = (hit.url || hit.id).replace(/[()<> ]/g, encodeURIComponent).replace(/\(/g, '%28').replace(/\)/g, '%29');
      return `[${words || plain(hit.title || hit.id)}](${target})`;
    }
    case 'bibtex': return `${words}${words ? ' ' : ''}\\cite{${hit.id}}`;
    default: return words ? `[${words}][[${hit.id}]]` : `[[${hit.id}]]`;
  }
}

/**
 * Where to put a link: `{start, end, text}` replaces what is between. Beside a word a space is left; a key goes into
 * the \cite{} that stands right before the caret.
 */
export function insertion(syntax, hit, text, start, end) {
  const before = text.slice(0, start);
  if (syntax === 'bibtex' && start === end) {
    const cite = /\\cite\{([^{}]*)\}$/.exec(before);
    if (cite) return { start: start - 1, end: start, text: `,${hit.id}}` };
  }
  const link = written(syntax, hit, text.slice(start, end));
  const left = start === end && /[^\s([{"'“‘~-]$/.test(before) ? ' ' : '';
  const right = /^[\p{L}\p{N}]/u.test(text.slice(end)) ? ' ' : '';
  return { start, end, text: left + link + right };
}
