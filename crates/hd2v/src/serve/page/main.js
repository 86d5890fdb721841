// The frame of the page: the current view, shortcuts, theme, error messages.

import * as api from './api.js';
import { el, empty, route, say, thousands, waiting } from './dom.js';
import { finder } from './finder.js';
import { suggest } from './suggest.js';
import { draft } from './draft.js';
import { document_ } from './document.js';
import { map } from './map.js';
import { words } from './words.js';

const VIEWS = { suggest, draft, document: document_, map, words };
const main = document.getElementById('view');
const trouble = document.getElementById('trouble');
/** Milliseconds between looks for a server that does not answer. */
const LOOK = 3000;
let info, leave, shown = 0, waitingFor, wrong = false, byKey = false;

/** What the address asks for: `#/document/an%20id` is the view and what it is about. */
function place() {
  const [view, ...rest] = location.hash.replace(/^#\/?/, '').split('/');
  const decoded = (part) => { try { return decodeURIComponent(part); } catch { return part; } };
  return { view: view || 'suggest', about: rest.length ? decoded(rest.join('/')) : undefined };
}

async function show() {
  const { view, about } = place();
  const turn = shown += 1;
  const keyed = byKey;
  byKey = false;
  // Nobody is taken out of a box that they have gone to meanwhile.
  const enter = (box) => { if (!keyed && !document.activeElement.closest('input, textarea')) box.focus(); };
  leave?.();
  leave = undefined;
  if (!waitingFor) trouble.hidden = true;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.view === view) link.setAttribute('aria-current', 'page'); else link.removeAttribute('aria-current');
  }
  main.className = view;
  main.replaceChildren(waiting());
  if (!Object.hasOwn(VIEWS, view)) {
    titled('Not found');
    main.replaceChildren(empty('There is nothing at this address. ', el('a', { href: '#/suggest' }, 'Suggest links')));
    return;
  }
  try {
    info = await api.info();
    if (turn !== shown) return;
    document.getElementById('name').textContent = info.name || 'hd2v';
    document.getElementById('name').title = `${thousands(info.documents)} documents, ${thousands(info.links)} links`;
    const left = await VIEWS[view](main, { info, about, failed, fine, notice, enter, current: () => turn === shown, titled });
    if (turn === shown) leave = left; else left?.();
    // Those who read by keyboard or ear go on with what is new.
    if (turn === shown && turn > 1 && document.activeElement === document.body) (main.querySelector('canvas') ?? main).focus({ preventScroll: true });
  } catch (error) {
    if (turn === shown) {
      main.replaceChildren(empty(error instanceof api.Trouble ? error.message : 'Nothing to show.'));
      failed(error);
    }
  }
}

function titled(text) {
  document.title = text ? `${text} · ${info?.name || 'hd2v'}` : info?.name || 'hd2v';
}

/** A line above the view, with a button or without. */
function notice(text, button, click) {
  trouble.replaceChildren(el('span', {}, text), button ? el('button', { type: 'button', on: { click } }, button) : '');
  trouble.hidden = false;
  wrong = false;
}

/** Asks again what was not answered: the view itself where it knows how, so that its boxes stay. */
function again() {
  fine();
  if (leave?.again) leave.again(); else show();
}

/** The server answers. */
function fine() {
  clearInterval(waitingFor);
  waitingFor = undefined;
  if (wrong) trouble.hidden = true;
}

/** Tells what went wrong, with a way on. */
function failed(error) {
  if (error.name === 'AbortError') return;
  if (!(error instanceof api.Trouble)) console.error(error);
  notice(error instanceof api.Trouble ? error.message : 'Something went wrong on this page.', 'Try again', again);
  wrong = true;
  const turn = shown;
  if (error.kind === 'busy') setTimeout(() => { if (turn === shown) again(); }, error.wait);
  if (error.kind === 'gone') waitingFor ??= setInterval(async () => { if (await api.back() && waitingFor) again(); }, LOOK);
}

addEventListener('hashchange', () => { scrollTo(0, 0); show(); });
// Nothing is taken away from those who write; the other views show the new model.
document.addEventListener('model', () => {
  const writing = ['suggest', 'draft'].includes(place().view);
  if (!writing) show();
  notice('The model was replaced.', writing && 'Show it', show);
});
document.addEventListener('trouble', (event) => failed(event.detail));

document.getElementById('finder').append(finder('Find a document by its title or id', (hit) => { location.hash = route('document', hit.id); }));

document.querySelector('.skip').addEventListener('click', (event) => { event.preventDefault(); main.focus(); });

const themeButton = document.getElementById('theme');
const pressed = () => themeButton.setAttribute('aria-pressed', String(document.documentElement.dataset.theme === 'dark'));
const toggle = () => { window.toggleTheme(); say(`${document.documentElement.dataset.theme} theme`); };
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
  // By these keys no box is entered: another one may follow.
  if (view && location.hash !== route(view)) { byKey = true; location.hash = route(view); }
  else if (event.key === '/') document.querySelector('#finder input').focus();
  else if (event.key === 't') toggle();
  else if (event.key === '?') keys.showModal();
  else return;
  event.preventDefault();
});

show();
