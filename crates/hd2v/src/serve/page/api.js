// Requests to the server: a function for each, errors as sentences, a dialog for the token when the server requires it.

export class Trouble extends Error {
  /** `gone`: no answer; `busy`: too many requests; `unknown`: no such thing; otherwise the server's code. */
  constructor(kind, message, wait = 0) { super(message); this.kind = kind; this.wait = wait; }
}

const TOKEN = 'hd2v.token';
const stored = () => { try { return sessionStorage.getItem(TOKEN); } catch { return null; } };
let token = stored();
const bearing = () => (token ? { authorization: `Bearer ${token}` } : {});
let asking;

/** Asks for the token; several questions wait for one answer. */
function askToken() {
  asking ??= new Promise((resolve) => {
    const dialog = document.getElementById('ask-token');
    document.getElementById('token-wrong').hidden = !token;
    const input = document.getElementById('token');
    input.value = '';
    // Esc closes it too, and gives nothing.
    dialog.returnValue = '';
    dialog.addEventListener('close', () => {
      asking = undefined;
      const given = dialog.returnValue === 'go' && input.value.trim();
      if (given) {
        token = given;
        try { sessionStorage.setItem(TOKEN, token); } catch { /* it lasts as long as the page */ }
      }
      resolve(Boolean(given));
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

/** What was answered once and holds as long as the model does; which model that is, by the latest question. */
const kept = new Map();
let model, latest = 0, questions = 0;

function noteModel(now, question) {
  if (!now || question < latest) return;
  const replaced = model && now !== model;
  [model, latest] = [now, question];
  if (!replaced) return;
  kept.clear();
  document.dispatchEvent(new Event('model'));
}

async function ask(path, options = {}) {
  const [sent, question] = [token, questions += 1];
  const headers = { ...(options.body && { 'content-type': 'application/json' }), ...bearing() };
  let answer;
  try {
    answer = await fetch(`api/${path}`, { ...options, headers });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Trouble('gone', 'No answer from the server. Is hd2v serve still running?');
  }
  noteModel(answer.headers.get('x-model'), question);
  if (answer.status === 401) {
    // Another question may have got the right token meanwhile.
    if (token !== sent || await askToken()) return ask(path, options);
    throw new Trouble('token', 'The server does not answer without the token.');
  }
  const body = await answer.json().catch((error) => {
    if (error.name === 'AbortError') throw error;
    return {};
  });
  if (answer.ok) return answer.status === 202 ? { ...body, ready: false } : body;
  const message = body.error?.message || `The server answered with status ${answer.status}.`;
  if (answer.status === 429 || answer.status === 503) {
    throw new Trouble('busy', 'The server is busy. Trying again …', 1000 * (Number(answer.headers.get('retry-after')) || 1));
  }
  throw new Trouble(answer.status === 404 ? 'unknown' : body.error?.code || 'refused', message);
}

const get = (path, query, options) => ask(`${path}?${new URLSearchParams(query)}`, options);

async function once(path) {
  if (!kept.has(path)) {
    const before = model;
    const answer = await ask(path);
    if (answer.ready === false || (before && before !== model)) return answer;
    kept.set(path, answer);
  }
  return kept.get(path);
}

/** Whether somebody answers again. */
export const back = () => fetch('api/ready', { headers: bearing() }).then(({ status }) => status < 500, () => false);
export const info = () => once('info');
export const examples = () => once('examples');
export const recommend = (question, signal) => ask('recommend', { method: 'POST', body: JSON.stringify(question), signal });
export const suggest = (draft, signal) => ask('suggest', { method: 'POST', body: JSON.stringify(draft), signal });
export const text = (id) => get('document/text', { id });
export const similar = (id, by, top = 10) => get('similar', { id, by, top });
export const near = (word, by, top = 15) => get('words', { word, by, top });
export const document_ = (id, offset = 0, top = 10) => get('document', { id, offset, top });
export const suggestions = (id, top = 10) => get('document/suggestions', { id, top });
export const search = (q, signal, top = 8) => get('search', { q, top }, { signal });
export const map = () => once('map');
