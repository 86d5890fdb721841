// The page in headless Chromium, on a model made for it: every view, hostile titles, tokens, a server that goes away.
// node test.mjs HD2V CHROMIUM FOLDER [TEST ...]

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { HOSTILE, LONG_ID, LONG_TITLE } from './corpus.mjs';
import { makeModel, serve } from './server.mjs';

const [hd2v, executablePath, folder, ...wanted] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, 'package.json'))('playwright-core');
const started = Date.now();
const say = (text) => console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`);
const picture = (page, name) => page.screenshot({ path: join(folder, `${name}.png`) });

const model = makeModel(hd2v, join(folder, 'model'));
const server = await serve(hd2v, model, '--corpus', join(folder, 'model', 'corpus'));
say(`a model, served at ${server.base}`);
const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const browser = await chromium.launch({ executablePath, args: quiet });

/** Closes tabs; answers that are still on their way to them are nobody's trouble. */
async function leave(context) {
  for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.close();
}

/** A tab of its own, and what must not happen in it. */
async function tab(options = {}, base = server.base) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, colorScheme: 'light', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  const wrong = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(`console: ${message.text()}`); });
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => { if (!request.url().startsWith(base)) wrong.push(`outside: ${request.url()}`); });
  const close = async (...allowed) => {
    const left = wrong.filter((one) => !allowed.some((text) => one.includes(text)));
    assert.deepEqual(left, [], 'no console error, no script run, no request to another host');
    await leave(context);
  };
  await page.goto(base);
  return { page, close };
}
const text = (page, selector) => page.locator(selector).first().textContent();
const go = (page, hash) => page.evaluate((hash) => { location.hash = hash; }, hash);
const first = async (page, title) => page.waitForFunction((title) => document.querySelector('.hit .title')?.textContent === title, title);

async function suggests() {
  const { page, close } = await tab();
  const box = page.locator('textarea');
  await box.click();
  await page.keyboard.type('before the storm the crew lowered the mainsail ');
  await first(page, 'Mainsail');
  assert.match(await text(page, '.hit .score'), /%/, 'a probability');
  assert.match(await text(page, '.hit .context'), /this/, 'in what words others link to it');
  const marks = () => page.locator('.shades mark').evaluateAll((marks) => marks.map((mark) => [mark.textContent, mark.className, Number(mark.dataset.level)]));
  const shaded = await marks();
  assert.ok(shaded.some(([word, kind, level]) => word === 'mainsail' && kind === 'for' && level === 4), `shaded: ${JSON.stringify(shaded)}`);
  const same = await page.evaluate(() => {
    const [shades, box] = [document.querySelector('.shades'), document.querySelector('textarea')];
    return shades.textContent === `${box.value}\n` && shades.clientWidth === box.clientWidth && getComputedStyle(shades).font === getComputedStyle(box).font;
  });
  assert.ok(same, 'the shades lie behind their words');
  await picture(page, 'suggest-light');

  await page.locator('.hit').nth(2).hover();
  await page.waitForFunction(() => document.querySelectorAll('.hit')[2].classList.contains('active'));
  assert.notDeepEqual(await marks(), shaded, 'another hit, other shades');
  await page.mouse.move(5, 5);
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Control+Enter');
  assert.equal(await box.inputValue(), 'before the storm the crew lowered the mainsail [[mainsail]]');
  await page.keyboard.press('Control+z');
  assert.equal(await box.inputValue(), 'before the storm the crew lowered the mainsail ', 'undone');
  await page.selectOption('#syntax', 'markdown');
  await page.locator('.insert').first().focus();
  await page.keyboard.press('ArrowDown');
  assert.ok(await page.evaluate(() => document.activeElement === document.querySelectorAll('.insert')[1]));
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  assert.equal(await box.inputValue(), 'before the storm the crew lowered the mainsail [Mainsail](https://example.org/mainsail)');
  await page.selectOption('#syntax', 'bibtex');
  await box.fill('they stood before the oven with the sourdough');
  await first(page, 'Sourdough');
  await page.keyboard.press('Control+Enter');
  assert.equal(await box.inputValue(), 'they stood before the oven with the sourdough \\cite{sourdough}');

  await page.waitForFunction(() => document.querySelector('.hit') && ![...document.querySelectorAll('.hit .title')].some((title) => title.textContent === 'Sourdough'));
  const asked = page.waitForRequest((request) => request.url().endsWith('/api/recommend'));
  await page.keyboard.type(' and');
  assert.doesNotMatch((await asked).postDataJSON().text, /cite/, 'a link is no word of the question');
  await box.fill('they stood before the oven with the sourdough');
  await first(page, 'Sourdough');

  await page.locator('.options summary').click();
  await page.selectOption('#rank', 'bm25');
  await page.waitForFunction(() => document.querySelector('.hit .score')?.textContent.includes('%') === false);
  await page.getByLabel('trade:music').check();
  await page.waitForFunction(() => !document.querySelector('.hit') || document.querySelector('.hit .title').textContent !== 'Sourdough');
  await page.locator('.fields > button').click();
  await first(page, 'Sourdough');
  await page.fill('#before', '2009-13');
  await page.waitForFunction(() => document.getElementById('before').getAttribute('aria-invalid') === 'true' && document.getElementById('before-wrong').textContent.includes('2009-06'));
  const earlier = page.waitForRequest((request) => request.url().endsWith('/api/recommend') && request.postDataJSON().before === '1991');
  await page.fill('#before', '1991');
  await earlier;
  await page.waitForFunction(() => document.getElementById('before').getAttribute('aria-invalid') === 'false' && !document.getElementById('before-wrong').textContent);
  await close();
  say('suggests, shades, inserts, filters');
}

const textOf = text;
/** The words that are underlined. */
const underlined = (page) => page.locator('.places mark').allTextContents();
const until = (page, words) => page.waitForFunction((words) => {
  const found = [...document.querySelectorAll('.places mark')].map((mark) => mark.textContent);
  return JSON.stringify(found) === JSON.stringify(words) && !document.querySelector('#proposals[aria-busy]');
}, words);

async function beginsWithExamples() {
  const { page, close } = await tab();
  await page.waitForSelector('.example');
  assert.match(await text(page, '.counts'), /^1\d\d documents[\d,]+ links[\d,]+ words$/);
  assert.match(await text(page, '.welcome p:nth-of-type(2)'), /A model of 1\d\d documents/);
  assert.ok(await page.locator('.key').isHidden(), 'nothing is shaded yet');
  await picture(page, 'first-light');
  assert.ok(await page.locator('.example').count() > 1);
  const wanted = await page.locator('.example > span').first().evaluate((one) => [one.firstChild.textContent, one.lastChild.textContent]);
  await page.locator('.example').first().click();
  await page.waitForSelector('.hit .title');
  const [written, caret] = await page.locator('textarea').evaluate((box) => [box.value, box.selectionEnd]);
  assert.deepEqual([written.slice(0, caret), written.slice(caret)], wanted, 'the sentence, and the caret where its link was');
  assert.match(await text(page, '.key'), /Shaded words speak for/);
  await page.fill('textarea', '');
  await page.waitForSelector('.example');
  await close();
  say('begins with sentences of the collection');
}

async function reviewsADraft() {
  const { page, close } = await tab();
  await go(page, '#/draft');
  const box = page.locator('#draft');
  const text = 'In the harbour they took the mainsail for the wind and storm.\n\n# The mainsail\n\nNear the oven they took the sourdough for the crust and sugar; the sourdough was warm.\n';
  await box.fill(text);
  await until(page, ['mainsail', 'sourdough']);
  const same = await page.evaluate(() => {
    const [marks, box] = [document.querySelector('.places'), document.querySelector('#draft')];
    return marks.textContent === `${box.value}\n` && marks.clientWidth === box.clientWidth && getComputedStyle(marks).font === getComputedStyle(box).font;
  });
  assert.ok(same, 'the lines lie below their words');
  await picture(page, 'draft-light');

  // By key in the text: accepted, undone, chosen, dismissed.
  await box.focus();
  await page.keyboard.press('Control+Enter');
  const linked = text.replace('the mainsail for', 'the [mainsail](mainsail.md) for');
  assert.equal(await box.inputValue(), linked);
  await until(page, ['sourdough']);
  await page.keyboard.press('Control+z');
  assert.equal(await box.inputValue(), text, 'undone');
  await until(page, ['mainsail', 'sourdough']);
  await page.keyboard.press('Alt+ArrowDown');
  assert.equal(await page.locator('.places mark.active').textContent(), await page.locator('.hit.active .words').textContent().then((words) => words.replace(' → ', '')));
  const chosen = await page.locator('.places mark.active').textContent();
  await page.keyboard.press('Alt+Delete');
  await until(page, ['mainsail', 'sourdough'].filter((words) => words !== chosen));
  await page.waitForTimeout(700);
  assert.deepEqual(await underlined(page), ['mainsail', 'sourdough'].filter((words) => words !== chosen), 'dismissed ones stay away');
  await page.getByRole('button', { name: 'Propose dismissed ones again' }).click();
  await until(page, ['mainsail', 'sourdough']);

  // In the list: moved, accepted, in the syntax of the format.
  for (const [format, put] of [['latex', 'mainsail~\\cite{mainsail}'], ['mediawiki', '[[mainsail]]'], ['html', '<a href="mainsail.html">mainsail</a>'], ['rst', ':doc:`mainsail </mainsail>`'], ['plain', '[mainsail][[mainsail]]']]) {
    await page.selectOption('#format', format);
    await box.fill('In the harbour they took the mainsail for the wind and storm.');
    await until(page, ['mainsail']);
    await page.locator('.insert').first().focus();
    await page.keyboard.press('Enter');
    assert.equal(await box.inputValue(), `In the harbour they took the ${put} for the wind and storm.`, format);
    await until(page, []);
  }
  assert.match(await textOf(page, '#proposals .nothing'), /No link is proposed/);

  // A file is opened as what its name says.
  await page.setInputFiles('#file', { name: 'draft.tex', mimeType: 'text/x-tex', buffer: Buffer.from('In the harbour they took the mainsail \\cite{?} for the wind.') });
  await page.waitForFunction(() => document.querySelector('#format').value === 'latex' && document.querySelector('.places mark'));
  assert.match(await box.inputValue(), /cite/);
  await page.evaluate(() => window.toggleTheme());
  await picture(page, 'draft-dark');
  await page.reload();
  await page.waitForSelector('#draft');
  assert.match(await page.inputValue('#draft'), /cite/, 'a draft survives a reload');
  await close();
  say('reviews a draft: accepts and dismisses by key, in every format');
}

async function opensTheTextOfADocument() {
  const { page, close } = await tab();
  await go(page, '#/draft');
  await page.fill('#draft', 'an unrelated draft');
  await go(page, '#/document/mainsail');
  await page.getByRole('link', { name: 'Suggest links in it' }).click();
  await page.waitForFunction(() => document.querySelector('#draft')?.value.startsWith('the mainsail is what people in sailing speak of'));
  assert.equal(await page.inputValue('#format'), 'plain');
  await page.waitForFunction(() => document.querySelector('.writing a')?.textContent === 'Mainsail');
  assert.match(await page.inputValue('#draft'), /\]\[\[/, 'with the links that it has');
  await page.waitForFunction(() => !document.querySelector('#proposals[aria-busy]'));
  await picture(page, 'draft-of-a-document');
  await go(page, '#/draft');
  await page.waitForFunction(() => document.querySelector('#draft')?.value === 'an unrelated draft');
  await close();
  const bare = await serve(hd2v, model);
  const without = await tab({}, bare.base);
  await go(without.page, '#/draft/mainsail');
  await without.page.waitForFunction(() => /started without --corpus/.test(document.querySelector('#proposals .nothing')?.textContent));
  assert.equal(await without.page.inputValue('#draft'), '');
  await without.close('404');
  await bare.stop();
  say('opens the text of a document, and no unrelated draft');
}

async function heedsWhereTheCaretIs() {
  const { page, close } = await tab();
  const box = page.locator('textarea');
  const caret = (at) => box.evaluate((box, at) => box.setSelectionRange(at, at), at);
  const asked = [];
  page.on('request', (request) => { if (request.url().endsWith('/api/recommend')) asked.push(request.postDataJSON().text); });
  await box.fill('before the storm the crew lowered the mainsail and slept');
  await caret(42);
  await first(page, 'Mainsail');
  await page.waitForFunction(() => !document.querySelector('.hits[aria-busy]'));
  await page.keyboard.press('Control+Enter');
  assert.equal(await box.inputValue(), 'before the storm the crew lowered the mainsail [[mainsail]] and slept', 'no word is split');
  assert.ok(asked.every((text) => !text.includes('mainsa ')), `asked: ${asked}`);
  const marked = page.waitForRequest((request) => request.postDataJSON?.()?.text?.startsWith('what does'));
  await box.fill('what does [[?]] mean to the crew that lowered the mainsail ');
  assert.equal((await marked).postDataJSON().text.split('[[?]]').length, 2, 'one place');
  await page.waitForFunction(() => !document.querySelector('.hits[aria-busy]'));
  await first(page, 'Mainsail');

  // A list that is drawn under a mouse at rest; the page stays where it is while one types.
  const third = await page.locator('.hit').nth(2).boundingBox();
  await page.mouse.move(third.x + 40, third.y + 12, { steps: 3 });
  await page.waitForFunction(() => document.querySelectorAll('.hit')[2].classList.contains('active'));
  await box.fill('');
  await page.waitForFunction(() => !document.querySelector('.hit'));
  await page.evaluate(() => scrollTo(0, 0));
  await box.pressSequentially('they stood before the oven with the sourdough ');
  await first(page, 'Sourdough');
  await page.waitForTimeout(300);
  assert.ok(await page.evaluate(() => document.querySelector('.hit').classList.contains('active')), 'the mouse did not move');
  await page.keyboard.press('Control+Enter');
  assert.equal(await box.inputValue(), 'they stood before the oven with the sourdough [[sourdough]]');
  await page.setViewportSize({ width: 390, height: 500 });
  await page.evaluate(() => scrollTo(0, 40));
  await box.pressSequentially(' and the butter');
  await page.waitForTimeout(600);
  assert.equal(await page.evaluate(() => scrollY), 40, 'typing does not scroll');
  await page.keyboard.press('Alt+ArrowUp');
  await page.waitForFunction(() => scrollY > 40);

  // A long text is not read as a whole at every key.
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.evaluate(() => {
    const { segment } = Intl.Segmenter.prototype;
    window.longest = 0;
    Intl.Segmenter.prototype.segment = function (text) { window.longest = Math.max(window.longest, text.length); return segment.call(this, text); };
  });
  await box.fill(`${`${'the crew lowered the sand '.repeat(36)}\n`.repeat(500)} mainsail `);
  await first(page, 'Mainsail');
  await page.waitForFunction(() => document.querySelector('.shades').textContent === `${document.querySelector('textarea').value}\n`);
  const took = await page.evaluate(() => {
    const started = performance.now();
    document.querySelector('textarea').dispatchEvent(new Event('input'));
    return performance.now() - started;
  });
  const longest = await page.evaluate(() => window.longest);
  assert.ok(longest > 0 && longest < 20000, `${longest} characters were read`);
  say(`468,000 characters: ${took.toFixed(1)} ms at a key`);
  await close();
  say('heeds where the caret is and nothing else');
}

async function writesInADocument() {
  const { page, close } = await tab();
  await go(page, '#/suggest/mainsail');
  await page.waitForFunction(() => document.querySelector('.writing')?.textContent.includes('Mainsail'));
  const sourced = (source) => page.waitForRequest((request) => request.url().endsWith('/api/recommend') && request.postDataJSON().source === source);
  let asked = sourced('mainsail');
  await page.fill('textarea', 'before the storm the crew lowered the keel ');
  await asked;
  asked = sourced(undefined);
  await page.locator('nav a').first().click();
  await asked;
  await page.waitForSelector('.writing', { state: 'hidden' });
  await page.locator('.options summary').click();
  asked = sourced('jib');
  await page.locator('.field input[type=search]').fill('jib');
  await page.locator('.field [role=option]').first().click();
  await asked;
  assert.match(page.url(), /#\/suggest\/jib$/);
  asked = sourced(undefined);
  await page.locator('.writing button').click();
  await asked;
  assert.match(page.url(), /#\/suggest$/);
  await page.setViewportSize({ width: 1280, height: 720 });
  assert.ok(await page.evaluate(() => document.querySelector('.write').getBoundingClientRect().height <= innerHeight), 'all of the column can be reached');
  await close();
  say('writes in a document, and in none');
}

async function dropsStaleAnswers() {
  const { page, close } = await tab();
  await page.route('**/api/recommend', async (route) => {
    if (route.request().postData().includes('violin')) await new Promise((done) => { setTimeout(done, 1500); });
    await route.continue().catch(() => {});
  });
  await page.fill('textarea', 'they tuned the violin ');
  await page.waitForTimeout(400);
  await page.fill('textarea', 'the tactic with the knight ');
  await first(page, 'Knight');
  await page.waitForTimeout(1600);
  await first(page, 'Knight');
  await close();
  const { page: other, close: closeOther } = await tab();
  let refused = 0;
  await other.route('**/api/recommend', (route) => ((refused += 1) > 2 ? route.continue()
    : route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { error: { code: 'too-many-requests', message: 'wait' } } })));
  await other.fill('textarea', 'the tactic with the knight ');
  await first(other, 'Knight');
  await closeOther('429');
  const { page: third, close: closeThird } = await tab();
  let late = 0;
  await third.route('**/api/recommend', (route) => { late += 1; return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: {} }); });
  await third.fill('textarea', 'the tactic with the knight ');
  await third.waitForTimeout(400);
  await go(third, '#/words');
  await third.waitForSelector('main.words input');
  const before = late;
  await third.waitForTimeout(1500);
  assert.equal(late, before, 'nobody asks for a view that was left');
  await closeThird('429');
  say('drops stale answers, comes back when it was told to wait');
}

async function showsHostileTitlesAsText() {
  const { page, close } = await tab();
  await page.fill('textarea', 'nobody dares to say xyzzy near the unspeakable ');
  await first(page, HOSTILE);
  await page.locator('.hit .title').first().click();
  await page.waitForSelector('h1');
  assert.equal(await text(page, 'h1'), HOSTILE);
  assert.ok((await page.locator('.label').allTextContents()).some((label) => label.includes('onerror')));
  assert.equal(await page.locator('.actions a', { hasText: 'Read it' }).count(), 0, 'javascript: is no address');
  await picture(page, 'hostile-light');
  await go(page, '#/map/unspeakable');
  await page.waitForFunction((title) => document.querySelector('.tip b')?.textContent === title, HOSTILE);
  await go(page, `#/words/${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
  await page.waitForSelector('main.words .empty');
  assert.equal(await page.locator('main script, main img').count(), 0);
  await close('404');
  say('shows hostile titles as text');
}

