/** The office enters its own call, for visits that eligd did not or could not call about. */
import { expect, test } from 'vitest';
import { realClock } from '../../src/ops/env.ts';
import type { Clinic } from '../support/clinic.ts';
import { type Browser, startOffice } from '../support/office.ts';
import { visitDay } from '../support/office-visits.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

const LONG = { timeout: 240_000 };
const CONFIG = {
  policy: { attempts: 1, look_ahead_days: 14, new_codes: 'note' },
  service: { settle_seconds: 0 },
  schedule: { pull_seconds: 0.2 },
};

function fillWith(rows: readonly Partial<Visit>[]) {
  const day = visitDay();
  const all = visits(rows.length, (index) => ({
    appointment_at: `${day}T${String(8 + index).padStart(2, '0')}:00`,
    ...rows[index],
  }));
  return async (clinic: Clinic) => {
    clinic.drop('export.csv', exportOf(all));
    await clinic.once();
  };
}

/** By the patient's name; a canceled visit is not on the schedule. */
async function pathOf(browser: Browser, name: string): Promise<string> {
  const { text } = await browser.get(`/day/${visitDay()}`);
  const row = text.split('<tr').find((each) => each.includes(name)) ?? '';
  return /href="(\/visit\/\d+)"/.exec(row)?.[1] ?? `no row of ${name}`;
}

const noticeIn = (text: string) => /class="notice[^>]*>([\s\S]*?)<\/div>/.exec(text)?.[1] ?? '';
const wordOf = (text: string, name: string) => {
  const row = text.split('<tr').find((each) => each.includes(name)) ?? '';
  return /class="pill \w+">([^<]+)</.exec(row)?.[1];
};

const SAID = {
  is_active: 'yes',
  representative: 'Pat at Delta',
  reference_number: 'REF-777',
  coverage_limit: '$1,500',
  coverage_limit_remaining: '900.50',
  is_covered_D0120: 'yes',
  coverage_percentage_D0120: '100',
  is_covered_D1110: 'yes',
  coverage_percentage_D1110: '80',
};

/** Fills in and sends the form of the page; returns the next page. */
async function save(browser: Browser, path: string, said: Record<string, string> = SAID) {
  const { text } = await browser.get(`${path}/called`);
  const hidden = Object.fromEntries(
    [...text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name ?? '',
      value ?? '',
    ]),
  );
  const form = { ...hidden, ...said };
  const sent = await browser.post(`${path}/called`, form);
  const page = sent.status === 303 ? await browser.get(path) : sent;
  return { form, status: sent.status, notice: noticeIn(page.text), text: page.text };
}

test('the office enters an answer for a visit that eligd could not call about', LONG, async () => {
  const office = await startOffice({
    config: CONFIG,
    fill: fillWith([
      { patient_name: 'Nora Nobirthdate', dob: '' },
      { patient_name: 'Bea Badbirthdate', dob: '02/30/1987' },
      { patient_name: 'Cora Complete', status: 'completed' },
      { patient_name: 'Mia Nomember', member_id: '' },
    ]),
  });
  const maria = await office.login('operator');
  const names = ['Nora Nobirthdate', 'Bea Badbirthdate', 'Cora Complete', 'Mia Nomember'];
  for (const name of names) {
    const { notice, text } = await save(maria, await pathOf(maria, name));
    expect({ name, notice }).toEqual({ name, notice: expect.stringContaining('Saved.') });
    expect(text).toContain('eligd writes it into the practice software next');
  }
  const written = () =>
    office.clinic
      .written()
      .filter(({ reference_number }) => reference_number === 'REF-777')
      .map(({ appointment_id, annual_maximum }) => [appointment_id, annual_maximum])
      .toSorted();
  await expect.poll(written, { timeout: 60_000, interval: 250 }).toEqual([
    ['9001', '1500.00'],
    ['9002', '1500.00'],
    ['9003', '1500.00'],
    ['9004', '1500.00'],
  ]);
  // The office need not fix data for a call that it has made, and eligd made no call.
  await expect
    .poll(async () => (await maria.get('/attention')).text, { timeout: 30_000 })
    .toContain('Nothing needs you.');
  const { text } = await maria.get(`/day/${visitDay()}`);
  for (const name of names)
    expect({ name, word: wordOf(text, name) }).not.toEqual({ name, word: 'Needs action' });
  expect(await office.service.ledger()).toEqual([]);
});

test('a withdrawn visit accepts an answer, is written back, and stays closed', LONG, async () => {
  const office = await startOffice({
    config: { ...CONFIG, policy: { ...CONFIG.policy, calls_per_day: 1 } },
    fill: fillWith([{ patient_name: 'Ann First' }, { patient_name: 'Wim Withdrawn' }]),
  });
  const maria = await office.login('operator');
  const wim = await pathOf(maria, 'Wim Withdrawn');
  await maria.post(`${wim}/withdraw`, { csrf: await maria.csrf(), sure: 'yes' });
  expect(wordOf((await maria.get(`/day/${visitDay()}`)).text, 'Wim Withdrawn')).toBe('Not asked');
  expect((await save(maria, wim)).notice).toContain('Saved.');
  const written = () => office.clinic.written().map(({ appointment_id }) => appointment_id);
  await expect.poll(written, { timeout: 60_000, interval: 250 }).toContain('9002');
  // The verdict has the known values; some answers are missing.
  expect(wordOf((await maria.get(`/day/${visitDay()}`)).text, 'Wim Withdrawn')).toBe('Incomplete');
  expect(await office.service.ledger()).toHaveLength(1);
});

