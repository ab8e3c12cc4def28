import type { FhirConfig } from '../config.ts';
import { type Json, listAt, type Resource, textAt } from '../element.ts';
import type { Chart } from './chart.ts';
import { isAbout, nameOfTarget, targetOf, targetType } from './references.ts';

/** An appointment with the resources that it refers to; each is null or empty if missing. */
export type Gathered = {
  appointment: Resource;
  patient: Json;
  patient_id: string;
  /** The number of further patients. */
  others: number;
  practitioner: Json | null;
  location: Json | null;
  /**
   * The biller: the organization of the role, otherwise the one that manages the location, followed
   * by its parent organizations.
   */
  organizations: Json[];
  coverages: GatheredCoverage[];
  orders: Json[];
  conditions: Json[];
};

export type GatheredCoverage = {
  coverage: Json;
  payor: Json | null;
  payor_is_person: boolean;
  subscriber: Json | null;
};

/** Why an appointment is skipped. `no_patient`: a blocked time slot. */
type Ungathered = { why: 'no_patient' | 'patient_unreadable' };

/** Organizations are nested; more levels than this are a mistake of the server. */
const PARTS_MAX = 5;

/**
 * Collects the resources that an appointment refers to. Throws a FhirError on a transient failure.
 */
export async function gather(
  appointment: Resource,
  chart: Chart,
  config: FhirConfig,
): Promise<Gathered | Ungathered> {
  const actors = listAt(appointment, 'participant').map((participant) => participant.actor);
  const ofType = (type: string) =>
    actors.filter((actor) => targetType(actor, config.base_url) === type);
  const patients = ofType('Patient');
  const [patient_reference] = patients;
  if (patient_reference === undefined) return { why: 'no_patient' };
  const patient = await chart.resolve(patient_reference, appointment, 'Patient');
  const { kind } = targetOf(patient_reference, config.base_url);
  // Without a patient record, no coverage can be found, and the patient must not look like
  // self-pay.
  const has_record = kind === 'local' || kind === 'elsewhere';
  const patient_id = textAt(patient, 'id');
  if (
    patient === null ||
    !has_record ||
    textAt(patient, 'resourceType') !== 'Patient' ||
    patient_id === ''
  )
    return { why: 'patient_unreadable' };

  const role = await first(chart, appointment, ofType('PractitionerRole'), 'PractitionerRole');
  const practitioner =
    (await first(chart, appointment, ofType('Practitioner'), 'Practitioner')) ??
    (role === null ? null : await chart.resolve(role.practitioner, role, 'Practitioner'));
  const location =
    (await first(chart, appointment, ofType('Location'), 'Location')) ??
    (role === null ? null : await first(chart, role, listAt(role, 'location'), 'Location'));
  const others = new Set(patients.map((each) => nameOfTarget(each, config.base_url))).size - 1;
  const about = { patient_id, is_group: others > 0, base_url: config.base_url };
  const named = await all(chart, appointment, listAt(appointment, 'basedOn'), 'ServiceRequest');
  const orders = named.filter((order) => isAbout(order, about));
  const reasons = [appointment, ...orders].flatMap((resource) =>
    listAt(resource, 'reasonReference').map((reference) => ({ resource, reference })),
  );
  const conditions: Json[] = [];
  for (const { resource, reference } of reasons)
    conditions.push(
      ...(await all(chart, resource, [reference], 'Condition')).filter((condition) =>
        isAbout(condition, about),
      ),
    );
  return {
    appointment,
    patient,
    patient_id,
    others,
    practitioner,
    location,
    organizations:
      config.billing === 'organization' ? await organizations(chart, role, location) : [],
    coverages: await coverages(patient_id, chart, config),
    orders,
    conditions,
  };
}

/** Returns the first of the references that can be read; null: none. */
async function first(
  chart: Chart,
  container: Json,
  references: readonly unknown[],
  type: string,
): Promise<Json | null> {
  for (const reference of references) {
    const found = await chart.resolve(reference, container, type);
    if (found !== null) return found;
  }
  return null;
}

/** Returns all resources of this type among the references. */
async function all(
  chart: Chart,
  container: Json,
  references: readonly Json[],
  type: string,
): Promise<Json[]> {
  const found: Json[] = [];
  for (const reference of references) {
    const named = chart.targetType(reference);
    if (named !== '' && named !== type) continue;
    const resource = await chart.resolve(reference, container, type);
    if (resource !== null && textAt(resource, 'resourceType') === type) found.push(resource);
  }
  return found;
}

/** Returns the organizations of the role and of the location, each followed by its parents. */
export async function organizations(
  chart: Chart,
  role: Json | null,
  location: Json | null,
): Promise<Json[]> {
  const found: Json[] = [];
  const starts: [Json | null, string][] = [
    [role, 'organization'],
    [location, 'managingOrganization'],
  ];
  for (const [holder, name] of starts) {
    let container = holder;
    let reference = holder?.[name];
    for (
      let level = 0;
      level < PARTS_MAX && container !== null && reference !== undefined;
      level += 1
    ) {
      const organization: Json | null = await chart.resolve(reference, container, 'Organization');
      if (organization !== null) found.push(organization);
      container = organization;
      reference = organization?.partOf;
    }
  }
  return found;
}

async function coverages(
  patient_id: string,
  chart: Chart,
  config: FhirConfig,
): Promise<GatheredCoverage[]> {
  const found: GatheredCoverage[] = [];
  for (const coverage of await chart.coveragesOf(patient_id))
    found.push(await gatherCoverage(coverage, chart, config));
  return found;
}

/** Returns a coverage with its payer and its subscriber, if that is another person. */
export async function gatherCoverage(
  coverage: Json,
  chart: Chart,
  config: FhirConfig,
): Promise<GatheredCoverage> {
  const payors = listAt(coverage, 'payor');
  const is_person = (reference: Json) =>
    ['Patient', 'RelatedPerson'].includes(targetType(reference, config.base_url));
  const insurers = payors.filter((reference) => !is_person(reference));
  const [subscriber, beneficiary] = [coverage.subscriber, coverage.beneficiary].map((one) =>
    nameOfTarget(one, config.base_url),
  );
  const is_self = subscriber === '' || subscriber === beneficiary;
  return {
    coverage,
    payor: await payorOf(chart, coverage, insurers),
    payor_is_person: payors.length > 0 && insurers.length === 0,
    subscriber: is_self
      ? null
      : await chart.resolve(coverage.subscriber, coverage, 'RelatedPerson'),
  };
}

/** Returns the payer's Organization, or the text of the reference if it cannot be read. */
async function payorOf(
  chart: Chart,
  coverage: Json,
  insurers: readonly Json[],
): Promise<Json | null> {
  const [reference] = insurers;
  if (reference === undefined) return null;
  const organization = await chart.resolve(reference, coverage, 'Organization');
  if (organization !== null && textAt(organization, 'name') !== '') return organization;
  const display = textAt(reference, 'display');
  return { ...organization, ...(display === '' ? {} : { name: display }) };
}
