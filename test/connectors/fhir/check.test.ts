import { describe, expect, test } from 'vitest';
import type { CheckLine } from '../../../connectors/contract.ts';
import type { PeerOptions } from '../../support/fhir/peer.ts';
import { appointment, bench } from './bench.ts';

async function check(
  options: PeerOptions = {},
  config: Record<string, unknown> = {},
  secrets: Record<string, string> = {},
) {
  const { connector, peer } = await bench(options, config, secrets);
  const lines = await connector.check(new AbortController().signal);
  expect(peer.requests.filter(({ method, path }) => method !== 'GET' && path !== '/token')).toEqual(
    [],
  );
  return lines;
}

const faults = (lines: CheckLine[]) => lines.filter(({ ok }) => !ok).map(({ what }) => what);
const remarks = (lines: CheckLine[]) =>
  lines
    .filter(({ ok }) => ok)
    .map(({ what }) => what)
    .join('\n');

describe('eligd check of a FHIR server', () => {
  test('check finds no fault in a complete server, and names it', async () => {
    const lines = await check();
    expect(faults(lines)).toEqual([]);
    expect(remarks(lines)).toContain('Peer 1, FHIR 4.0.1');
  });

  test.each<[PeerOptions, RegExp]>([
    [{ without: ['Coverage'] }, /does not offer Coverage/],
    [{ qualified_by: ['location'] }, /400 \(required\) to a search of Appointment/],
    [{ refuse_search: ['Coverage.patient'] }, /does not search Coverage by patient/],
  ])('check names what is missing with %j', async (options, expected) => {
    const lines = await check(options);
    expect(faults(lines)).toMatchObject([expect.stringMatching(expected)]);
    for (const { ok, next } of lines) if (!ok) expect(next).toMatch(/\w+.*\./);
  });

  test.each<[PeerOptions, string]>([
    [{ include: false }, 'read one by one'],
    [
      { without: ['CoverageEligibilityResponse'] },
      'does not accept CoverageEligibilityResponse; eligd writes DocumentReference instead',
    ],
    [{ without: ['Task'] }, 'does not accept Task; eligd writes Communication instead'],
    [{ has_metadata: false }, 'no CapabilityStatement'],
    [{ conditional_create: false }, 'checks before it writes'],
    [{ refuse_search: ['Appointment._lastUpdated'] }, 'eligd reads the whole window each hour'],
    [
      { without: ['ServiceRequest', 'Condition'] },
      'does not offer ServiceRequest, Condition; eligd works without',
    ],
  ])('check says what follows from %j', async (options, expected) => {
    const lines = await check(options);
    expect(faults(lines)).toEqual([]);
    expect(remarks(lines)).toContain(expected);
  });

  test.each([
    ['/Coverage', /403 .*Coverage/],
    ['/Patient/P-1', /patient of an appointment cannot be read/],
  ])(
    'check tries %s with the patient of an appointment, whatever the server says',
    async (path, expected) => {
      const { connector, peer, offer } = await bench({ include: false });
      await offer(appointment(1));
      const lines = () => connector.check(new AbortController().signal);
      expect(remarks(await lines())).toContain(
        'Patients can be read.\nCoverage can be searched by patient.',
      );
      peer.fault = (request) =>
        request.path === path ? { when: 'before', action: 'status', status: 403 } : null;
      expect(faults(await lines())).toEqual([expect.stringMatching(expected)]);
    },
  );

  test('check tries each place that is searched by', async () => {
    const search_by = [{ actor: 'Location/place' }, { patient: 'Patient/P-1' }];
    const [fault] = (await check({ qualified_by: ['actor'] }, { search_by })).filter(
      ({ ok }) => !ok,
    );
    expect(fault).toMatchObject({
      what: expect.stringContaining('400 (required)'),
      next: expect.stringContaining('search_by'),
    });
  });

  test('check names search parameters that the server ignores', async () => {
    const search_by = [{ locaton: 'Location/12' }, { patient: 'Patient/P-1' }];
    const { connector, peer, offer } = await bench({}, { search_by });
    await offer(appointment(1));
    const [entry] = await peer.all('Appointment');
    peer.alter = ({ query }, body) =>
      query.startsWith('locaton') ? { ...body, entry: [{ resource: entry }] } : body;
    const faulty = (await connector.check(new AbortController().signal)).filter(({ ok }) => !ok);
    expect(faulty).toEqual([
      {
        ok: false,
        what: 'The server ignores locaton in a search of Appointment (search_by:).',
        next: expect.stringContaining('Check the name in search_by:'),
      },
    ]);
  });

  test('check says when there is no visit or place to try with', async () => {
    const search_by = [{ location: 'Location/nowhere' }];
    const { connector, offer } = await bench({}, { search_by });
    await offer(appointment(1));
    const lines = await connector.check(new AbortController().signal);
    expect(faults(lines)).toEqual([]);
    expect(remarks(lines)).toMatch(/has no visit of a patient with what search_by: names/);
  });

  test('check mentions search_by only if the server refuses the search', async () => {
    const lines = await check({ authorization: 'Bearer other' });
    expect(lines.filter(({ ok }) => !ok)).toEqual([
      {
        ok: false,
        what: expect.stringContaining('401'),
        next: expect.not.stringContaining('search_by'),
      },
    ]);
  });

  test('check suspects a wrong address first if there is no token endpoint', async () => {
    const { peer } = await bench();
    const base_url = `${peer.url}-typo`;
    const lines = await check(
      {},
      { base_url, auth: 'client_secret', client_id: 'eligd' },
      { client_secret: 's' },
    );
    expect(lines.filter(({ ok }) => !ok)).toMatchObject([
      { next: expect.stringMatching(/^Check base_url: /) },
    ]);
  });

  test('check says that the login does not work, and nothing else', async () => {
    const lines = await check({ authorization: 'Bearer right' }, { auth: 'bearer' }, {});
    expect(faults(lines)).toEqual([expect.stringContaining('ELIGD_SUITE_TOKEN')]);
  });

  test('check names the scopes that the login lacks', async () => {
    const smart = { client_id: 'eligd', client_secret: 's' };
    const config = {
      auth: 'client_secret',
      client_id: 'eligd',
      scopes: ['system/Appointment.rs', 'system/Patient.read'],
    };
    const [fault] = faults(await check({ smart }, config, { client_secret: 's' }));
    expect(fault).toContain('Coverage');
    expect(fault).not.toMatch(/Appointment|Patient/);
  });

  test('check says that the server does not answer', async () => {
    const { connector, peer } = await bench();
    await peer.close();
    const [line] = await connector.check(new AbortController().signal).then(faults);
    expect(line).toContain('gave no answer');
  });
});
