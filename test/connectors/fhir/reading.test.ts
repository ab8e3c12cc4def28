/** The requests to a server, and servers that answer in their own way. */
import type { Appointment } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import type { PullBatch } from '../../../connectors/contract.ts';
import type { Loose } from '../../support/fhir/peer.ts';
import { resourcesOf } from '../../support/fhir/records.ts';
import { appointment, bench, NOW, read } from './bench.ts';

const DAY_MS = 86_400_000;
const visits = (count: number) =>
  Array.from({ length: count }, (_, index) => appointment(index + 1));
const resource = (number: number) => resourcesOf(appointment(number)).at(-1) as Appointment;

const cancelledBy = (batches: readonly PullBatch[]) =>
  batches.flatMap(({ cancelled_ids = [] }) => cancelled_ids);
const FAILS = { when: 'before', action: 'status', status: 500 } as const;

describe('the first pull', () => {
  test('the first pull asks for the window in the clinic’s zone, in every status', async () => {
    const { peer, pull, offer } = await bench({}, { days_back: 1, days_ahead: 10 });
    await offer(appointment(1));
    await pull();
    const [search] = peer.requests.filter(({ path }) => path === '/Appointment');
    const query = new URLSearchParams(search?.query);
    expect(query.getAll('date')).toEqual([
      'ge2026-11-22T06:00:00.000Z',
      'lt2026-12-04T06:00:00.000Z',
    ]);
    expect(query.has('status')).toBe(false);
  });

  test('the first pull asks for days if the server supports nothing else', async () => {
    const { peer, pull, offer } = await bench({}, { date_search: 'day', days_ahead: 10 });
    await offer(appointment(1));
    expect(read(await pull()).size).toBe(1);
    expect(
      new URLSearchParams(peer.requests.find(({ path }) => path === '/Appointment')?.query).getAll(
        'date',
      ),
    ).toEqual(['ge2026-11-22', 'le2026-12-03']);
  });

  test('patients sent along and patients read one by one give the same result', async () => {
    const sent_along = await bench();
    const one_by_one = await bench({ include: false });
    const with_payer = await bench({ include_payor: true });
    for (const each of [sent_along, one_by_one, with_payer]) await each.offer(...visits(3));
    const expected = read(await one_by_one.pull());
    expect(read(await sent_along.pull())).toEqual(expected);
    expect(read(await with_payer.pull())).toEqual(expected);
    expect(
      with_payer.peer.requests.filter(({ path }) => path.startsWith('/Organization/')),
    ).toEqual([]);
    const reads = (each: typeof sent_along) =>
      each.peer.requests.filter(({ path }) => path.startsWith('/Patient/'));
    expect([reads(sent_along).length, reads(one_by_one).length]).toEqual([0, 3]);
  });

  test('the first pull works without a CapabilityStatement', async () => {
    const { pull, offer, said } = await bench({ has_metadata: false });
    await offer(...visits(2));
    expect(read(await pull()).size).toBe(2);
    expect(said()).toContain('fhir_capability_unknown');
  });

  test('the first pull follows the server’s links to the last page', async () => {
    const { peer, pull, offer } = await bench({ page_max: 3 });
    await offer(...visits(8));
    expect(read(await pull()).size).toBe(8);
    expect(peer.requests.filter(({ query }) => query.includes('_getpages'))).toHaveLength(2);
  });
});

