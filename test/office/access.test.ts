/** Who can log in, and for how long, over real sockets with a real database. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { afterFailure, lockedUntil } from '../../src/domain/lockout.ts';
import { ACTIONS, PAGES } from '../../src/office/server.ts';
import { hashPassword, mayDo, UserFile } from '../../src/office/users.ts';
import { realClock } from '../../src/ops/env.ts';
import { makeClinic } from '../support/clinic.ts';
import { type Browser, PASSWORD, startOffice, usersText } from '../support/office.ts';

/** A clock that only the test moves, because a busy machine must not end a wait. */
function movableClock() {
  const start = Date.now();
  let ahead_ms = 0;
  return {
    clock: { ...realClock, now: () => start + ahead_ms },
    move: (by_ms: number) => {
      ahead_ms += by_ms;
    },
  };
}

const MINUTE_MS = 60_000;

test('without a login, no address shows or does anything', async () => {
  const office = await startOffice();
  const nobody = office.browser();
  for (const path of [...PAGES.map(addressOf), '/events', '/x/y'])
    expect({ path, ...(await brief(nobody, path)) }).toEqual({
      path,
      status: 303,
      location: '/login',
      text: '',
    });
  for (const path of ACTIONS.map(addressOf))
    expect({ path, status: (await nobody.send('POST', path)).status }).toEqual({
      path,
      status: 401,
    });
  for (const method of ['PUT', 'DELETE', 'PATCH'])
    expect((await nobody.send(method, '/visit/1')).status).toBe(401);
  const forged = office.browser();
  forged.cookie = `eligd=${'A'.repeat(43)}`;
  expect((await brief(forged, '/')).location).toBe('/login');
});

/** `/visit/:id/done` as a browser requests it. */
function addressOf({ path }: { path: string }): string {
  return path.replace(':id', '1').replace(':date', '2026-11-23').replace(':operation', 'withdraw');
}

test('each role sees and does only what it may, on every address', async () => {
  const office = await startOffice();
  for (const role of ['viewer', 'operator'] as const) {
    const browser = await office.login(role);
    const csrf = await browser.csrf();
    for (const page of PAGES.filter((each) => !mayDo(role, each.role))) {
      const path = addressOf(page);
      expect({ role, path, status: (await browser.get(path)).status }).toEqual({
        role,
        path,
        status: 403,
      });
    }
    for (const action of ACTIONS.filter((each) => !mayDo(role, each.role))) {
      const path = addressOf(action);
      expect({ role, path, status: (await browser.post(path, { csrf })).status }).toEqual({
        role,
        path,
        status: 403,
      });
    }
  }
  // A viewer only reads: every form needs another role.
  expect(ACTIONS.filter(({ role }) => mayDo('viewer', role))).toEqual([]);
});

async function brief(browser: Browser, path: string) {
  const { status, headers, text } = await browser.get(path);
  return { status, location: headers.get('location'), text };
}

test('a login shows the schedule, and a log-out ends it, also for a copied cookie', async () => {
  const office = await startOffice();
  const maria = await office.login('operator');
  expect(maria.cookie).toMatch(/^eligd=[\w-]{43}$/);
  const page = await maria.get('/');
  expect(page.status).toBe(200);
  expect(page.text).toContain('<title>Schedule · eligd</title>');
  const { cookie } = maria;
  // A log-out that another site sends does nothing, not even to the cookie.
  const forged = await maria.post('/logout', { csrf: 'x' });
  expect([forged.headers.get('set-cookie'), forged.headers.get('clear-site-data')]).toEqual([
    null,
    null,
  ]);
  expect(maria.cookie).toBe(cookie);
  expect((await maria.get('/')).status).toBe(200);
  await maria.post('/logout', { csrf: await maria.csrf() });
  maria.cookie = cookie;
  expect((await maria.get('/')).status).toBe(303);
});

test('the cookie is only for this site, and no page is cached', async () => {
  const office = await startOffice();
  const { headers } = await office.browser().post('/login', { name: 'viewer', password: PASSWORD });
  expect(headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
  const viewer = await office.login('viewer');
  for (const path of ['/', '/login', '/office.css', '/nothing', '/office.js']) {
    const page = await viewer.get(path);
    const found = Object.fromEntries(page.headers);
    expect(found).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
      'x-permitted-cross-domain-policies': 'none',
    });
    expect(found['permissions-policy']).toContain('camera=()');
    const policy = found['content-security-policy'] ?? '';
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    for (const part of ["base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"])
      expect(policy).toContain(part);
    expect(found).not.toHaveProperty('server');
    expect(found).not.toHaveProperty('x-powered-by');
    expect(found).not.toHaveProperty('access-control-allow-origin');
    // The page loads nothing from other sites, and runs no inline script.
    expect(page.text).not.toMatch(
      /<script(?! src="\/office\.js" defer><\/script>)|\son\w+=|style=/,
    );
    expect(page.text).not.toMatch(/(?:src|href|action)="(?:https?:)?\/\//);
  }
});