/** Leaves the text that the page enters when it is ready. */
async function leaveText(page) {
  await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
  await page.keyboard.press('Escape');
}

async function opensDocuments() {
  const { page, close } = await tab();
  await leaveText(page);
  await page.keyboard.press('/');
  await page.keyboard.type('mains');
  await page.waitForSelector('#finder [role=option]');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Mainsail');
  await page.waitForFunction(() => document.querySelectorAll('.card .rows').length >= 4);
  const cards = await page.locator('.card').evaluateAll((cards) => cards.map((card) => [card.querySelector('h2').firstChild.textContent, card.querySelectorAll('li, .prose p').length]));
  for (const [title, rows] of cards) assert.ok(rows > 0, `${title} has rows`);
  assert.deepEqual(cards.map(([title]) => title), ['Text', 'Linked by', 'Might link to', 'Links to', 'Says similar things', 'Linked in similar contexts']);
  assert.ok(!/\b(IN|OUT)\b/.test(await page.locator('main').innerText()), 'jargon is in tooltips alone');
  assert.equal(await page.locator('.itself').getAttribute('href'), 'https://example.org/mainsail');
  assert.match(await page.locator('.prose a').first().getAttribute('href'), /^#\/document\//);
  await picture(page, 'document-light');
  const more = page.locator('.card button', { hasText: 'Show more' });
  if (await more.isVisible()) {
    await more.click();
    await page.waitForFunction(() => document.querySelectorAll('.contexts li').length > 10);
  }
  const other = page.locator('.card .rows a').first();
  const title = await other.textContent();
  await other.click();
  await page.waitForFunction((title) => document.querySelector('h1')?.textContent === title, title);
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Mainsail');
  await go(page, '#/document/nothing-like-it');
  await page.waitForSelector('main .empty');
  assert.match(await text(page, 'main .empty'), /nothing-like-it/);
  assert.ok(await page.locator('#trouble').isHidden() && await page.locator('main input').isVisible(), 'told once, with a way on');
  await go(page, '#/map/nothing-like-it');
  await page.waitForFunction(() => document.getElementById('trouble').textContent.includes('nothing-like-it'), undefined, { timeout: 60000 });
  for (const nowhere of ['#/nowhere', '#/constructor']) {
    await go(page, '#/words');
    await page.waitForSelector('main.words input');
    await go(page, nowhere);
    await page.waitForFunction(() => document.querySelector('main .empty')?.textContent.includes('nothing at this address'));
  }
  await go(page, '#/document/drying');
  await page.waitForFunction(() => document.querySelectorAll('.card .rows').length >= 3);
  const alike = await page.locator('.card', { hasText: 'Links to' }).locator('.rows a', { hasText: 'Curing' }).allTextContents();
  assert.deepEqual(alike.sort(), ['Curingcuring-1', 'Curingcuring-2'], 'equal titles are told apart');

  // A pick closes the list for good, and leaves the box.
  await page.fill('#finder input', 'mainsa');
  await page.waitForSelector('#finder [role=option]');
  await page.locator('#finder input').press('i');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Mainsail');
  await page.waitForTimeout(400);
  assert.ok(await page.locator('#finder ul').isHidden());
  await page.route('**/api/search*', () => {});
  const dropped = page.waitForEvent('requestfailed');
  await page.fill('#finder input', 'mainsa');
  await page.waitForRequest((request) => request.url().includes('/api/search'));
  await page.keyboard.press('Escape');
  assert.match((await dropped).url(), /search/, 'nobody waits for it any more');
  await page.keyboard.press('3');
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Which document?');
  await page.keyboard.press('5');
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Which word?');
  await page.keyboard.press('2');
  await page.waitForSelector('#draft');
  await page.keyboard.press('1');
  await page.waitForSelector('textarea');
  assert.equal(await page.inputValue('textarea'), '');
  await close('404');
  say('opens documents, goes back, tells what is not there');
}

async function findsItsWayOnTheMap() {
  const { page, close } = await tab();
  await go(page, '#/map');
  await page.waitForSelector('canvas[data-ms]', { timeout: 60000 });
  const canvas = page.locator('canvas');
  const looks = () => canvas.evaluate((canvas) => canvas.toDataURL().length + canvas.toDataURL().slice(-4000));
  await page.waitForTimeout(300);
  await picture(page, 'map-light');
  const before = await looks();
  await page.mouse.move(700, 450);
  await page.mouse.down();
  await page.mouse.move(820, 520, { steps: 6 });
  await page.mouse.up();
  await page.waitForTimeout(100);
  const panned = await looks();
  assert.notEqual(panned, before, 'it pans');
  await page.mouse.wheel(0, -600);
  await page.waitForTimeout(100);
  assert.notEqual(await looks(), panned, 'it zooms');
  await page.fill('#map-search', 'mainsa');
  await page.waitForFunction(() => document.querySelector('.found-on-map a')?.textContent === 'Mainsail');
  await page.fill('#map-search', '');
  await page.waitForSelector('.found-on-map', { state: 'hidden' });
  const legend = await page.locator('.legend .name').allTextContents();
  assert.ok(legend.includes('sailing') && legend.some((name) => name.includes('onerror')), `the legend: ${legend}`);
  // Some have two labels: they count, and are shown, with both.
  const row = (name) => page.locator('.legend button', { hasText: name });
  assert.deepEqual(await Promise.all(['sailing', 'fish', 'music'].map((name) => row(name).locator('.times').textContent())), ['18', '4', '14']);
  const lies = await row('fish').boundingBox();
  await row('fish').click();
  await page.waitForFunction(() => document.querySelector('.side .hint')?.textContent === '4 documents');
  assert.deepEqual(await row('fish').boundingBox(), lies, 'the legend stays where it is');
  await row('sailing').click();
  await page.waitForFunction(() => document.querySelector('.side .hint')?.textContent === '18 documents');
  await page.selectOption('#group', 'size');
  assert.deepEqual(await page.locator('.legend .name').allTextContents().then((names) => names.sort()), ['long', 'no label', 'short']);
  await page.selectOption('#group', 'trade');
  await go(page, '#/map/mainsail');
  await page.waitForFunction(() => document.querySelector('.tip b')?.textContent === 'Mainsail');
  await page.waitForTimeout(200);
  await picture(page, 'map-one-light');
  // The links of the document under the pointer come when it rests there.
  const linked = page.waitForResponse((answer) => answer.url().includes('/api/document?id=jib'));
  await page.evaluate(() => { location.hash = '#/map/jib'; });
  await linked;
  await page.waitForFunction(() => document.querySelector('.tip b')?.textContent === 'Jib');
  await go(page, '#/map/mainsail');
  await page.waitForFunction(() => document.querySelector('.tip b')?.textContent === 'Mainsail');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Mainsail');
  await page.keyboard.press('4');
  await page.waitForSelector('canvas[data-ms]');
  await page.waitForTimeout(200);
  const whole = await looks();
  await page.keyboard.press('+');
  await page.waitForTimeout(200);
  assert.notEqual(await looks(), whole, 'keys work at once');
  await close();

  // How long 20,000 points take: told, not asserted.
  const { page: large, close: closeLarge } = await tab();
  const numbers = Array.from({ length: 20000 }, (_, i) => i);
  await large.route('**/api/map', (route) => route.fulfill({ json: {
    documents: 20000, x: numbers.map((i) => Math.sin(i * 0.7) * Math.sqrt(i / 20000)), y: numbers.map((i) => Math.cos(i * 0.7) * Math.sqrt(i / 20000)),
    labels: ['a', 'b', 'c'], label: numbers.map((i) => [i % 3]), links: numbers.map((i) => i % 150), ids: numbers.map(String), titles: numbers.map((i) => `Document ${i}`),
  } }));
  await go(large, '#/map');
  await large.waitForSelector('canvas[data-ms]');
  await large.mouse.move(700, 450);
  await large.mouse.down();
  const frames = large.evaluate(() => new Promise((done) => {
    const [frames, paints] = [[], []];
    let last = performance.now();
    const frame = (now) => {
      frames.push(now - last);
      paints.push(Number(document.querySelector('canvas').dataset.ms));
      last = now;
      if (frames.length < 60) requestAnimationFrame(frame);
      else done([frames, paints].map((times) => times.sort((a, b) => a - b)[30]));
    };
    requestAnimationFrame(frame);
  }));
  let panning = true;
  frames.finally(() => { panning = false; });
  for (let step = 0; panning && step < 500; step += 1) await large.mouse.move(700 + 40 * Math.sin(step / 5), 450 + 40 * Math.cos(step / 5));
  const [frame, paint] = await frames;
  await large.mouse.up();
  writeFileSync(join(folder, 'frames.json'), JSON.stringify({ points: 20000, frame_ms: frame, paint_ms: paint }));
  await closeLarge();
  say(`finds its way on the map; 20,000 points: a frame each ${frame.toFixed(1)} ms while panning, ${paint.toFixed(1)} ms of it to paint`);
}

async function knowsWords() {
  const { page, close } = await tab();
  await go(page, '#/words');
  await page.fill('main input', 'Mainsail');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('.cards .rows').length === 3);
  const documents = await page.locator('.card').nth(2).locator('a').allTextContents();
  assert.ok(documents.slice(0, 3).includes('Mainsail'), `what the word points to: ${documents}`);
  await picture(page, 'words-light');
  const near = page.locator('.card a').first();
  const word = await near.textContent();
  await near.click();
  await page.waitForFunction((word) => document.querySelector('h1')?.textContent === `“${word}”`, word);
  await go(page, '#/words/two%20words');
  await page.waitForFunction(() => document.querySelector('.cards .empty')?.textContent.includes('one word at a time'));
  await close('404');
  say('knows words');
}

