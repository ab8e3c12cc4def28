/**
 * Reads claims that were sent to payers and have no answer yet (`claims_days:`); docs/fhir.md
 * "Claims".
 */
import type { FieldProblem } from '../../../src/domain/appointment.ts';
import type { ClaimInput } from '../../../src/domain/claim.ts';
import { addDays, isDate } from '../../../src/domain/time.ts';
import type { RejectedItem } from '../../contract.ts';
import { codingsAt, identifierOf, type Json, listAt, type Resource, textAt } from '../element.ts';
import type { FhirClient } from '../server/client.ts';
import { concernsAll, FhirError, unlessRefused } from '../server/failure.ts';
import type { Chart } from './chart.ts';
import { toCoverage } from './coverage.ts';
import { gatherCoverage, organizations } from './gather.ts';
import { type Place, toPatient } from './person.ts';

/** `failed`: items on which the server failed, which says nothing about the claim. */
type ReadClaims = { claims: ClaimInput[]; rejected: RejectedItem[]; failed: RejectedItem[] };

/** Claims in these states do not count. */
const SETTLED = new Set(['cancelled', 'entered-in-error']);

/**
 * Returns the claims that were sent in the last `claims_days` days. Throws a FhirError when the
 * server does not answer the search.
 */
export async function readClaims(
  client: FhirClient,
  chart: Chart,
  place: Place,
  signal: AbortSignal,
): Promise<ReadClaims> {
  const since = addDays(place.today, -place.config.claims_days);
  const { matches, included } = await client.searchAll(
    'Claim',
    [
      ['created', `ge${since}`],
      ['_count', String(place.config.page_size)],
    ],
    signal,
  );
  chart.keep(included);
  const sent = matches.filter(
    (claim) =>
      textAt(claim, 'use') === 'claim' &&
      textAt(claim, 'status') !== 'draft' &&
      claim.id !== undefined,
  );
  const read = await Promise.all(
    sent.map((claim) => readOne(claim, { client, chart, place, signal })),
  );
  return {
    claims: read.flatMap((one) => (one.kind === 'claim' ? [one.claim] : [])),
    rejected: read.flatMap((one) => (one.kind === 'rejected' ? [one.item] : [])),
    failed: read.flatMap((one) => (one.kind === 'failed' ? [one.item] : [])),
  };
}

type Outcome =
  | { kind: 'claim'; claim: ClaimInput }
  | { kind: 'rejected' | 'failed'; item: RejectedItem };

/** The clients and settings for reading a claim. */
type Means = { client: FhirClient; chart: Chart; place: Place; signal: AbortSignal };

/** Reads one claim; a server failure on it does not stop the others (G7). */
async function readOne(claim: Resource, means: Means): Promise<Outcome> {
  try {
    return await readClaim(claim, means);
  } catch (error) {
    if (!(error instanceof FhirError) || concernsAll(error)) throw error;
    return { kind: 'failed', item: failedClaim(claim) };
  }
}

function failedClaim({ id }: Resource): RejectedItem {
  const remedy = 'eligd reads it again tomorrow. If it persists, ask whoever runs the FHIR server.';
  return {
    position: `Claim/${id}`,
    field: 'what it refers to',
    value_class: 'something that the FHIR server failed on',
    remedy,
  };
}