test('a login ends after half an hour without a click, and a refresh is no click', async () => {
  const { clock, move } = movableClock();
  const office = await startOffice({ env: { clock } });
  const maria = await office.login('operator');
  move(20 * MINUTE_MS);
  expect((await maria.get('/')).status).toBe(200);
  move(20 * MINUTE_MS);
  expect((await maria.get('/', { 'x-refresh': '1' })).status).toBe(200);
  move(11 * MINUTE_MS);
  expect((await maria.get('/')).status).toBe(303);
});

test('another password, another role, and a removal apply at once', async () => {
  const office = await startOffice();
  const maria = await office.login('operator');
  const admin = await office.login('admin');
  const hash = await hashPassword('another long password');
  office.users.write(
    office.users.all().map((user) => (user.name === 'operator' ? { ...user, hash } : user)),
  );
  expect((await maria.get('/')).status).toBe(303);
  expect((await admin.get('/')).status).toBe(200);
  office.users.write(office.users.all().filter(({ name }) => name !== 'admin'));
  expect((await admin.get('/')).status).toBe(303);
});

test('a login form of another site is refused', async () => {
  const office = await startOffice();
  const form = { name: 'operator', password: PASSWORD };
  const browser = office.browser();
  expect((await browser.post('/login', form, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await browser.post('/login', form, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await browser.post('/login', form, { origin: office.url })).status).toBe(303);
});

const SLOW = { timeout: 120_000 };

test('wrong passwords cause pauses, whether or not the name exists', SLOW, async () => {
  const { clock, move } = movableClock();
  const office = await startOffice({ env: { clock } });
  for (const name of ['operator', 'nobody']) {
    const attacker = office.browser();
    const statuses = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        attacker.post('/login', { name, password: `guess number ${index}` }),
      ),
    );
    const counts = Map.groupBy(statuses, ({ status }) => status);
    expect({ name, wrong: counts.get(401)?.length }).toEqual({ name, wrong: 5 });
    expect({ name, locked: counts.get(429)?.length }).toEqual({ name, locked: 7 });
  }
  // Even the right password is not tried meanwhile.
  const right = { name: 'operator', password: PASSWORD };
  expect((await office.browser().post('/login', right)).status).toBe(429);
  expect((await office.browser().post('/login', { ...right, name: 'viewer' })).status).toBe(303);
  move(5_000);
  expect((await office.browser().post('/login', right)).status).toBe(303);
});

test('most of very many simultaneous logins are asked to try again', SLOW, async () => {
  const office = await startOffice();
  const tries = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      office.browser().post('/login', { name: `person${index}`, password: 'wrong enough' }),
    ),
  );
  const counts = Map.groupBy(tries, ({ status }) => status);
  const checked = counts.get(401)?.length ?? 0;
  // Two are checked at a time, and sixteen wait. A few come only when a check has ended.
  expect(checked).toBeGreaterThanOrEqual(18);
  expect(checked).toBeLessThan(30);
  expect(counts.get(503)?.length).toBe(60 - checked);
});

test('a million guesses in a day allow about a hundred tries', () => {
  let failures = { count: 0, last_at: 0 };
  let tried = 0;
  const day_ms = 24 * 60 * MINUTE_MS;
  for (let guess = 0; guess < 1_000_000; guess += 1) {
    const now = 1_000 + Math.floor((guess * day_ms) / 1_000_000);
    if (lockedUntil(failures, now) !== null) continue;
    tried += 1;
    failures = afterFailure(failures, now);
  }
  expect(tried).toBeLessThan(120);
  expect(tried).toBeGreaterThan(90);
});

test('a clock that was set back locks no user out for longer', () => {
  const failures = { count: 30, last_at: 10 * MINUTE_MS };
  expect(lockedUntil(failures, 11 * MINUTE_MS)).toBe(25 * MINUTE_MS);
  expect(lockedUntil(failures, 5 * MINUTE_MS)).toBeNull();
});

test('the users file has no password, and only its owner can read it', async () => {
  const office = await startOffice();
  expect(usersText(office)).not.toContain(PASSWORD);
  expect(usersText(office)).toMatch(/^viewer viewer scrypt:32768:8:3:/);
  expect(statSync(office.users.path).mode & 0o777).toBe(0o600);
});

test('a user can be added before eligd has run for the first time', async () => {
  const clinic = makeClinic({ base_url: 'http://127.0.0.1:9' });
  const { code, stdout } = await clinic.run('user', 'add', 'maria', '--generate');
  expect(code).toBe(0);
  expect(stdout).toContain('maria can now log in as operator.');
  expect(new UserFile(join(clinic.state, 'office-users')).find('maria')?.role).toBe('operator');
  expect(statSync(clinic.state).mode & 0o777).toBe(0o700);
});
