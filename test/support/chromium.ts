/** Debian's Chromium for tests of a page, one for each test file. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];

export async function startChromium(): Promise<Browser> {
  const path = PATHS.find((each) => existsSync(each));
  if (path === undefined) throw new Error('There is no Chromium. Run: apt-get install chromium');
  return await chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