async function isDarkWhenAsked() {
  const { page, close } = await tab();
  const look = () => page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]);
  const [theme, light] = await look();
  assert.equal(theme, 'light');
  await page.locator('#theme').click();
  const [dark, colour] = await look();
  assert.equal(dark, 'dark');
  assert.notEqual(colour, light);
  await page.reload();
  assert.equal((await look())[0], 'dark', 'remembered');
  await page.fill('textarea', 'before the storm the crew lowered the mainsail ');
  await first(page, 'Mainsail');
  await picture(page, 'suggest-dark');
  await go(page, '#/document/mainsail');
  await page.waitForFunction(() => document.querySelectorAll('.card .rows').length >= 4);
  await picture(page, 'document-dark');
  await go(page, '#/map');
  await page.waitForSelector('canvas[data-ms]');
  await page.waitForTimeout(300);
  await picture(page, 'map-dark');
  await page.keyboard.press('t');
  assert.equal((await look())[0], 'light');
  await page.keyboard.press('?');
  await page.waitForSelector('#keys[open]');
  await picture(page, 'keys-light');
  await close();
  const { page: system, close: closeSystem } = await tab({ colorScheme: 'dark' });
  assert.equal(await system.evaluate(() => document.documentElement.dataset.theme), 'dark', 'as the system says');
  await closeSystem();
  say('is dark when asked');
}

