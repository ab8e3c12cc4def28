/** Maps resources to an appointment; docs/fhir.md "Mapping" has the same as a table. Pure. */
import { Temporal } from 'temporal-polyfill';
import type {
  AppointmentInput,
  AppointmentStatus,
  FieldProblem,
} from '../../../src/domain/appointment.ts';
import { appointmentStateReader } from '../../../src/domain/appointment-states.ts';
import type { Specialty } from '../../../src/domain/specialty.ts';
import type { FhirConfig } from '../config.ts';
import {
  codingsAt,
  identifierOf,
  isJson,
  type Json,
  listAt,
  type Resource,
  textAt,
} from '../element.ts';
import { toCoverages } from './coverage.ts';
import type { Gathered } from './gather.ts';
import { type Place, toPatient } from './person.ts';
import { targetOf } from './references.ts';

/**
 * The R5 elements that name the appointment which this one replaces, and their names on R4 servers.
 */
const REPLACES = /(^|[./])(Appointment\.)?(replaces|previousAppointment)$/;

/** Returns a function that reads the status of an Appointment; in doubt, the visit takes place. */
export function statusReader({ statuses }: Pick<FhirConfig, 'statuses'>) {
  const stateOf = appointmentStateReader<'ignored'>(statuses);
  return (appointment: Resource): AppointmentStatus | 'ignored' =>
    stateOf(textAt(appointment, 'status')) ?? 'booked';
}

/**
 * Returns the start in UTC; null if there is no readable one. FHIR's `instant` has a zone; some
 * servers omit it and mean the clinic's wall clock (docs/design.md "Time").
 */
export function startOf(appointment: Resource, time_zone: string): string | null {
  const text = textAt(appointment, 'start');
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text)) return null;
  try {
    const at = /(Z|[+-]\d{2}:?\d{2})$/i.test(text)
      ? Temporal.Instant.from(text)
      : Temporal.PlainDateTime.from(text)
          .toZonedDateTime(time_zone, { disambiguation: 'compatible' })
          .toInstant();
    return new Date(at.epochMilliseconds).toISOString();
  } catch {
    return null;
  }
}

/** Returns an appointment that takes place; a cancellation needs only the ID. */
export function toAppointment(
  gathered: Gathered,
  source_id: string,
  { starts_at, status }: Pick<AppointmentInput, 'starts_at' | 'status'>,
  place: Place,
): AppointmentInput {
  const { appointment, location, coverages, organizations, practitioner } = gathered;
  const { config, today } = place;
  const { systems } = config;
  const problems: FieldProblem[] = [];
  const replaces = replacedId(appointment, config);
  const fromOrganizations = (names: readonly string[]) =>
    organizations
      .map((organization) => identifierOf(organization, names, today))
      .find((value) => value !== '') ?? '';
  return {
    source_id,
    starts_at,
    status,
    patient: toPatient(gathered.patient, gathered.patient_id, today, problems),
    coverages: toCoverages(coverages, place),
    provider: {
      rendering_npi: identifierOf(practitioner, systems.npi, today),
      billing_npi: fromOrganizations(systems.npi),
      tax_id: fromOrganizations(systems.tax_id),
      is_specialist: null,
      in_network: null,
    },
    location: textAt(location, 'name') || textAt(location, 'id') || null,
    ...(replaces === null ? {} : { replaces }),
    specialty: specialtyOf(appointment, config),
    ...codesOf(gathered, config),
    problems,
  };
}

/** Returns the ID of the appointment from which this one was rescheduled, if it names one. */
function replacedId(appointment: Resource, { base_url }: FhirConfig): string | null {
  const extensions = [
    ...listAt(appointment, 'extension'),
    ...listAt(appointment, 'modifierExtension'),
  ];
  const references = [
    ...listAt(appointment, 'replaces'),
    ...listAt(appointment, 'previousAppointment'),
    ...extensions
      .filter((extension) => REPLACES.test(textAt(extension, 'url')))
      .map((extension) => extension.valueReference),
    ...listAt(appointment, 'supportingInformation'),
  ];
  for (const reference of references) {
    const target = targetOf(reference, base_url);
    if (target.kind === 'local' && target.type === 'Appointment' && target.id !== appointment.id)
      return target.id;
  }
  return null;
}

