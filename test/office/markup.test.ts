/**
 * Everything that a payer, the calling service, or the practice software says stays text on every
 * page.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CASES, dated } from '../records/verdict-cases.ts';
import { startCaseService } from '../support/case-service.ts';
import { startOffice } from '../support/office.ts';
import { HOSTILE, visitDay } from '../support/office-visits.ts';
import { exportOf, visits } from '../support/visits.ts';

/** Every text of the answer with markup: instead of it, or after it, so that words stay known. */
function withMarkup(node: unknown, put: (text: string) => string): unknown {
  if (typeof node === 'string') return put(node);
  if (Array.isArray(node)) return node.map((each) => withMarkup(each, put));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withMarkup(value, put)]),
  );
}

const PUTS = [() => HOSTILE, (text: string) => `${text} ${HOSTILE}`];

test('markup in every field of an answer stays text on every page', {
  timeout: 240_000,
}, async () => {
  const day = visitDay();
  const cases = CASES.filter(({ specialty }) => specialty === 'dental').slice(0, 12);
  const base_url = await startCaseService((member_id) => {
    const [, index = '0', put = '0'] = /^M-(\d+)-(\d)$/.exec(member_id) ?? [];
    const answer = cases[Number(index)]?.answer;
    const call_details = [{ representative_name: 'Kim', reference_number: 'R-1' }];
    const results = { call_details, ...(dated(answer?.results, day) as object) };
    return {
      status: answer?.status ?? 'SUCCESS',
      results: withMarkup(results, PUTS[Number(put)] ?? String),
      summary: HOSTILE,
    };
  });
  const rows = visits(cases.length * PUTS.length, (index) => ({
    appointment_at: `${day}T${String(8 + (index % 10)).padStart(2, '0')}:00`,
    member_id: `M-${Math.floor(index / PUTS.length)}-${index % PUTS.length}`,
    patient_name: `Patient ${index}`,
  }));
  const office = await startOffice({
    base_url,
    config: {
      policy: { attempts: 1, look_ahead_days: 14 },
      service: { submission: { mode: 'single' }, settle_seconds: 0 },
    },
    fill: async (clinic) => {
      clinic.drop('export.csv', exportOf(rows));
      for (let round = 0; round < 3; round += 1) await clinic.once();
    },
  });
  const admin = await office.login('admin');
  const schedule = (await admin.get(`/day/${day}`)).text;
  const paths = [...schedule.matchAll(/href="(\/visit\/\d+)"/g)].map(([, path = '']) => path);
  expect(paths).toHaveLength(rows.length);
  const pages = ['/', `/day/${day}`, '/attention', '/week', '/configuration'];
  const sheets = paths.flatMap((path) => [path, `${path}/called`, `${path}/call-sheet`]);
  const shown: string[] = [];
  for (const path of [...pages, ...sheets]) {
    const { status, text } = await admin.get(path);
    expect({ path, status }).toEqual({ path, status: 200 });
    expect({ path, has_image: text.includes('<img') }).toEqual({ path, has_image: false });
    if (text.includes('&lt;img src=x')) shown.push(path);
  }
  // The texts did reach the pages: the call sheet of every visit.
  expect(shown.filter((path) => paths.includes(path)).toSorted()).toEqual(paths.toSorted());
  const file = join(office.clinic.folder, 'dropbox/outbox/schedule.html');
  await expect.poll(() => existsSync(file), { timeout: 60_000 }).toBe(true);
  expect(readFileSync(file, 'utf8')).not.toContain('<img');
});
