/**
 * Builds ADT^A08, update of a patient (HL7 v2.5.1, chapter 3): the PMS's own PID and all IN1, IN2,
 * and IN3 of the patient, with the result of the call in their fields.
 *
 * One message contains every coverage, because a receiver may treat the IN1 of a message as the
 * complete list. A coverage of another delivery keeps the values that eligd wrote earlier, unless
 * the PMS has changed it since.
 */
import { createHash } from 'node:crypto';
import type { CoverageInput } from '../../../src/domain/appointment.ts';
import { summarizeEligibility } from '../../../src/records/summary.ts';
import type { Delivery, Journal } from '../../contract.ts';
import { encode } from '../v2/escapes.ts';
import { writeInstant } from '../v2/times.ts';
import { rawField, segmentsOf, setIds, withFields } from './as-written.ts';
import { at, compose, type Outgoing, segment, type Writing } from './outbound.ts';
import { activeFlag, calledAt, pid } from './segments.ts';

const FORM = { type: 'ADT', trigger: 'A08', structure: 'ADT_A01' };

/** The result of a call for a coverage: field numbers of IN1 and IN3, with encoded values. */
type Written = { in1: Record<number, string>; in3: Record<number, string> };

/** The values that eligd last wrote, by the coverage as the PMS wrote it. */
type Remembered = Record<string, Written>;

/**
 * A message about one patient, the deliveries that it settles, and a function that saves the
 * written values.
 */
export type UpdateMessage = { outgoing: Outgoing; keys: string[]; remember: () => Promise<void> };

/** Builds one message for each patient of the batch, with the answers about all coverages. */
export async function eligibilityUpdates(
  writing: Writing,
  deliveries: readonly Delivery[],
  journal: Journal,
): Promise<UpdateMessage[]> {
  const by_patient = Map.groupBy(deliveries, ({ appointment }) => patientKey(appointment));
  const messages: UpdateMessage[] = [];
  for (const [first, ...others] of by_patient.values())
    if (first !== undefined) messages.push(await updateOf(writing, [first, ...others], journal));
  return messages;
}

/** Returns the visit as the key of a patient without an ID. */
const patientKey = ({ patient, source_id }: Delivery['appointment']) =>
  JSON.stringify(patient.id === null ? { source_id } : { id: patient.id });

async function updateOf(
  writing: Writing,
  deliveries: readonly [Delivery, ...Delivery[]],
  journal: Journal,
): Promise<UpdateMessage> {
  const [{ appointment, key, record }] = deliveries;
  const place = `adt_a08:${digest(patientKey(appointment))}`;
  const before = JSON.parse((await journal.read(place)) ?? '{}') as Remembered;
  const said = new Map(
    deliveries.map((each) => [
      markOf(each.appointment.coverage),
      writtenOf(each, writing.time_zone),
    ]),
  );
  const after: Remembered = {};
  const all = coveragesOf(deliveries);
  const ids = setIds(all.map(({ coverage }) => coverage));
  const insurances = all.flatMap(({ mark, coverage, rank }, index) => {
    const written = said.get(mark) ?? before[mark] ?? NOTHING;
    after[mark] = written;
    return insuranceOf({ coverage, rank, written, set_id: ids[index] ?? '1' });
  });
  const keys = deliveries.map((each) => each.key);
  const named = { key: keys.length === 1 ? key : keys.toSorted().join(' '), record };
  const outgoing = compose(writing, FORM, named, [
    segment('EVN', 'A08', writeInstant(writing.written_at, writing.time_zone)),
    appointment.patient.as_written ?? pid(appointment.patient),
    segment('PV1', '1', 'N'),
    ...insurances,
  ]);
  return { outgoing, keys, remember: () => journal.write(place, JSON.stringify(after)) };
}

/** `mark`: identifies a coverage in its current form in the PMS. */
type Ranked = { mark: string; coverage: CoverageInput; rank: number };

const markOf = (coverage: CoverageInput) => digest(coverage.as_written ?? JSON.stringify(coverage));

/** Returns every coverage of the patient once; coverages that do not apply to a visit come last. */
function coveragesOf(deliveries: readonly Delivery[]): Ranked[] {
  const found = new Map<string, Ranked>();
  for (const { appointment } of deliveries) {
    const { coverage, coverage_rank, all_coverages } = appointment;
    const ranked = all_coverages?.map((each, index) => ({ coverage: each, rank: index + 1 })) ?? [
      { coverage, rank: coverage_rank },
    ];
    for (const each of ranked) {
      const mark = markOf(each.coverage);
      if (!found.has(mark)) found.set(mark, { mark, ...each });
    }
  }
  return ordered([...found.values()]);
}

/** Sorts by the PMS's numbers, if it has any. */
function ordered(all: readonly Ranked[]): Ranked[] {
  const numberOf = ({ coverage, rank }: Ranked) => {
    const own = rawField(segmentsOf(coverage), 'IN1', 1);
    return own !== null && /^\d{1,4}$/.test(own) ? Number(own) : rank;
  };
  return all.toSorted((one, other) => numberOf(one) - numberOf(other));
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

const NOTHING: Written = { in1: {}, in3: {} };

/** Returns IN1-25, 26, 29, 30 and IN3-2, 6. Unknown values are left out and change nothing (G8). */
function writtenOf({ record, verdict }: Delivery, time_zone: string): Written {
  const summary = summarizeEligibility(record, verdict);
  const active = activeFlag(record, verdict);
  const called = calledAt(summary, time_zone);
  const { representative, reference_number } = summary;
  const known = (text: string) => text !== '' && text !== 'unknown';
  if (active === null) return NOTHING;
  return {
    in1: {
      25: active,
      ...(called === null ? {} : { 26: called.slice(0, 8), 29: called }),
      ...(known(representative) ? { 30: `^${encode(representative)}` } : {}),
    },
    in3: {
      ...(known(reference_number) ? { 2: encode(reference_number) } : {}),
      ...(called === null ? {} : { 6: called }),
    },
  };
}

type Placed = Pick<Ranked, 'coverage' | 'rank'> & { written: Written; set_id: string };

function insuranceOf({ coverage, rank, written, set_id }: Placed): string[] {
  const own = segmentsOf(coverage);
  if (own.length === 0) return withoutOriginal({ coverage, rank, written, set_id });
  const lines = own.map((line) =>
    line.startsWith('IN1|') ? withFields(line, { ...written.in1, 1: set_id }) : line,
  );
  // An IN3 of the PMS is a separate certification.
  const has_own = own.some((line) => line.startsWith('IN3|'));
  const has_reference = written.in3[2] !== undefined;
  return has_own || !has_reference ? lines : [...lines, withFields('IN3|1', written.in3)];
}

/**
 * Builds the segments of a coverage that arrived before eligd kept its segments: its identifiers
 * and the result, and no value that the PMS may have written differently.
 */
function withoutOriginal({ coverage, rank, written, set_id }: Placed): string[] {
  const { payor_id, carrier, group_id, member_id } = coverage;
  const names = { 1: set_id, 3: payor_id, 4: carrier, 8: group_id, 22: String(rank) };
  return [
    withFields(segment('IN1', ...at({ ...names, 36: member_id })), written.in1),
    segment('IN2', ...at({ 61: member_id })),
    withFields('IN3|1', written.in3),
  ];
}