function specialtyOf(appointment: Resource, { specialties }: FhirConfig): Specialty | null {
  const concepts = [...listAt(appointment, 'specialty'), ...listAt(appointment, 'serviceCategory')];
  const words = concepts.flatMap((concept) => [
    ...listAt(concept, 'coding').map((coding) => textAt(coding, 'code')),
    textAt(concept, 'text'),
  ]);
  return words.map((word) => specialties[word]).find((found) => found !== undefined) ?? null;
}

type Coding = { system: string; code: string };
/** The codings that name a procedure of the visit, and how many of it are planned. */
type Named = { codings: Coding[]; count: number };

/**
 * Lists the elements that name procedures. Each is one procedure unless an order has a quantity.
 */
function procedureSources({ appointment, orders }: Gathered): Named[][] {
  return [
    orders.map((order) => ({
      codings: [
        ...codingsAt(order, 'code'),
        ...codingsAt(order, 'orderDetail'),
        ...codingsAt(order, 'reasonCode'),
      ],
      count: countOf(order),
    })),
    ...['serviceType', 'reasonCode'].map((name) =>
      listAt(appointment, name).map((concept) => ({
        codings: codingsAt({ concept }, 'concept'),
        count: 1,
      })),
    ),
  ];
}

/** No visit has more of one procedure. */
const COUNT_MAX = 99;
/** Units that say nothing but "so many": UCUM, and words for one of the procedure. */
const PLAIN_UNIT = /^(?:1|\{?(?:procedure|procedures|count|each|ea|unit|units)\}?)?$/i;

/**
 * ServiceRequest.quantity, where it says how many of the procedure are done. An order for a course
 * of several visits has a quantity of another kind: visits, amounts of money, so many in a month.
 */
function countOf(order: Json): number {
  const of_course = ['occurrenceTiming', 'occurrencePeriod'].some((name) => isJson(order[name]));
  const quantity = order.quantityQuantity;
  if (of_course || !isJson(quantity) || textAt(quantity, 'comparator') !== '') return 1;
  const is_plain = ['unit', 'code'].every((name) => PLAIN_UNIT.test(textAt(quantity, name)));
  const count = Number(textAt(quantity, 'value'));
  return is_plain && Number.isInteger(count) && count >= 1 && count <= COUNT_MAX ? count : 1;
}

function codesOf(gathered: Gathered, { systems }: FhirConfig) {
  const sources = procedureSources(gathered);
  const inSystems = (codings: readonly Coding[], names: readonly string[]) => [
    ...new Set(
      codings
        .filter(({ system, code }) => code !== '' && names.includes(system))
        .map(({ code }) => code.toUpperCase()),
    ),
  ];
  const all = [
    ...sources.flat().flatMap(({ codings }) => codings),
    ...gathered.conditions.flatMap((condition) => codingsAt(condition, 'code')),
  ];
  const procedure_codes = inSystems(all, systems.procedure);
  // Orders and the appointment may both name it: the source that names it most often counts.
  const timesNamed = (code: string) =>
    Math.max(
      ...sources.map((source) =>
        source
          .filter(({ codings }) => inSystems(codings, systems.procedure).includes(code))
          .reduce((sum, { count }) => sum + count, 0),
      ),
    );
  const counts = procedure_codes
    .map((code): [string, number] => [code, timesNamed(code)])
    .filter(([, count]) => count > 1);
  return {
    procedure_codes,
    ...(counts.length === 0 ? {} : { procedure_counts: Object.fromEntries(counts) }),
    diagnosis_codes: inSystems(all, systems.diagnosis),
  };
}