/** All views, with titles and ids that are long, at the widths of phones, tablets and desks. */
async function fitsAllScreens() {
  for (const [width, height] of [[320, 600], [390, 844], [820, 1180], [1280, 720]]) {
    const { page, close } = await tab({ viewport: { width, height }, hasTouch: width < 1000, isMobile: width < 1000 });
    const fits = async (name) => {
      // Of a phone, not innerWidth: it grows with what is too wide.
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= page.viewportSize().width, `${name} is ${wide} pixels wide on a screen of ${width}`);
      await picture(page, `${name}-${width}`);
    };
    await page.fill('textarea', 'they hung the herring over the smoke and salted the fillet ');
    await page.waitForFunction((titles) => titles.every((title) => [...document.querySelectorAll('.hit .title')].some((one) => one.textContent === title)), [LONG_ID, LONG_TITLE]);
    await fits('suggest-long');
    assert.ok(await page.evaluate(() => [...document.querySelectorAll('nav a')].every((link) => link.getClientRects().length && link.offsetHeight < 45)), 'no word of the bar is broken');
    assert.ok(await page.evaluate(() => [...document.querySelectorAll('.hit .context')].every((line) => {
      const mark = line.querySelector('.here').getBoundingClientRect();
      return mark.bottom <= line.getBoundingClientRect().bottom + 1;
    })), 'the mark of a link is seen');
    for (const id of [LONG_ID, 'drying']) {
      await go(page, `#/document/${encodeURIComponent(id)}`);
      await page.waitForFunction((title) => document.querySelector('h1')?.textContent === title && document.querySelectorAll('.card .rows').length >= 3, id === LONG_ID ? LONG_ID : LONG_TITLE);
      await fits(id === LONG_ID ? 'document-long' : 'document-titled');
    }
    await go(page, '#/suggest/drying');
    await page.waitForFunction((title) => document.querySelector('.writing a')?.textContent === title, LONG_TITLE);
    await fits('suggest-in');
    await go(page, '#/draft');
    await page.fill('#draft', 'In the harbour they took the mainsail for the wind and storm.');
    await page.waitForSelector('.places mark');
    await fits('draft-narrow');
    await go(page, '#/words/herring');
    await page.waitForFunction(() => document.querySelectorAll('.cards .rows').length === 3);
    await fits('words-long');
    await go(page, `#/map/${encodeURIComponent(LONG_ID)}`);
    await page.waitForFunction((id) => document.querySelector('.tip b')?.textContent === id, LONG_ID);
    await fits('map-long');
    await close();
  }
  say('fits screens of 320 to 1280 pixels');
}

