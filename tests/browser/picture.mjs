// The picture of the README: the page on the sample glossary, with a question that is being answered.
// node picture.mjs HD2V CHROMIUM FOLDER PNG

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serve } from './server.mjs';

const [hd2v, executablePath, folder, png] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, 'package.json'))('playwright-core');
const made = join(folder, 'glossary');
rmSync(made, { recursive: true, force: true });
mkdirSync(made, { recursive: true });
const [corpus, model] = ['corpus', 'glossary.model'].map((name) => join(made, name));
const run = (...args) => execFileSync(hd2v, args, { stdio: ['ignore', 'ignore', 'pipe'] });
run('import', 'markdown', 'samples/glossary', '-o', corpus);
run('train', corpus, '-o', model);

const server = await serve(hd2v, model);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const context = await browser.newContext({ viewport: { width: 1100, height: 620 }, colorScheme: 'light', deviceScaleFactor: 1 });
const page = await context.newPage();
await page.goto(server.base);
await page.locator('textarea').click();
await page.keyboard.type('Two papers that are cited together by a third one ');
await page.waitForSelector('.hit .title');
await page.waitForTimeout(1500);
await page.screenshot({ path: png });
await browser.close();
await server.stop();
