// The frame of the page: which view is shown, shortcuts, theme, trouble.

import * as api from './api.js';
import { el, empty, route, say, thousands, waiting } from './dom.js';
import { finder } from './finder.js';
import { suggest } from './suggest.js';
import { document_ } from './document.js';
import { map } from './map.js';
import { words } from './words.js';

const VIEWS = { suggest, document: document_, map, words };
const main = document.getElementById('view');
const trouble = document.getElementById('trouble');
let info, leave, shown = 0;

/** What the address asks for: `#/document/an%20id` is the view and what it is about. */
function place() {
  const [view, ...rest] = location.hash.replace(/^#\/?/, '').split('/');
  const decoded = (part) => { try { return decodeURIComponent(part); } catch { return part; } };
  return { view: VIEWS[view] ? view : 'suggest', about: rest.length ? decoded(rest.join('/')) : undefined };
}

async function show() {
  const { view, about } = place();
  const turn = shown += 1;
  leave?.();
  leave = undefined;
  trouble.hidden = true;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.view === view) link.setAttribute('aria-current', 'page'); else link.removeAttribute('aria-current');
  }
  main.className = view;
  main.replaceChildren(waiting());
  try {
    info ??= await api.info();
    document.getElementById('name').textContent = info.name || 'hd2v';
    document.getElementById('name').title = `${thousands(info.documents)} documents, ${thousands(info.links)} links`;
    const left = await VIEWS[view](main, { info, about, failed, current: () => turn === shown, titled });
    if (turn === shown) leave = left; else left?.();
    // Those who read by keyboard or ear go on with what is new.
    if (turn === shown && turn > 1 && document.activeElement === document.body) main.focus({ preventScroll: true });
  } catch (error) {
    if (turn === shown) {
      main.replaceChildren(empty(error.kind === 'unknown' ? error.message : 'Nothing to show.'));
      failed(error);
    }
  }
}

function titled(text) {
  document.title = text ? `${text} · ${info?.name || 'hd2v'}` : info?.name || 'hd2v';
}

/** Tells what went wrong, with a way on. */
function failed(error) {
  if (error.name === 'AbortError') return;
  if (!(error instanceof api.Trouble)) console.error(error);
  const text = error instanceof api.Trouble ? error.message : 'Something went wrong in this page.';
  trouble.replaceChildren(el('span', {}, text), el('button', { type: 'button', on: { click: show } }, 'Try again'));
  trouble.hidden = false;
  if (error.kind === 'busy') setTimeout(() => { if (!trouble.hidden) show(); }, error.wait);
}

addEventListener('hashchange', () => { scrollTo(0, 0); show(); });
document.addEventListener('trouble', (event) => failed(event.detail));

document.getElementById('finder').append(finder('Find a document by its title or id', (hit) => { location.hash = route('document', hit.id); }));

document.querySelector('.skip').addEventListener('click', (event) => { event.preventDefault(); main.focus(); });

const themeButton = document.getElementById('theme');
const pressed = () => themeButton.setAttribute('aria-pressed', String(document.documentElement.dataset.theme === 'dark'));
const toggle = () => { window.toggleTheme(); say(`${document.documentElement.dataset.theme} colours`); };
themeButton.addEventListener('click', toggle);
addEventListener('theme', pressed);
pressed();
const keys = document.getElementById('keys');
document.getElementById('help').addEventListener('click', () => keys.showModal());
for (const dialog of document.querySelectorAll('dialog')) {
  dialog.addEventListener('click', (event) => { if (event.target === dialog && dialog === keys) dialog.close(); });
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  if (event.target.closest('input, textarea, select')) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  const view = Object.keys(VIEWS)[Number(event.key) - 1];
  if (view) location.hash = route(view);
  else if (event.key === '/') document.querySelector('#finder input').focus();
  else if (event.key === 't') toggle();
  else if (event.key === '?') keys.showModal();
  else return;
  event.preventDefault();
});

show();