async function fitsAPhone() {
  const { page, close } = await tab({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  const fits = (name) => picture(page, `${name}-phone`);
  await page.fill('textarea', 'before the storm the crew lowered the mainsail ');
  await first(page, 'Mainsail');
  await fits('suggest');
  await go(page, '#/document/mainsail');
  await page.waitForFunction(() => document.querySelectorAll('.card .rows').length >= 4);
  await fits('document');
  await go(page, '#/words/mainsail');
  await page.waitForFunction(() => document.querySelectorAll('.cards .rows').length === 3);
  await fits('words');
  await go(page, '#/map');
  await page.waitForSelector('canvas[data-ms]');
  await page.waitForTimeout(300);
  await fits('map');
  const looks = () => page.locator('canvas').evaluate((canvas) => canvas.toDataURL());
  const before = await looks();
  const touch = await page.context().newCDPSession(page);
  const fingers = (type, far) => touch.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x: 195 - far, y: 500, id: 1 }, { x: 195 + far, y: 500, id: 2 }] });
  await fingers('touchStart', 30);
  for (const far of [50, 70, 100]) await fingers('touchMove', far);
  await fingers('touchEnd');
  await page.waitForTimeout(200);
  assert.notEqual(await looks(), before, 'two fingers zoom');

  // A finger shows a title first; the same dot or what stands below the title opens it.
  for (const by of ['dot', 'tip']) {
    await go(page, '#/map/unspeakable');
    await page.waitForFunction(() => document.querySelector('.tip b'));
    await page.waitForTimeout(200);
    const { x, y, width, height } = await page.locator('canvas').boundingBox();
    const dot = [x + width / 2, y + height / 2];
    await page.touchscreen.tap(x + 20, y + height - 20);
    await page.waitForSelector('.tip', { state: 'hidden' });
    await page.touchscreen.tap(...dot);
    await page.waitForTimeout(300);
    assert.equal(await text(page, '.tip b'), HOSTILE, 'a touch shows the title');
    assert.ok(await page.locator('.tip').isVisible() && page.url().includes('map'), 'and it stays');
    await picture(page, 'map-touched-phone');
    if (by === 'dot') await page.touchscreen.tap(...dot); else await page.locator('.tip a').tap();
    await page.waitForFunction((title) => document.querySelector('h1')?.textContent === title, HOSTILE);
  }
  await close();
  say('fits a phone, two fingers zoom, one shows and opens');
}