describe('pages that end badly', () => {
  const failing = async (next: (url: string) => string) => {
    const world = await bench({ page_max: 3 });
    await world.offer(...visits(8));
    world.peer.alter = (_, body) => ({
      ...body,
      link: body.link?.map((link: { relation: string; url: string }) => ({
        ...link,
        url: next(link.url),
      })),
    });
    const error = await world.pull().then(
      () => null,
      (thrown: Error & { batches: PullBatch[] }) => thrown,
    );
    return { error, world };
  };

  test('pages that lead back to an earlier one are noticed, and the others are kept', async () => {
    let first = '';
    const { error, world } = await failing((url) => {
      if (url.includes('_getpages')) first ||= url;
      return url.includes('_getpages') ? first : url;
    });
    expect(error).toMatchObject({
      failure: 'permanent',
      message: expect.stringContaining('lead back to an earlier page'),
    });
    expect(read(error?.batches ?? []).size).toBe(6);
    expect(error?.batches.map(({ source }) => source.completeness)).toEqual(['changes']);
    expect(world.cursor()).toBe(null);
  });

  test('pages that repeat under new addresses are noticed as well', async () => {
    const world = await bench({ page_max: 3 });
    await world.offer(...visits(3));
    let number = 0;
    world.peer.alter = ({ path }, body) => {
      number += 1;
      return path === '/Appointment'
        ? {
            ...body,
            link: [{ relation: 'next', url: `${world.peer.url}/Appointment?page=${number}` }],
          }
        : body;
    };
    await expect(world.pull()).rejects.toMatchObject({
      message: expect.stringContaining('lead back to an earlier page'),
    });
    expect(world.peer.requests.filter(({ path }) => path === '/Appointment').length).toBeLessThan(
      30,
    );
  });

  test('a link to another server gets no credentials', async () => {
    const { error } = await failing((url) => url.replace('127.0.0.1', 'localhost'));
    expect(error).toMatchObject({
      failure: 'permanent',
      next: expect.stringContaining('base_url'),
    });
    expect(read(error?.batches ?? []).size).toBe(3);
  });

  test('a page that fails on the server costs only its own and later visits (G7)', async () => {
    const { peer, pull, offer, cursor } = await bench({ page_max: 3 });
    await offer(...visits(8));
    peer.fault = ({ query }) => (query.includes('_getpages') ? FAILS : null);
    const error = await pull().catch((thrown: Error & { batches: PullBatch[] }) => thrown);
    const { batches } = error as { batches: PullBatch[] };
    expect(error).toMatchObject({ failure: 'transient', message: expect.stringContaining('500') });
    expect([read(batches).size, batches[0]?.source.completeness, cursor()]).toEqual([
      3,
      'changes',
      null,
    ]);
  });
});

describe('further pulls', () => {
  test('further pulls ask for changes, by the server’s clock, with an overlap', async () => {
    const { peer, pull, offer } = await bench();
    await offer(...visits(3));
    await pull();
    await peer.put({ ...resource(2), status: 'cancelled' });
    const before = peer.requests.length;
    const changed = await pull();
    const search = peer.requests.slice(before).find(({ path }) => path === '/Appointment');
    expect(new URLSearchParams(search?.query).get('_lastUpdated')).toBe(
      'ge2026-01-05T11:55:00.000Z',
    );
    expect(cancelledBy(changed)).toEqual(['A-2']);
  });

  test('further pulls return nothing if nothing has changed', async () => {
    const { peer, pull } = await bench();
    await peer.putAt(NOW, ...resourcesOf(appointment(1)));
    expect(await pull()).toHaveLength(1);
    await peer.remove('Appointment', 'A-1');
    expect(await pull()).toEqual([]);
  });

  test('the next day’s pull reads the window, because a coverage may have changed', async () => {
    const { peer, pull, offer, pass } = await bench();
    await offer(appointment(1));
    await peer.putAt(NOW, ...resourcesOf(appointment(2)));
    await pull();
    const [coverage] = appointment(1).coverages;
    const edited = { ...appointment(1), coverages: [{ ...coverage!, member_id: 'CORRECTED' }] };
    await peer.put(
      ...resourcesOf(edited).filter(({ resourceType }) => resourceType === 'Coverage'),
    );
    expect(read(await pull()).has('A-1')).toBe(false);
    await pass(DAY_MS);
    const batches = await pull();
    expect(batches[0]?.source.completeness).toBe('full');
    expect(read(batches).get('A-1')?.coverages[0]?.member_id).toBe('CORRECTED');
  });

  test('further pulls leave old visits alone, even if the server sends everything', async () => {
    const { peer, pull, offer } = await bench({ include: false });
    await offer(appointment(1), { ...appointment(2), starts_at: '2019-05-06T15:00:00.000Z' });
    const all = await peer.all('Appointment');
    peer.alter = ({ path }, body) =>
      path === '/Appointment' ? { ...body, entry: all.map((each) => ({ resource: each })) } : body;
    expect([...read(await pull()).keys()]).toEqual(['A-1']);
    expect(peer.requests.map(({ path }) => path)).not.toContain('/Patient/P-2');
  });

  test('further pulls read the window if the server cannot return changes', async () => {
    for (const has_metadata of [true, false]) {
      const { pull, offer } = await bench({
        refuse_search: ['Appointment._lastUpdated'],
        has_metadata,
      });
      await offer(...visits(2));
      await pull();
      expect(read(await pull()).size).toBe(2);
    }
  });

  test('further pulls read the window if the server gives no time of change', async () => {
    const { peer, pull, offer } = await bench();
    await offer(...visits(2));
    peer.alter = ({ path }, body) =>
      path === '/Appointment'
        ? {
            ...body,
            entry: body.entry.map(({ resource: { meta: _, ...rest } }: Loose) => ({
              resource: rest,
            })),
          }
        : body;
    await pull();
    const [batch] = await pull();
    expect(batch).toMatchObject({ source: { completeness: 'full' }, appointments: [{}, {}] });
  });

  test('one resource with a future time does not hide later changes', async () => {
    const { peer, pull, offer } = await bench();
    await offer(appointment(1));
    await peer.putAt('2099-01-01T00:00:00.000Z', ...resourcesOf(appointment(2)));
    await pull();
    await peer.put({ ...resource(1), status: 'cancelled' });
    expect(cancelledBy(await pull())).toEqual(['A-1']);
  });

  test('the window is read once an hour if it replaces changes', async () => {
    const { peer, pull, offer, pass } = await bench(
      { refuse_search: ['Appointment._lastUpdated'] },
      { poll_minutes: 5 },
    );
    await offer(appointment(1));
    await pull();
    const before = peer.requests.length;
    await pass(50 * 60_000);
    await pull();
    // The first request for changes finds out that the server refuses them.
    const searches = () =>
      peer.requests.slice(before).filter(({ path }) => path === '/Appointment').length;
    const found_out = searches();
    await pass(50 * 60_000);
    await pull();
    expect(searches()).toBe(found_out);
    await pass(10 * 60_000);
    await pull();
    expect(searches()).toBe(found_out + 1);
  });

  test('further pulls keep their interval', async () => {
    const { peer, pull, offer, pass } = await bench({}, { poll_minutes: 5 });
    await offer(appointment(1));
    await pull();
    const before = peer.requests.length;
    await pull();
    expect(peer.requests).toHaveLength(before);
    await pass(5 * 60_000);
    await pull();
    expect(peer.requests.length).toBeGreaterThan(before);
  });
});