async function readClaim(
  claim: Resource,
  { client, chart, place, signal }: Means,
): Promise<Outcome> {
  const { config, today } = place;
  const patient = await chart.resolve(claim.patient, claim, 'Patient');
  const insurance =
    listAt(claim, 'insurance').find((one) => one.focal === true) ?? listAt(claim, 'insurance')[0];
  const coverage =
    insurance === undefined ? null : await chart.resolve(insurance.coverage, claim, 'Coverage');
  const patient_id = textAt(patient, 'id');
  const position = `Claim/${claim.id}`;
  if (patient === null || patient_id === '') {
    const remedy = "Check that the claim's patient has a record that the client of eligd may read.";
    return {
      kind: 'rejected',
      item: { position, field: 'patient', value_class: 'a patient who cannot be read', remedy },
    };
  }
  const problems: FieldProblem[] = [];
  const is_settled =
    SETTLED.has(textAt(claim, 'status')) ||
    (await isAnswered(claim, client, config.identifier_base, signal));
  const gathered = await gatherCoverage(coverage ?? {}, chart, config);
  const facility = await chart.resolve(claim.facility, claim, 'Location');
  const input: ClaimInput = {
    source_id: claim.id ?? '',
    status: is_settled ? 'settled' : 'open',
    claim_number: identifierOf(claim, config.systems.claim_number, today),
    date_of_service: dateOfService(claim),
    billed_amount: billedAmount(claim),
    patient: toPatient(patient, patient_id, today, problems),
    coverage: toCoverage(gathered, place),
    coverage_rank: Number(textAt(insurance, 'sequence')) || 1,
    provider: await providerOf(claim, chart, place),
    location: textAt(facility, 'name') || textAt(facility, 'id') || null,
    place_of_service: codingsAt(listAt(claim, 'item')[0], 'locationCodeableConcept')[0]?.code ?? '',
    specialty: codingsAt(claim, 'type').some(({ code }) => code === 'oral') ? 'dental' : null,
    procedure_codes: codes(listAt(claim, 'item'), 'productOrService', config.systems.procedure),
    diagnosis_codes: codes(
      listAt(claim, 'diagnosis'),
      'diagnosisCodeableConcept',
      config.systems.diagnosis,
    ),
    problems,
  };
  return { kind: 'claim', claim: input };
}

/**
 * Returns whether the server already has the payer's decision from another source, so that no call
 * is needed.
 */
async function isAnswered(
  claim: Resource,
  client: FhirClient,
  base: string,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await unlessRefused(() =>
    client.searchAll('ClaimResponse', [['request', `Claim/${claim.id}`]], signal),
  );
  return (found?.matches ?? []).some(
    (response) =>
      textAt(response, 'status') === 'active' &&
      textAt(response, 'outcome') === 'complete' &&
      textAt(response, 'request', 'reference').endsWith(`Claim/${claim.id}`) &&
      !listAt(response, 'identifier').some((one) => textAt(one, 'system').startsWith(`${base}:`)),
  );
}

function dateOfService(claim: Resource): string | null {
  const [item] = listAt(claim, 'item');
  const candidates = [
    textAt(claim, 'billablePeriod', 'start'),
    textAt(item, 'servicedDate'),
    textAt(item, 'servicedPeriod', 'start'),
  ].map((text) => text.slice(0, 10));
  return candidates.find(isDate) ?? null;
}

/** Returns dollars and cents: the claim's own total, otherwise the sum of its items. */
function billedAmount(claim: Resource): string {
  const total = Number(textAt(claim, 'total', 'value') || Number.NaN);
  if (!Number.isNaN(total)) return total.toFixed(2);
  const nets = listAt(claim, 'item').map((item) =>
    Number(textAt(item, 'net', 'value') || Number.NaN),
  );
  if (nets.length === 0 || nets.some(Number.isNaN)) return '';
  return (nets.reduce((sum, net) => sum + Math.round(net * 100), 0) / 100).toFixed(2);
}

/**
 * Returns the treating provider from the care team; `provider` is the biller, a person or an
 * organization.
 */
async function providerOf(
  claim: Resource,
  chart: Chart,
  { config, today }: Place,
): Promise<ClaimInput['provider']> {
  const { systems } = config;
  const [member] = listAt(claim, 'careTeam');
  const billing = await chart.resolve(claim.provider, claim, 'Practitioner');
  const treating =
    member === undefined ? billing : await chart.resolve(member.provider, claim, 'Practitioner');
  const is_organization = textAt(billing, 'resourceType') === 'Organization';
  const role = textAt(billing, 'resourceType') === 'PractitionerRole' ? billing : null;
  const billers: Json[] =
    config.billing === 'configuration'
      ? []
      : is_organization && billing !== null
        ? [billing]
        : await organizations(chart, role, null);
  const from = (names: readonly string[]) =>
    billers.map((one) => identifierOf(one, names, today)).find((value) => value !== '') ?? '';
  return {
    rendering_npi:
      is_organization && member === undefined ? '' : identifierOf(treating, systems.npi, today),
    billing_npi: from(systems.npi),
    tax_id: from(systems.tax_id),
    is_specialist: null,
    in_network: null,
  };
}

function codes(parts: readonly Json[], element: string, systems: readonly string[]): string[] {
  const found = parts
    .flatMap((part) => codingsAt(part, element))
    .filter(({ system, code }) => code !== '' && systems.includes(system));
  return [...new Set(found.map(({ code }) => code.toUpperCase()))];
}
