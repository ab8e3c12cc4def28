/**
 * Checks a FHIR server for `eligd check`: what it lacks, the consequence, and what to do. Changes
 * nothing.
 */
import { localDate } from '../../src/domain/time.ts';
import { type CheckLine, ConnectorError } from '../contract.ts';
import type { FhirConfig } from './config.ts';
import { listAt, type Resource } from './element.ts';
import type { FhirEnv } from './events.ts';
import { Chart } from './read/chart.ts';
import { type Cursor, NOTHING_READ, nextReading, oneDateQuery } from './read/reading.ts';
import { targetOf, targetType } from './read/references.ts';
import type { Capability } from './server/capability.ts';
import type { FhirClient } from './server/client.ts';
import { FhirError, isRefusal, toConnectorError } from './server/failure.ts';
import { missingScopes, readTypes, writtenTypes } from './server/scopes.ts';
import { fallbackFor, isReadOnly } from './write/fallbacks.ts';

type Parts = { client: FhirClient; config: FhirConfig; env: FhirEnv };

export async function checkServer(parts: Parts, signal: AbortSignal): Promise<CheckLine[]> {
  const { client } = parts;
  const login = await line('Logged in to the FHIR server.', () => client.login(signal));
  if (!login.ok) return [login];
  let capability: Capability | null = null;
  const metadata = await line('The FHIR server answers.', async () => {
    capability = await client.capability(signal);
  });
  if (capability === null) return [login, metadata];
  return [
    ...(parts.config.auth === 'none' ? [] : [login]),
    serverLine(capability),
    ...scopeLines(parts),
    ...readLines(parts.config, capability),
    ...(await searchLines(parts, capability, signal)),
    ...writeLines(parts, capability),
  ];
}

async function line(
  what: string,
  look: () => Promise<unknown>,
  onError: (error: unknown) => void = () => {},
): Promise<CheckLine> {
  try {
    await look();
    return { ok: true, what };
  } catch (error) {
    onError(error);
    const told = error instanceof FhirError ? toConnectorError(error) : error;
    if (!(told instanceof ConnectorError)) throw error;
    return { ok: false, what: told.message, next: told.next };
  }
}

function serverLine({ is_known, software, fhir_version }: Capability): CheckLine {
  if (is_known)
    return {
      ok: true,
      what: `The server is ${software || 'not named'}, FHIR ${fhir_version || 'R4'}.`,
    };
  return {
    ok: true,
    what:
      'The server gives no CapabilityStatement that can be read (/metadata). eligd works ' +
      'without it: it asks for no includes, and checks before every write.',
  };
}

function scopeLines({ client, config }: Parts): CheckLine[] {
  const granted = client.grantedScopes();
  if (granted === null) return [];
  const missing = missingScopes(config, granted);
  if (missing.length === 0)
    return [{ ok: true, what: 'The login allows everything that eligd asks for.' }];
  const next =
    'Have these scopes added to eligd’s client on the FHIR server, or turn off what needs them ' +
    '(write_back:, attention:).';
  return [
    { ok: false, what: `The login does not allow everything for: ${missing.join(', ')}.`, next },
  ];
}

/** Without these, no call is possible; the others only add to a call. */
const NEEDED: readonly string[] = ['Appointment', 'Patient', 'Coverage'];

function readLines(config: FhirConfig, capability: Capability): CheckLine[] {
  const lacking = readTypes(config).filter(
    (type) =>
      capability.interaction(type, 'read') === false &&
      capability.interaction(type, 'search-type') === false,
  );
  const needed = lacking.filter((type) => NEEDED.includes(type));
  const others = lacking.filter((type) => !NEEDED.includes(type));
  const lines: CheckLine[] = [];
  if (needed.length > 0) {
    const next = 'Have the server allow it; without it this connector cannot work.';
    lines.push({ ok: false, what: `The server does not offer ${needed.join(', ')}.`, next });
  }
  if (others.length > 0)
    lines.push({
      ok: true,
      what: `The server does not offer ${others.join(', ')}; eligd works without it.`,
    });
  if (!capability.is_known) return lines;
  if (!capability.include('Appointment', 'actor'))
    lines.push({
      ok: true,
      what:
        'The server sends no patients along with appointments (_include), so they are read one ' +
        'by one.',
    });
  const isSearched = (name: string) => capability.searchParameter('Coverage', name) !== false;
  if (!needed.includes('Coverage') && !isSearched('patient') && !isSearched('beneficiary')) {
    const next =
      'Have the server allow a search of Coverage by patient; without it, eligd cannot ' +
      'find any insurance.';
    lines.push({ ok: false, what: 'The server does not search Coverage by patient.', next });
  }
  return lines;
}

