/** Single sign-on, with a provider that tells the truth and one that lies. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UserFile } from '../../src/office/users.ts';
import { type LoginProvider, startLoginProvider } from '../support/login-provider.ts';
import { type OfficeClinic, startOffice } from '../support/office.ts';

const PUBLIC = 'http://eligd.clinic.example';

async function startGroup(claim = 'email') {
  const provider = await startLoginProvider();
  const office = await startOffice({
    office: {
      public_url: PUBLIC,
      single_sign_on: { issuer: provider.issuer, client_id: 'eligd-office', claim },
    },
    secrets: { ELIGD_OFFICE_CLIENT_SECRET: 'between-us' },
  });
  const added = await office.clinic.run(
    ...['user', 'add', 'maria', '--role', 'viewer', '--sign-on', 'Maria@Group.example'],
  );
  expect(added.code).toBe(0);
  return { provider, office };
}

/** Like a browser: to the provider, and back with its answer. */
async function signOn(office: OfficeClinic, provider: LoginProvider, change = (url: URL) => url) {
  const browser = office.browser();
  const left = await browser.get('/login/group');
  expect(left.status).toBe(303);
  const back = change(new URL(provider.login(left.headers.get('location') ?? '')));
  const page = await browser.get(back.pathname + back.search);
  return { browser, left, page };
}

test('a user who was added with the provider’s account can log in', async () => {
  const { provider, office } = await startGroup();
  const { text } = await office.browser().get('/login');
  expect(text).toContain('Log in with the group’s account');
  const { browser, left, page } = await signOn(office, provider);
  const asked = new URL(left.headers.get('location') ?? '').searchParams;
  expect(asked.get('redirect_uri')).toBe(`${PUBLIC}/login/return`);
  expect(left.headers.get('set-cookie')).toMatch(/Path=\/login; HttpOnly; SameSite=Lax/);
  expect(page.status).toBe(200);
  expect(page.text).toContain('Go to the schedule');
  browser.cookie = /eligd=[\w-]{43}/.exec(page.headers.getSetCookie().join())?.[0] ?? '';
  const schedule = await browser.get('/');
  expect(schedule.status).toBe(200);
  expect(schedule.text).toContain('<small>maria</small>');
  // As a viewer: eligd decides the role, not the provider.
  expect((await browser.get('/configuration')).status).toBe(403);
  // PKCE: the provider sees the verifier whose hash it got before.
  const verifier = provider.exchanges[0]?.get('code_verifier') ?? '';
  expect(createHash('sha256').update(verifier).digest('base64url')).toBe(
    asked.get('code_challenge'),
  );

  // A removed user is logged out at once.
  expect((await office.clinic.run('user', 'remove', 'maria')).code).toBe(0);
  expect((await browser.get('/')).status).toBe(303);
});

test('no one else can log in, whatever the provider says', async () => {
  const { provider, office } = await startGroup();
  const right = { ...provider.claims };
  const refused = async (what: string, sentence: string) => {
    const { page } = await signOn(office, provider);
    expect({ what, status: page.status }).toEqual({ what, status: 403 });
    expect(page.text).toContain(sentence);
    expect(page.headers.getSetCookie().join()).not.toMatch(/(?:^|,)(?:__Host-)?eligd=/);
  };
  provider.claims = { ...right, email: 'eve@group.example' };
  await refused('another account', 'may not see this page yet');
  provider.claims = { ...right, email_verified: false };
  await refused('an address that nobody verified', 'may not see this page yet');
  provider.claims = { sub: 'u-1' };
  await refused('no address', 'may not see this page yet');
  provider.claims = right;
  const now = Math.floor(Date.now() / 1000);
  for (const [what, lies] of Object.entries({
    'a login of before': { nonce: 'x'.repeat(43) },
    'a token for another': { aud: 'somebody-else' },
    'a token of another': { iss: 'https://evil.example' },
    'a token that is over': { iat: now - 7_200, exp: now - 3_600 },
  })) {
    provider.lies = lies;
    await refused(what, 'did not work');
  }
  provider.lies = {};
  provider.signer = 'foreign';
  await refused('a signature of another', 'did not work');
});

test('an answer counts once, in the browser that asked for it', async () => {
  const { provider, office } = await startGroup();
  const { page } = await signOn(office, provider, (url) => {
    url.searchParams.set('state', 'x'.repeat(43));
    return url;
  });
  expect(page.status).toBe(403);
  const browser = office.browser();
  const left = await browser.get('/login/group');
  const ticket = browser.cookie;
  const back = new URL(provider.login(left.headers.get('location') ?? ''));
  // Of another person's browser, like a login that an attacker began.
  expect((await office.browser().get(back.pathname + back.search)).status).toBe(403);
  browser.cookie = ticket;
  expect((await browser.get(back.pathname + back.search)).status).toBe(200);
  browser.cookie = ticket;
  expect((await browser.get(back.pathname + back.search)).status).toBe(403);
});