test('if no answer can be entered, the page says why before the user types', LONG, async () => {
  const office = await startOffice({
    config: CONFIG,
    fill: async (clinic) => {
      const named = (patient_name: string) => ({ patient_name });
      const rows = [
        { ...named('Sam Selfpay'), carrier: '', payor_id: '', member_id: '', group_id: '' },
        named('Kit Cancelled'),
      ];
      await fillWith(rows)(clinic);
    },
  });
  const maria = await office.login('operator');
  const sam = await pathOf(maria, 'Sam Selfpay');
  const kit = await pathOf(maria, 'Kit Cancelled');
  office.clinic.drop(
    'later.csv',
    exportOf(
      visits(2, (index) => ({
        appointment_at: `${visitDay()}T0${8 + index}:00`,
        ...(index === 0
          ? { patient_name: 'Sam Selfpay', carrier: '', payor_id: '', member_id: '' }
          : { patient_name: 'Kit Cancelled', status: 'cancelled' }),
      })),
    ),
  );
  await expect
    .poll(async () => (await maria.get(`${kit}/called`)).text, { timeout: 60_000 })
    .toContain('This visit was canceled.');
  for (const [path, why] of [
    [sam, 'has no insurance for this visit'],
    [kit, 'This visit was canceled.'],
  ] as const) {
    const { text } = await maria.get(`${path}/called`);
    expect(text).toContain(why);
    expect(text).not.toContain('Save the answer');
    // The form was opened earlier: nothing is saved, and the typed text can be copied.
    const sent = await maria.post(`${path}/called`, { csrf: await maria.csrf(), ...SAID });
    expect(noticeIn(sent.text)).toContain('Nothing was saved');
    expect(sent.text).toContain('value="Pat at Delta"');
  }
});

test('a form that is sent twice is one answer, and the page says so', LONG, async () => {
  const office = await startOffice({
    config: CONFIG,
    fill: fillWith([{ patient_name: 'Mia Missing', member_id: '' }]),
  });
  const maria = await office.login('operator');
  const mia = await pathOf(maria, 'Mia Missing');
  const { form } = await save(maria, mia);
  const again = await maria.post(`${mia}/called`, form);
  expect(again.status).toBe(303);
  const page = await maria.get(mia);
  expect(noticeIn(page.text)).toMatch(/Already saved, .* Sending it again changed nothing/);
  // Corrected after going back in the browser: nothing is lost, and a second look is needed.
  const changed = await maria.post(`${mia}/called`, { ...form, is_covered_D1110: 'no' });
  expect(noticeIn(changed.text)).toContain('with other values');
  const next = /name="form" value="([^"]+)"/.exec(changed.text)?.[1] ?? '';
  expect(next).not.toBe(form.form);
  const entered = async () =>
    (await office.clinic.run('explain', '9001')).stdout.match(/Entered by the office/g)?.length;
  expect(await entered()).toBe(1);
  await maria.post(`${mia}/called`, { ...form, form: next, is_covered_D1110: 'no' });
  expect(await entered()).toBe(2);
  // Compared with the earlier answer, although it is another answer and not a revision.
  await expect
    .poll(async () => (await maria.get(mia)).text, { timeout: 60_000 })
    .toMatch(
      /The answer has changed, and it matters[\s\S]*D1110 is covered changed from yes to no/,
    );
});

test('the office answers codes that no call asked about', LONG, async () => {
  const same = { patient_id: 'P1', dob: '1970-03-02', member_id: 'ACTIVE1' };
  const office = await startOffice({
    config: CONFIG,
    fill: async (clinic, service) => {
      const [first, second] = visits(2, (index) => ({
        ...same,
        appointment_at: `${visitDay()}T${index === 0 ? '09' : '10'}:00`,
        patient_name: 'Codie Twovisits',
        procedure_codes: index === 0 ? 'D0120' : 'D2740',
      }));
      if (first === undefined || second === undefined) return;
      clinic.drop('first.csv', exportOf([first]));
      await clinic.once();
      await service.advance({ days: 14 });
      await clinic.once();
      clinic.drop('second.csv', exportOf([first, second]));
      await clinic.once();
    },
  });
  const maria = await office.login('operator');
  const list = (await maria.get('/attention')).text;
  const entry = list.split('<section').find((each) => each.includes('not about D2740')) ?? '';
  const [, path = ''] = /href="(\/visit\/\d+)\/called"/.exec(entry) ?? [];
  expect(entry).toContain('Order another call');
  expect(path).not.toBe('');
  await save(maria, path, { is_active: 'yes', is_covered_D2740: 'yes' });
  await expect
    .poll(async () => (await maria.get('/attention')).text, { timeout: 60_000 })
    .toContain('Nothing needs you.');
});

test('the office answers a call that the service has lost', LONG, async () => {
  let ahead_ms = 0;
  const clock = { ...realClock, now: () => Date.now() + ahead_ms };
  const office = await startOffice({
    config: CONFIG,
    fill: fillWith([{ patient_name: 'Lou Lost' }]),
    env: { clock },
  });
  await office.service.forget();
  const maria = await office.login('operator');
  const lou = await pathOf(maria, 'Lou Lost');
  const listed = async () => {
    ahead_ms += 30 * 60_000;
    return (await (await office.login('operator')).get('/attention')).text;
  };
  await expect.poll(listed, { timeout: 90_000 }).toContain('no longer knows it');
  const again = await office.login('operator');
  const list = (await again.get('/attention')).text;
  expect(list).toContain(`href="${lou}/called"`);
  expect((await again.get(`/day/${visitDay()}`)).text).toContain('Call yourself');
  await save(again, lou);
  await expect
    .poll(async () => (await again.get('/attention')).text, { timeout: 60_000 })
    .not.toContain('Lou Lost');
});