describe('a server that requires a place or a person', () => {
  test('a refused search is explained with its remedy', async () => {
    const { pull, said } = await bench({ qualified_by: ['location', 'practitioner'] });
    await expect(pull()).rejects.toMatchObject({
      failure: 'permanent',
      message: expect.stringContaining('400 (required)'),
      next: expect.stringContaining('search_by'),
    });
    expect(said()).toBe('');
  });

  test('eligd searches once for each configured place, and no visit counts twice', async () => {
    const search_by = [{ actor: 'Location/place' }, { actor: 'Practitioner/npi-1234567893' }];
    const { peer, pull, offer } = await bench({ qualified_by: ['actor'] }, { search_by });
    await offer(...visits(3));
    expect((await pull()).flatMap((batch) => batch.appointments)).toHaveLength(3);
    expect(peer.requests.filter(({ path }) => path === '/Appointment')).toHaveLength(2);
  });
});

describe('a server in trouble', () => {
  test('eligd repeats after 429, 5xx, lost connections, cut replies, proxy pages', async () => {
    const { peer, pull, offer } = await bench();
    await offer(appointment(1));
    const faults = [
      { when: 'before', action: 'status', status: 429, headers: { 'retry-after': '3' } },
      { when: 'before', action: 'status', status: 503 },
      { when: 'after', action: 'truncate' },
      { when: 'before', action: 'reset' },
      { when: 'before', action: 'html' },
    ] as const;
    let count = 0;
    peer.fault = ({ path }) => (path === '/Appointment' ? (faults[count++] ?? null) : null);
    expect(read(await pull()).size).toBe(1);
  });

  test('eligd sends a server nothing for as long as its Retry-After says', async () => {
    const { peer, pull, pass } = await bench();
    peer.fault = ({ path }) =>
      path === '/Appointment'
        ? { when: 'before', action: 'status', status: 503, headers: { 'retry-after': '120' } }
        : null;
    await expect(pull()).rejects.toMatchObject({ failure: 'transient', retry_after_ms: 120_000 });
    const before = peer.requests.length;
    await pass(90_000);
    await expect(pull()).rejects.toMatchObject({ failure: 'transient', retry_after_ms: 30_000 });
    expect(peer.requests).toHaveLength(before);
    peer.fault = () => null;
    await pass(11_000);
    await pull();
    expect(peer.requests.length).toBeGreaterThan(before);
  });

  test('the end of a pause counts by the server’s clock', async () => {
    const { peer, pull } = await bench();
    const headers = {
      date: 'Mon, 07 Jan 2019 10:00:00 GMT',
      'retry-after': 'Mon, 07 Jan 2019 10:02:00 GMT',
    };
    peer.fault = ({ path }) =>
      path === '/Appointment' ? { when: 'before', action: 'status', status: 429, headers } : null;
    await expect(pull()).rejects.toMatchObject({ failure: 'transient', retry_after_ms: 120_000 });
  });

  test('one failing patient delays no other (G7), and is read again', async () => {
    const { peer, pull, offer, cursor } = await bench();
    await offer(...visits(3));
    peer.fault = ({ path, query }) =>
      path === '/Coverage' && query.includes('P-2')
        ? { when: 'before', action: 'status', status: 500 }
        : null;
    const error = await pull().catch((thrown: Error & { batches: PullBatch[] }) => thrown);
    const { batches } = error as { batches: PullBatch[] };
    expect([...read(batches).keys()]).toEqual(['A-1', 'A-3']);
    expect(batches[0]?.rejected).toMatchObject([{ source_id: 'A-2' }]);
    expect(batches[0]?.source.completeness).toBe('changes');
    expect(cursor()).toBe(null);
    peer.fault = () => null;
    expect([...read(await pull()).keys()]).toEqual(['A-1', 'A-2', 'A-3']);
  });

  test('one failing practitioner delays no other (G7)', async () => {
    const { peer, pull, offer } = await bench({ include: false });
    const busy = visits(25).map((one) => ({
      ...one,
      provider: { ...one.provider, rendering_npi: '1999999984' },
    }));
    await offer(appointment(30), ...busy);
    for (const action of ['status', 'reset'] as const) {
      peer.fault = ({ path }) =>
        path === '/Practitioner/npi-1999999984' ? { when: 'before', action, status: 500 } : null;
      const error = await pull().catch((thrown: Error & { batches: PullBatch[] }) => thrown);
      expect(error).toMatchObject({
        failure: 'transient',
        message: expect.stringContaining('25 appointments'),
      });
      const { batches } = error as { batches: PullBatch[] };
      expect([[...read(batches).keys()], batches[0]?.rejected]).toEqual([['A-30'], []]);
    }
  });

  test('a pull that ends while references are read leaves no request', async () => {
    const { peer, pull, offer } = await bench({ include: false });
    await offer(...visits(25));
    let is_over = false;
    peer.fault = ({ path }) => {
      if (path.startsWith('/Patient/')) is_over = true;
      return is_over ? { when: 'before', action: 'status', status: 401 } : null;
    };
    await expect(pull()).rejects.toMatchObject({ failure: 'permanent' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    // Those in progress, at most four.
    expect(
      peer.requests.filter(({ path }) => path.startsWith('/Patient/')).length,
    ).toBeLessThanOrEqual(4);
  });

  test('a server that fails on everything returns nothing', async () => {
    const { peer, pull, offer } = await bench();
    await offer(...visits(25));
    peer.fault = ({ path }) =>
      path === '/Coverage' ? { when: 'before', action: 'status', status: 500 } : null;
    await expect(pull()).rejects.toMatchObject({ failure: 'transient', batches: [] });
  });

  test('if the server says that its list is incomplete, nothing vanishes', async () => {
    const { peer, pull, offer, said } = await bench();
    await offer(...visits(2));
    const issue = [
      { severity: 'error', code: 'processing', diagnostics: 'Quillfeather could not be searched.' },
    ];
    peer.alter = ({ path }, body) =>
      path === '/Appointment'
        ? {
            ...body,
            entry: [
              ...body.entry,
              {
                search: { mode: 'outcome' },
                resource: { resourceType: 'OperationOutcome', issue },
              },
            ],
          }
        : body;
    const [batch] = await pull();
    expect(batch?.appointments).toHaveLength(2);
    expect(batch?.source.completeness).toBe('changes');
    expect(said()).toContain('fhir_answer_partial');
    expect(said()).not.toContain('Quillfeather');
  });

  test('a server that only warns is trusted', async () => {
    const { peer, pull, offer } = await bench();
    await offer(...visits(2));
    const outcome = {
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'warning', code: 'not-supported' }],
    };
    peer.alter = ({ path }, body) =>
      path === '/Appointment' ? { ...body, entry: [{ resource: outcome }, ...body.entry] } : body;
    const [batch] = await pull();
    expect(batch).toMatchObject({ source: { completeness: 'full' }, rejected: [] });
  });

  test('errors contain no patient data, whatever the OperationOutcome says (G6)', async () => {
    const { peer, pull } = await bench();
    const issue = [
      {
        severity: 'error',
        code: 'invalid',
        diagnostics: 'Zebulon Quillfeather is not known',
        expression: ['Appointment.date'],
      },
    ];
    peer.fault = () => null;
    peer.alter = ({ path }, body) =>
      path === '/Appointment' ? { resourceType: 'OperationOutcome', issue } : body;
    const error = await pull().catch((thrown: unknown) => thrown);
    expect(String(error)).not.toContain('Quillfeather');
  });

  test('another version of FHIR is refused', async () => {
    const { peer, pull } = await bench();
    peer.alter = ({ path }, body) =>
      path === '/metadata' ? { ...body, fhirVersion: '3.0.2' } : body;
    await expect(pull()).rejects.toMatchObject({
      failure: 'permanent',
      message: expect.stringContaining('3.0.2'),
    });
  });
});