test('hundreds of unfinished logins do not end another user’s', async () => {
  const { provider, office } = await startGroup();
  const maria = office.browser();
  const left = await maria.get('/login/group');
  const ticket = maria.cookie;
  for (let round = 0; round < 60; round += 1)
    await Promise.all(
      Array.from({ length: 10 }, () => office.browser().send('GET', '/login/group')),
    );
  const back = new URL(provider.login(left.headers.get('location') ?? ''));
  maria.cookie = ticket;
  expect((await maria.get(back.pathname + back.search)).status).toBe(200);
  // A changed ticket opens nothing.
  maria.cookie = `${ticket.slice(0, -2)}AA`;
  expect((await maria.get(back.pathname + back.search)).status).toBe(403);
});

test('a subject in another case is another account', async () => {
  const { provider, office } = await startGroup('sub');
  const added = await office.clinic.run('user', 'add', 'eve', '--sign-on', 'Subject-A1');
  expect(added.code).toBe(0);
  const statusOf = async (sub: string) => {
    provider.claims = { ...provider.claims, sub };
    return (await signOn(office, provider)).page.status;
  };
  expect(await statusOf('subject-a1')).toBe(403);
  expect(await statusOf('Subject-A1')).toBe(200);
});

test('no password opens a single sign-on account, and the file has none', async () => {
  const { office } = await startGroup();
  const mark = new UserFile(join(office.clinic.state, 'office-users')).find('maria')?.hash ?? '';
  for (const password of [mark, 'maria@group.example', 'long enough to be one'])
    expect((await office.browser().post('/login', { name: 'maria', password })).status).toBe(401);
});

test('an unavailable provider is reported, and asked again the next time', async () => {
  const office = await startOffice({
    office: {
      public_url: PUBLIC,
      single_sign_on: { issuer: 'http://127.0.0.1:9', client_id: 'eligd-office' },
    },
  });
  for (let tries = 0; tries < 2; tries += 1) {
    const page = await office.browser().get('/login/group');
    expect(page.status).toBe(403);
    expect(page.text).toContain('did not work. Try again');
  }
  // Passwords still open the page.
  await office.login('viewer');
});

test('typed text comes back after single sign-on', async () => {
  const { provider, office } = await startGroup();
  const typed = { representative: 'Pat "P" <b>', summary: 'Ask again. '.repeat(150), csrf: 'x' };
  const same_site = { 'sec-fetch-site': 'same-origin' };
  const late = await office.browser().post('/visit/1/done', { note: 'Left a message', entry: '1' });
  const kept = late.headers.getSetCookie().find((each) => each.startsWith('eligd-form=')) ?? '';
  expect(kept).toMatch(/Max-Age=600; Path=\/login; HttpOnly; SameSite=Lax/);
  // Only eligd can read it.
  expect(Buffer.from(kept, 'base64url').toString('latin1')).not.toContain('message');
  const browser = office.browser();
  const left = await browser.get('/login/group');
  const back = new URL(provider.login(left.headers.get('location') ?? ''));
  browser.cookie = `${browser.cookie}; ${kept.split(';')[0]}`;
  const page = await browser.get(back.pathname + back.search);
  expect(page.text).toContain('Show what I typed');
  const again = /name="again" value="([^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&');
  expect(page.headers.getSetCookie().join()).toContain('eligd-form=; Max-Age=0');
  browser.cookie = /eligd=[\w-]{43}/.exec(page.headers.getSetCookie().join())?.[0] ?? '';
  const shown = await browser.post('/login/again', { again: again ?? '' }, same_site);
  expect(shown.text).toContain('What you typed is below');
  expect(shown.text).toContain('<dd>Left a message</dd>');
  // Without a login, the form is only passed on.
  const nobody = await office.browser().post('/login/again', { again: again ?? '' }, same_site);
  expect([nobody.status, nobody.text.includes('What you typed is kept')]).toEqual([401, true]);
  // A form with long answers fits, and one that does not is reported as lost.
  const whole = await office.browser().post('/visit/1/called', typed);
  expect(whole.headers.getSetCookie().join()).toContain('eligd-form=');
  const noise = createHash('sha512').update('noise');
  const long = Array.from({ length: 60 }, () =>
    noise.copy().update(`${Math.random()}`).digest('hex'),
  );
  const refused = await office.browser().post('/visit/1/called', { summary: long.join() });
  expect(refused.headers.getSetCookie().join()).not.toContain('eligd-form=');
  expect(refused.text).toContain('too long to come back after a login with the group’s account');
});
