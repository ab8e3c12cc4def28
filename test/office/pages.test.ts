/** The office's work on the page, from an export to the result in the practice software. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Browser } from '../support/office.ts';
import { startOffice } from '../support/office.ts';
import { fillOffice as fill, HOSTILE, visitDay } from '../support/office-visits.ts';

const LONG = { timeout: 240_000 };
const CONFIG = { policy: { attempts: 1, look_ahead_days: 14 }, service: { settle_seconds: 0 } };

/** The address of the page of a patient's visit. */
async function pathOf(browser: Browser, name: string): Promise<string> {
  const { text } = await browser.get(`/day/${visitDay()}`);
  const row = text.split('<tr').find((each) => each.includes(name)) ?? '';
  return /href="(\/visit\/\d+)"/.exec(row)?.[1] ?? `no row of ${name}`;
}

test('the office reads, acts, and answers on the page', LONG, async () => {
  const office = await startOffice({ config: CONFIG, fill });
  const maria = await office.login('operator');
  const { text } = await maria.get(`/day/${visitDay()}`);

  // In order of time, each with its verdict.
  const rows = text.split('<tr').slice(2);
  expect(rows.map((row) => /class="pill \w+">([^<]+)</.exec(row)?.[1])).toEqual([
    expect.stringMatching(/Eligible|Needs action|Incomplete/),
    'Not eligible',
    'Call yourself',
    'Needs action',
    expect.stringMatching(/Eligible|Needs action|Incomplete/),
    'No insurance',
  ]);
  expect(rows[0]).toContain('Ann Active');
  expect(rows[1]).toContain('Ask the patient for other insurance');
  expect(text).not.toContain('<img');
  expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
  // Titles and addresses name no patient.
  expect(/<title>(.*?)<\/title>/.exec(text)?.[1]).toBe('Schedule · eligd');

  const sheet = await maria.get(await pathOf(maria, 'Ann Active'));
  for (const heading of ['Amounts left', 'The plan', 'The call', 'What happened'])
    expect(sheet.text).toContain(heading);
  expect(sheet.text).toContain('Reference number');
  const hostile = await maria.get(await pathOf(maria, 'Hostile'));
  expect(hostile.text).not.toContain('<img');

  // Every view of a patient's page is logged with the user.
  const views = await office.clinic.run('audit', 'show', '--by', 'operator', '--json');
  const entries = JSON.parse(views.stdout).entries as Record<string, unknown>[];
  const looks = entries.map(({ actor, what, appointment }) => [actor, what, appointment]);
  expect(looks).toContainEqual(['office:operator', 'visit', expect.stringMatching(/^900\d$/)]);
  expect(looks.filter(([, what]) => what === 'schedule')).toHaveLength(rows.length);

  await refuses(office, await pathOf(maria, 'Ivan Inactive'));

  // Hold, release, and retry, like the commands.
  const una = await pathOf(maria, 'Una Unanswered');
  const csrf = await maria.csrf();
  expect((await maria.post(`${una}/retry`, { csrf, back: 'visit' })).status).toBe(303);
  expect((await maria.get(una)).text).toContain('eligd plans the appointment again now.');
  const story = await office.clinic.run('explain', '9003');
  expect(story.stdout).toContain('operator chose “Try again now” on the page.');

  // "I called myself": a record like any other, without another call.
  const calls = (await office.service.ledger()).length;
  const form = (await maria.get(`${una}/called`)).text;
  expect(form).toContain('Active on the day of the visit');
  const hidden = (name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(form)?.[1] ?? '';
  const saved = await maria.post(`${una}/called`, {
    ...{ csrf, insurance: hidden('insurance'), codes: hidden('codes') },
    rank: '1',
    is_active: 'yes',
    is_provider_in_network: 'yes',
    representative: 'Pat at Delta',
    reference_number: 'REF-777',
    individual_deductible: '50',
    individual_deductible_used: '50',
    coverage_limit: '1500',
    coverage_limit_remaining: '900.50',
    is_covered_D0120: 'yes',
    coverage_percentage_D0120: '100',
    is_covered_D1110: 'yes',
    coverage_percentage_D1110: '80',
  });
  expect(saved.headers.get('location')).toBe(una);
  const written = () =>
    office.clinic
      .written()
      .filter(({ appointment_id, is_active }) => appointment_id === '9003' && is_active === 'yes');
  await expect.poll(written, { timeout: 60_000, interval: 250 }).toHaveLength(1);
  const [line] = written();
  expect(line).toMatchObject({
    reference_number: 'REF-777',
    annual_maximum_remaining: '900.50',
  });
  expect(line?.record).toMatchObject({
    entered_by: 'operator',
    outcome: 'successful',
    procedure_codes: {
      codes: [
        { code: 'D0120', benefits: { is_covered: true, plan_pays_percent: 100 } },
        { code: 'D1110', benefits: { is_covered: true, plan_pays_percent: 80 } },
      ],
    },
  });
  expect(JSON.stringify(line?.delivery)).toContain('Entered by the office (operator)');
  await expect
    .poll(async () => (await maria.get(`/day/${visitDay()}`)).text.match(/Call yourself/g), {
      timeout: 30_000,
    })
    .toBeNull();
  expect((await office.service.ledger()).length).toBe(calls);
  expect((await maria.get(una)).text).toContain('Pat at Delta');

  // A payer is mapped from the list.
  const list = await maria.get('/attention');
  expect(list.text).toContain('not in the payer map');
  await maria.post('/payers/map', { csrf, name: `Evil ${HOSTILE}`, pms_id: '', id: 'CIGNA' });
  // The script that refreshes the page keeps the notice for the user who clicked.
  const refreshed = await maria.get('/attention', { 'x-refresh': '1' });
  expect(refreshed.text).not.toContain('is now mapped to CIGNA');
  expect((await maria.get('/attention')).text).toContain('is now mapped to CIGNA');
  expect(readFileSync(join(office.clinic.folder, 'payers.csv'), 'utf8')).toContain('CIGNA');
  await expect
    .poll(async () => (await maria.get('/attention')).text.includes('not in the payer map'), {
      timeout: 60_000,
    })
    .toBe(false);

  for (const path of [`${una}/call-sheet`, '/week'])
    expect((await maria.get(path)).status).toBe(200);
  expect((await maria.get('/configuration')).status).toBe(403);
  const admin = await office.login('admin');
  const shown = (await admin.get('/configuration')).text;
  expect(shown).toContain('ELIGD_SERVICE_PASSWORD: set from');
  expect(shown).not.toContain('>sandbox<');
  expect((await admin.get(una)).text).toContain('Who looked at this visit');

  // The same as a file, for people without a login.
  const file = join(office.clinic.folder, 'dropbox/outbox/schedule.html');
  await expect.poll(() => existsSync(file)).toBe(true);
  const page = readFileSync(file, 'utf8');
  expect(page).toContain('As of <strong>');
  expect(page).toContain('Ivan Inactive');
  expect(page).not.toMatch(/<img|<script|\s(?:href|src)="/);
});

/** A viewer, a forged token, and another site can do nothing. */
async function refuses(
  office: Awaited<ReturnType<typeof startOffice>>,
  path: string,
): Promise<void> {
  const viewer = await office.login('viewer');
  const operator = await office.login('operator');
  const attention = () => office.clinic.run('list', '--attention');
  const before = (await attention()).stdout;
  const forms = ['done', 'retry', 'hold', 'release', 'withdraw', 'called'];
  for (const form of forms) {
    const address = `${path}/${form}`;
    const allowed = { csrf: await viewer.csrf(), is_active: 'no' };
    expect({ form, status: (await viewer.post(address, allowed)).status }).toEqual({
      form,
      status: 403,
    });
    expect((await operator.post(address, { csrf: 'A'.repeat(43) })).status).toBe(403);
    const own = { csrf: await operator.csrf() };
    expect((await operator.post(address, own, { 'sec-fetch-site': 'cross-site' })).status).toBe(
      403,
    );
    expect((await office.browser().post(address, own)).status).toBe(401);
  }
  for (const address of ['/payers/map', '/submission/release'])
    expect((await viewer.post(address, { csrf: await viewer.csrf() })).status).toBe(403);
  expect((await attention()).stdout).toBe(before);
}

test('an entry is done with a note, and the history names the user', LONG, async () => {
  const office = await startOffice({
    config: { ...CONFIG, policy: { ...CONFIG.policy, attention: { not_eligible: true } } },
    fill,
  });
  const maria = await office.login('operator');
  const ivan = await pathOf(maria, 'Ivan Inactive');
  const list = (await maria.get('/attention')).text;
  expect(list).toContain('The plan is NOT ACTIVE.');
  const section = list.split('<section').find((each) => each.includes('NOT ACTIVE')) ?? '';
  const entry = /name="entry" value="(\d+)"/.exec(section)?.[1] ?? '';
  const shown = /name="shown" value="([^"]+)"/.exec(section)?.[1] ?? '';
  await maria.post(`${ivan}/done`, {
    csrf: await maria.csrf(),
    entry,
    shown,
    note: 'Has <b>new</b> insurance',
    back: 'attention',
  });
  const after = await maria.get('/attention');
  expect(after.text).toContain('Done: The plan is NOT ACTIVE.');
  expect((await maria.get('/attention')).text).not.toContain('The plan is NOT ACTIVE.');
  const story = await office.clinic.run('explain', '9002', '--patients');
  expect(story.stdout).toMatch(/Handled by operator: .* Note: Has <b>new<\/b> insurance\n/);
  expect((await maria.get(ivan)).text).toContain('Has &lt;b&gt;new&lt;/b&gt; insurance');
});