async function worksByKeyboardAlone() {
  const { page, close } = await tab();
  await page.fill('textarea', 'before the storm the crew lowered the mainsail ');
  await first(page, 'Mainsail');
  await page.locator('.brand').focus();
  const visited = [];
  for (let step = 0; step < 16; step += 1) {
    await page.keyboard.press('Tab');
    visited.push(await page.evaluate(() => {
      const at = document.activeElement;
      const style = getComputedStyle(at.closest('.editor') ?? at);
      const seen = style.outlineStyle !== 'none' || at.closest('.editor') !== null;
      return [at.id || at.className || at.textContent, seen];
    }));
  }
  assert.ok(visited.every(([, seen]) => seen), `focus is seen: ${JSON.stringify(visited)}`);
  const names = visited.map(([name]) => name);
  for (const part of ['text', 'syntax', 'insert', 'title', 'theme', 'help']) assert.ok(names.includes(part), `Tab reaches ${part}: ${names}`);
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, a, input, select, textarea')].filter((one) =>
    !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length || one.title)).map((one) => one.outerHTML));
  assert.deepEqual(nameless, [], 'all that can be used has a name');
  await close();
  say('works by keyboard alone');
}

async function asksForTheToken() {
  const file = join(folder, 'token');
  writeFileSync(file, 'open-sesame\n');
  const guarded = await serve(hd2v, model, '--token-file', file);
  const { page, close } = await tab({}, guarded.base);
  const give = async (token) => {
    await page.waitForSelector('#ask-token[open]');
    await page.fill('#token', token);
    await page.keyboard.press('Enter');
  };
  await give('wrong');
  await page.waitForFunction(() => document.querySelector('#ask-token[open]') && !document.getElementById('token-wrong').hidden);
  await picture(page, 'token-light');
  await give('open-sesame');
  await page.waitForSelector('textarea');
  await page.reload();
  await page.waitForSelector('textarea');
  await close('401');

  // What is in the box is not taken by Esc; a question that was sent with the old token goes with the new one.
  const { page: other, close: closeOther } = await tab({}, guarded.base);
  await other.waitForSelector('#ask-token[open]');
  await other.fill('#token', 'open-sesame');
  await other.keyboard.press('Escape');
  await other.waitForFunction(() => document.getElementById('trouble').textContent.includes('without the token'));
  await other.route('**/api/search*', async (route) => {
    if (!route.request().headers().authorization) await new Promise((done) => { setTimeout(done, 1500); });
    await route.continue();
  });
  await other.evaluate(async () => { window.late = (await import(new URL('page/api.js', location.href))).search('mainsail'); });
  await other.evaluate(() => document.querySelector('#trouble button').click());
  await other.waitForSelector('#ask-token[open]');
  await other.evaluate(() => { document.getElementById('token').value = 'open-sesame'; document.querySelector('#ask-token .primary').click(); });
  await other.waitForSelector('textarea');
  assert.equal((await other.evaluate(() => window.late)).hits[0].id, 'mainsail', 'it is asked for once');
  await closeOther('401');
  await guarded.stop();
  say('asks for the token');
}

