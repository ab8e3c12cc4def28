/**
 * The three forms in which a record goes back: PIN^I07, ORU^R01 and ADT^A08 (HL7 v2.5.1, chapters
 * 11, 7 and 3).
 */
import type { Patient } from '../../../src/domain/appointment.ts';
import { estimateSentences } from '../../../src/records/estimate.ts';
import { type EligibilitySummary, summarizeEligibility } from '../../../src/records/summary.ts';
import type { ConnectorEnv, Delivery } from '../../contract.ts';
import type { Hl7Config } from '../config.ts';
import { writeInstant } from '../v2/times.ts';
import { at, compose, type Field, segment } from './outbound.ts';
import { rowsOf } from './rows.ts';

export type Outgoing = { control_id: string; text: string };

/** The coding system of what only eligd says. */
export const OURS = '99ELIGD';

/**
 * `written_at`: when the batch was made. The same delivery of the same batch gives the same bytes.
 */
export function messageFor(
  config: Hl7Config,
  env: ConnectorEnv,
  delivery: Delivery,
  written_at: string,
): Outgoing {
  const parts = new Parts(delivery, env.time_zone);
  switch (config.write_back) {
    case 'oru_r01': {
      const form = { type: 'ORU', trigger: 'R01', structure: 'ORU_R01' };
      return compose(config, form, delivery, written_at, env.time_zone, [
        parts.pid(),
        parts.obr(),
        ...parts.observations(),
      ]);
    }
    case 'adt_a08': {
      const form = { type: 'ADT', trigger: 'A08', structure: 'ADT_A01' };
      const event = segment('EVN', 'A08', writeInstant(written_at, env.time_zone));
      const visit = segment('PV1', '1', 'N');
      return compose(config, form, delivery, written_at, env.time_zone, [
        event,
        parts.pid(),
        visit,
        ...parts.insurance(),
      ]);
    }
    default: {
      const form = { type: 'PIN', trigger: 'I07', structure: 'RQI_I01' };
      const segments = [
        parts.prd(),
        parts.pid(),
        ...parts.insurance(),
        ...parts.comments(),
        ...rowsOf(delivery),
      ];
      return compose(config, form, delivery, written_at, env.time_zone, segments);
    }
  }
}

export function pidOf(patient: Patient): string {
  const { id, last_name, first_name, birth_date } = patient;
  return segment(
    'PID',
    ...at({
      1: '1',
      3: [id, null, null, null, 'MR'],
      5: [last_name, first_name],
      7: day(birth_date),
    }),
  );
}

/** Segments that several of the forms share. */
class Parts {
  readonly #delivery: Delivery;
  readonly #time_zone: string;
  readonly #summary: EligibilitySummary;

  constructor(delivery: Delivery, time_zone: string) {
    this.#delivery = delivery;
    this.#time_zone = time_zone;
    this.#summary = summarizeEligibility(delivery.record);
  }

  prd(): string {
    const { location } = this.#delivery.appointment;
    return segment('PRD', ['RT', 'Referred to Provider', 'HL70286'], null, null, [
      null,
      null,
      null,
      location,
    ]);
  }