test('an open page is told that something has changed', LONG, async () => {
  const office = await startOffice({ config: CONFIG, fill });
  const maria = await office.login('operator');
  const markOf = ({ text }: { text: string }) => /data-live="([^"]+)"/.exec(text)?.[1];
  const mia = await pathOf(maria, 'Mia Missing');
  const csrf = await maria.csrf();
  const shown = markOf(await maria.get('/attention'));
  const listen = async (until: number) => {
    const stop = new AbortController();
    const { headers, body } = await fetch(`${office.url}/events`, {
      headers: { cookie: maria.cookie },
      signal: stop.signal,
    });
    expect(headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    for await (const chunk of body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.split('event: changed').length > until) break;
    }
    stop.abort();
    return text;
  };
  // The current state arrives at once, so an up-to-date page asks for nothing.
  const [first] = await Promise.all([listen(2), maria.post(`${mia}/retry`, { csrf })]);
  // Only the state: no name, no ID.
  const word = '[A-Za-z0-9_-]{22}';
  const events = `(?:(?:: here|event: changed\\ndata: ${word})\\n\\n)+`;
  expect(first).toMatch(new RegExp(`^retry: 10000\\n\\n${events}$`));
  // The next stream brings changes from a time without one, as after a lost connection.
  const missed = /data: (\S+)/.exec(await listen(1))?.[1];
  expect(missed).not.toBe(shown);
  expect(markOf(await maria.get('/attention'))).toBe(missed);
  // The page after a form is not refreshed, because its address shows another page.
  const refused = await maria.post(`${mia}/called`, { csrf, is_active: '' });
  expect([refused.status, markOf(refused)]).toEqual([200, undefined]);
});