async function seesThatTheModelIsAnother() {
  const { page, close } = await tab();
  let model = 'aa', infos = 0;
  await page.route('**/api/**', async (route) => {
    if (route.request().url().includes('/api/info')) infos += 1;
    const answer = await route.fetch();
    await route.fulfill({ response: answer, headers: { ...answer.headers(), 'x-model': model } });
  });
  await page.reload();
  await page.fill('textarea', 'before the storm the crew lowered the mainsail ');
  await first(page, 'Mainsail');
  await go(page, '#/document/mainsail');
  await page.waitForFunction(() => document.querySelectorAll('.card .rows').length >= 4);
  assert.equal(infos, 1, 'asked once while the model is the same');
  assert.ok(await page.locator('#trouble').isHidden());
  model = 'bb';
  await go(page, '#/document/jib');
  await page.waitForFunction(() => document.getElementById('trouble').textContent.includes('The model was replaced') && document.querySelectorAll('.card .rows').length >= 4);
  assert.equal(infos, 2, 'asked anew');
  await go(page, '#/suggest');
  await first(page, 'Mainsail');
  model = 'cc';
  await page.locator('textarea').press('End');
  await page.keyboard.type('by night');
  await page.waitForFunction(() => document.getElementById('trouble').textContent.includes('The model was replaced'));
  await page.waitForTimeout(500);
  assert.ok(await page.locator('#trouble').isVisible(), 'and it stays told');
  assert.match(await page.inputValue('textarea'), /by night$/, 'nothing is taken from those who write');
  await page.locator('#trouble button').click();
  await page.waitForFunction(() => document.getElementById('trouble').hidden);
  assert.equal(infos, 3);
  await close();
  say('sees that the model is another');
}