/** Runs the connector's own searches, for one appointment each. */
async function searchLines(
  { client, config, env }: Parts,
  capability: Capability,
  signal: AbortSignal,
): Promise<CheckLine[]> {
  const now = env.clock.now();
  const found: Resource[] = [];
  let is_refused = false;
  const queryFor = (cursor: Cursor) =>
    nextReading(cursor, capability, {
      config: { ...config, page_size: 1 },
      time_zone: env.time_zone,
      now,
    }).query;
  const search = (cursor: Cursor, what: string, query = queryFor(cursor)) => {
    return line(
      what,
      async () => {
        for (const extra of config.search_by.length === 0 ? [{}] : config.search_by) {
          found.push(...(await firstPage(client, [...Object.entries(extra), ...query], signal)));
        }
      },
      (error) => {
        is_refused = isRefusal(error);
      },
    );
  };
  const both = await search(NOTHING_READ, 'Appointments can be searched by date.');
  const one =
    'The server accepts only one date in a search, so eligd ignores the visits after the ' +
    'window.';
  const window =
    both.ok || !is_refused
      ? both
      : await search(NOTHING_READ, one, oneDateQuery(queryFor(NOTHING_READ)));
  if (!window.ok && !is_refused) return [window];
  if (!window.ok) {
    const hint =
      config.search_by.length > 0
        ? 'Check the names and values in search_by:.'
        : 'If the server requires a location or a practitioner, name them in search_by:, e.g. ' +
          '"- location: Location/12".';
    return [{ ...both, next: `${both.next ?? ''} ${hint}`.trim() }];
  }
  const since = new Date(now).toISOString();
  const changes = await search(
    { ...NOTHING_READ, since, window_on: localDate(now, env.time_zone) },
    'eligd can ask for changed appointments.',
  );
  const is_told_changes =
    changes.ok && capability.searchParameter('Appointment', '_lastUpdated') !== false;
  const instead =
    'The server does not search for changes (_lastUpdated), so eligd reads the whole window ' +
    'each hour.';
  return [
    window,
    ...(await ignoredLines({ client, config, env }, queryFor(NOTHING_READ), signal)),
    is_told_changes ? changes : { ok: true, what: instead },
    ...(await insuranceLines(found, { client, config, env }, capability, signal)),
  ];
}

/**
 * Reports ignored parameters. A server may ignore a parameter that it does not know and send the
 * visits of all locations, so each is tried with a value that matches nothing. A refusal counts as
 * supported.
 */
async function ignoredLines(
  { client, config }: Parts,
  window: readonly [string, string][],
  signal: AbortSignal,
): Promise<CheckLine[]> {
  const ignored = new Set<string>();
  for (const extra of config.search_by) {
    for (const [name, value] of Object.entries(extra)) {
      // `location:not` and similar modifiers invert the meaning.
      if (name.includes(':') || ignored.has(name)) continue;
      const unmatched = { ...extra, [name]: `${value.split(',')[0]}-none` };
      const found = await firstPage(
        client,
        [...Object.entries(unmatched), ...window],
        signal,
      ).catch((error: unknown) => {
        if (error instanceof FhirError) return [];
        throw error;
      });
      if (found.length > 0) ignored.add(name);
    }
  }
  if (ignored.size === 0) return [];
  const next =
    'Check the name in search_by:. With the current setting, eligd would read the ' +
    'appointments of all locations and call the payers of all of them.';
  return [
    {
      ok: false,
      what:
        `The server ignores ${[...ignored].join(', ')} in a search of Appointment ` +
        '(search_by:).',
      next,
    },
  ];
}