  pid(): string {
    return pidOf(this.#delivery.appointment.patient);
  }

  /**
   * IN1, IN2 and IN3. What is unknown is not valued, which changes nothing at the receiver (G8).
   */
  insurance(): string[] {
    const { coverage, coverage_rank } = this.#delivery.appointment;
    const { subscriber } = coverage;
    const { plan } = this.#delivery.record;
    const summary = this.#summary;
    const called = this.#calledAt();
    const fields: Record<number, Field> = {
      1: '1',
      2: [plan?.plan_type ?? null, plan?.plan_name ?? null],
      3: coverage.payor_id,
      4: coverage.carrier,
      8: coverage.group_id,
      12: day(plan?.effective_date),
      13: day(plan?.termination_date),
      15: plan?.plan_type ?? null,
      16: subscriber === null ? null : subscriberName(subscriber.name),
      17: subscriber === null ? 'SEL' : subscriber.relationship,
      18: day(subscriber?.birth_date),
      22: String(coverage_rank),
      25: summary.active === 'yes' ? 'Y' : summary.active === 'no' ? 'N' : null,
      26: called?.slice(0, 8) ?? null,
      29: called,
      30: summary.representative === 'unknown' ? null : [null, summary.representative],
      36: coverage.member_id,
    };
    const reference = summary.reference_number === 'unknown' ? '' : summary.reference_number;
    return [
      segment('IN1', ...at(fields)),
      segment('IN2', ...at({ 61: coverage.member_id })),
      segment('IN3', ...at({ 1: '1', 2: reference, 6: called })),
    ];
  }

  /** One NTE a sentence; NTE-4 says what it is about, for programs. */
  comments(): string[] {
    const { appointment, record, revision, notes, estimates } = this.#delivery;
    const summary = this.#summary;
    const lines: [code: string, name: string, text: string][] = [
      ['APPT', 'Appointment', appointment.source_id],
      ['START', 'Start of the appointment', writeInstant(appointment.starts_at, this.#time_zone)],
      ['STATUS', 'Outcome of the inquiry', `${summary.status}, ${summary.completeness}`],
      ['INQUIRY', 'Inquiry', record.inquiry_id],
      ['REVISION', 'Revision', String(revision)],
      ['ACTIVE', 'Coverage active', summary.active],
      ['NETWORK', 'In network', summary.in_network],
      ['CALLREF', 'Reference number of the call', summary.reference_number],
      ['REP', 'Representative', summary.representative],
      ['SUMMARY', 'Summary of the call', summary.call_summary],
      ['PRIMARY', 'Pays first', summary.pays_first],
      ['REFERRAL', 'Referral required', summary.referral_required],
      ['PCP', 'Provider is the primary care provider', summary.provider_is_pcp],
      ['CONFIDENCE', 'Confidence by the checks of the call', summary.confidence],
      ...estimateSentences(estimates).map((text): [string, string, string] => [
        'ESTIMATE',
        'Estimate',
        text,
      ]),
      ...[...notes, ...summary.notes].map((note): [string, string, string] => [
        'NOTE',
        'Note',
        note,
      ]),
    ];
    return lines
      .filter(([, , text]) => text !== '')
      .map(([code, name, text], index) =>
        segment('NTE', String(index + 1), 'L', text, [code, name, OURS]),
      );
  }

  obr(): string {
    const { key, record } = this.#delivery;
    return segment(
      'OBR',
      ...at({
        1: '1',
        3: [key, 'ELIGD'],
        4: ['ELIGIBILITY', 'Insurance eligibility', OURS],
        7: this.#calledAt(),
        22: this.#calledAt(),
        25: record.status === 'SUCCESS' ? 'F' : 'X',
      }),
    );
  }

  /**
   * One OBX a value. What was asked and not answered has the status X and no value; what was not
   * asked is not there (G8).
   */
  observations(): string[] {
    const { appointment, notes, estimates } = this.#delivery;
    const summary = this.#summary;
    const values: [code: string, sub_id: string, text: string][] = [
      ['appointment_id', '', appointment.source_id],
      ['coverage', '', String(appointment.coverage_rank)],
      ...SCALARS.map((name): [string, string, string] => [name, '', String(summary[name])]),
      ...summary.procedure_codes.map(({ code, line }): [string, string, string] => [
        'procedure_code',
        code,
        line,
      ]),
      ...summary.procedure_classes.map(({ name, line }): [string, string, string] => [
        'procedure_class',
        name,
        line,
      ]),
      ...(this.#delivery.record.treatment_history?.treatments ?? []).map(
        ({ date, code }): [string, string, string] => ['treatment', date, code ?? 'unknown'],
      ),
      ...estimateSentences(estimates).map((text, index): [string, string, string] => [
        'estimate',
        String(index + 1),
        text,
      ]),
      ...[...notes, ...summary.notes].map((note, index): [string, string, string] => [
        'note',
        String(index + 1),
        note,
      ]),
    ];
    return values
      .filter(([, , text]) => text !== '')
      .map(([code, sub_id, text], index) => {
        const is_unknown = text === 'unknown';
        const value = is_unknown ? null : text;
        return segment(
          'OBX',
          ...at({
            1: String(index + 1),
            2: 'ST',
            3: [code, code.replaceAll('_', ' '), OURS],
            4: sub_id,
            5: value,
            11: is_unknown ? 'X' : 'F',
          }),
        );
      });
  }

  #calledAt(): string | null {
    const ended = this.#summary.call_ended_at;
    return ended === '' || ended === 'unknown' ? null : writeInstant(ended, this.#time_zone);
  }
}

const SCALARS = [
  'status',
  'completeness',
  'active',
  'in_network',
  'plan_name',
  'plan_type',
  'effective_date',
  'termination_date',
  'individual_deductible',
  'individual_deductible_remaining',
  'family_deductible',
  'family_deductible_remaining',
  'annual_maximum',
  'annual_maximum_remaining',
  'individual_out_of_pocket_maximum',
  'individual_out_of_pocket_remaining',
  'family_out_of_pocket_maximum',
  'family_out_of_pocket_remaining',
  'pays_first',
  'referral_required',
  'provider_is_pcp',
  'confidence',
  'reference_number',
  'representative',
  'call_ended_at',
  'call_summary',
] as const satisfies readonly (keyof EligibilitySummary)[];

export const day = (date: string | null | undefined): string | null =>
  date?.replaceAll('-', '') ?? null;

/** Family name first, as XPN has it; a name of one word is the family's. */
function subscriberName(name: string): string[] {
  const words = name.split(' ');
  return [words.at(-1) ?? '', words.slice(0, -1).join(' ')];
}
