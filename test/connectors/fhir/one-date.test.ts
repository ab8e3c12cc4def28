/** Servers that accept one `date` in a search. */
import { expect, test } from 'vitest';
import { appointment, bench, read } from './bench.ts';

const later = (days: number) => new Date(Date.UTC(2026, 10, 23 + days, 15)).toISOString();

test('eligd sends one date, and leaves out visits after the window', async () => {
  const world = await bench({ one_date: true }, { days_ahead: 14 });
  await world.offer(
    { ...appointment(1), starts_at: later(3) },
    { ...appointment(2), starts_at: later(30) },
  );
  expect([...read(await world.pull()).keys()]).toEqual(['A-1']);
  const lines = await world.connector.check(new AbortController().signal);
  expect(lines.filter(({ ok }) => !ok)).toEqual([]);
  expect(lines.map(({ what }) => what).join()).toContain('accepts only one date');
});

test('a search that is still refused is reported in the server’s words', async () => {
  const world = await bench({ refuse_search: ['Appointment.date'] });
  const error = await world.pull().catch((each: unknown) => each);
  expect(error).toMatchObject({ words: 'It said: "The parameter date is not supported.".' });
  // The message goes to the log, which must not contain the words of others.
  expect(String(error)).not.toContain('not supported');
});

test('words about a search that name a patient are not shown (G6)', async () => {
  const world = await bench(
    { refuse_search: ['Appointment.date'] },
    { search_by: [{ actor: 'Patient/P-1' }] },
  );
  const error = await world.pull().catch((each: unknown) => each);
  expect(String(error)).toContain('does not allow this search');
  expect(error).toMatchObject({ words: '' });
});