async function firstPage(
  client: FhirClient,
  query: readonly [string, string][],
  signal: AbortSignal,
): Promise<Resource[]> {
  for await (const { matches } of client.search('Appointment', query, signal)) return matches;
  return [];
}

/** Reads the patient of one appointment and searches the insurance, like the connector. */
async function insuranceLines(
  appointments: readonly Resource[],
  { client, config }: Parts,
  capability: Capability,
  signal: AbortSignal,
): Promise<CheckLine[]> {
  const chart = new Chart(client, capability, signal);
  for (const appointment of appointments) {
    const actors = listAt(appointment, 'participant').map(({ actor }) => actor);
    const patient = actors.find((actor) => targetType(actor, config.base_url) === 'Patient');
    if (patient === undefined) continue;
    const read = await line('Patients can be read.', async () => {
      if ((await chart.resolve(patient, appointment, 'Patient')) === null)
        throw new FhirError('forbidden', { what: 'The patient of an appointment cannot be read.' });
    });
    const target = targetOf(patient, config.base_url);
    if (!read.ok || target.kind !== 'local') return [read];
    return [
      read,
      await line('Coverage can be searched by patient.', () => chart.coveragesOf(target.id)),
    ];
  }
  const where = config.search_by.length === 0 ? '' : ' with what search_by: names';
  const what =
    `The first page has no visit of a patient${where}, so eligd did not check whether it can ` +
    'read patients and coverages.';
  return [{ ok: true, what }];
}

/** A documented fallback that works is not a problem. */
function refusedLine(type: string, capability: Capability): CheckLine {
  const fallback = fallbackFor(type, capability);
  if (fallback !== null)
    return {
      ok: true,
      what: `The server does not accept ${type}; eligd writes ${fallback} instead.`,
    };
  const next =
    'Have the server allow it, or set write_back: and attention: to what it accepts. ' +
    'docs/fhir.md says what eligd falls back to.';
  return { ok: false, what: `The server does not accept ${type} or any replacement for it.`, next };
}

function writeLines({ client, config }: Parts, capability: Capability): CheckLine[] {
  const types = writtenTypes(config);
  if (types.length === 0)
    return [
      { ok: true, what: 'Nothing is written to the server (write_back: none, attention: none).' },
    ];
  const read_only: CheckLine[] = isReadOnly(config, capability, client.grantedScopes())
    ? [
        {
          ok: false,
          what: 'No answer could be written to the server, so eligd makes no calls for its visits.',
          next:
            'Have the server allow one of them, or set write_back: none to make the calls ' +
            'anyway.',
        },
      ]
    : [];
  if (!capability.is_known) return read_only;
  const refused = types.filter((type) => capability.interaction(type, 'create') === false);
  const looked = types.filter(
    (type) =>
      !refused.includes(type) && type !== 'Provenance' && !capability.conditionalCreate(type),
  );
  const fixed = types.filter(
    (type) => !refused.includes(type) && capability.interaction(type, 'update') === false,
  );
  const lines: CheckLine[] = [];
  for (const type of refused) lines.push(refusedLine(type, capability));
  if (refused.length === 0)
    lines.push({ ok: true, what: `The server accepts ${types.join(', ')}.` });
  lines.push(...read_only);
  if (looked.length > 0)
    lines.push({
      ok: true,
      what:
        `The server has no conditional create for ${looked.join(', ')}, so eligd checks before ` +
        'it writes.',
    });
  if (fixed.length > 0) {
    const next =
      'Have the server allow updates; without them, a corrected answer cannot replace the ' +
      'first one.';
    lines.push({ ok: false, what: `The server does not update ${fixed.join(', ')}.`, next });
  }
  return lines;
}