async function tellsThatTheServerIsGone() {
  const { page, close } = await tab();
  await page.waitForSelector('textarea');
  let gone = true;
  await page.route('**/api/**', (route) => (gone ? route.abort('connectionrefused') : route.continue()));
  const told = () => page.waitForFunction(() => !document.getElementById('trouble').hidden && document.getElementById('trouble').textContent.includes('No answer from the server'));
  await page.fill('textarea', 'before the storm the crew lowered the mainsail ');
  await told();
  await page.waitForFunction(() => document.querySelector('.nothing')?.textContent.includes('No answer from the server'));
  await picture(page, 'gone-light');
  gone = false;
  await first(page, 'Mainsail');
  assert.ok(await page.locator('#trouble').isHidden(), 'it recovers by itself');
  gone = true;
  await go(page, '#/words/mainsail');
  await told();
  await page.fill('main input', 'jib');
  gone = false;
  await page.waitForFunction(() => document.querySelectorAll('.cards .rows').length === 3);
  assert.equal(await page.inputValue('main input'), 'jib', 'and keeps what was typed');
  await server.stop();
  await go(page, '#/document/mainsail');
  await told();
  assert.match(await text(page, 'main .empty'), /No answer from the server/);
  await close('ERR_CONNECTION_REFUSED');
  say('tells that the server is gone, and sees it come back');
}

const all = [suggests, beginsWithExamples, reviewsADraft, opensTheTextOfADocument, heedsWhereTheCaretIs, writesInADocument, dropsStaleAnswers, showsHostileTitlesAsText, opensDocuments, findsItsWayOnTheMap, knowsWords, isDarkWhenAsked, fitsAllScreens, fitsAPhone, worksByKeyboardAlone, asksForTheToken, seesThatTheModelIsAnother, tellsThatTheServerIsGone];
const tests = all.filter(({ name }) => !wanted.length || wanted.includes(name));
let failed = 0;
for (const test of tests) {
  try { await test(); } catch (error) {
    failed += 1;
    console.error(`FAILED ${test.name}: ${error.stack}`);
    const pages = browser.contexts().flatMap((context) => context.pages());
    for (const [number, page] of pages.entries()) await picture(page, `failed-${test.name}-${number}`).catch(() => {});
    for (const context of browser.contexts()) await leave(context).catch(() => {});
  }
}
await browser.close();
await server.stop().catch(() => {});
say(failed ? `${failed} of ${tests.length} failed; pictures: ${folder}/failed-*.png` : `all ${tests.length} passed; pictures: ${folder}/*.png`);
process.exit(failed ? 1 : 0);
