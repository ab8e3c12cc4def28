/** Messages as a scheduling system writes them. */
import type { Content, Reading } from '../../../connectors/hl7/in/result.ts';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import type { ClaimInput } from '../../../src/domain/claim.ts';

const time = (iso: string) => `${iso.replaceAll(/[-:]/g, '').slice(0, 15).replace('T', '')}+0000`;

let count = 0;

/** A control ID that no other message of this process has. */
export function nextId(): string {
  count += 1;
  return `M${count}`;
}

export function msh(type: string, control_id: string, more = ''): string {
  return `MSH|^~\\&|PMS|CLINIC|ELIGD||20261123090000||${type}|${control_id}|P|2.5.1${more}`;
}

export function pid({ patient }: Pick<AppointmentInput, 'patient'>): string {
  return (
    `PID|1||${patient.id ?? ''}^^^PMS^MR||${patient.last_name}^${patient.first_name}||` +
    `${patient.birth_date?.replaceAll('-', '') ?? ''}`
  );
}

export function insurance({ coverages }: Pick<AppointmentInput, 'coverages'>): string[] {
  return coverages.map(({ carrier, payor_id, member_id, group_id }, index) => {
    const fields: Record<number, string> = {
      1: String(index + 1),
      3: payor_id,
      4: carrier,
      8: group_id,
      17: 'SEL',
      36: member_id,
    };
    return `IN1|${Array.from({ length: 36 }, (_, at) => fields[at + 1] ?? '').join('|')}`;
  });
}

/**
 * SIU with the insurance in it, as some vendors append it; `event` follows the appointment's status
 * if left out.
 */
export function siu(
  appointment: AppointmentInput,
  { control_id = nextId(), event = '', header = '', with_insurance = true } = {},
): string {
  const trigger = event || (appointment.status === 'cancelled' ? 'S15' : 'S12');
  return [
    msh(`SIU^${trigger}^SIU_S12`, control_id, header),
    `SCH||${appointment.source_id}`,
    pid(appointment),
    ...(with_insurance ? insurance(appointment) : []),
    'RGS|1',
    ...appointment.procedure_codes.map(
      (code, index) => `AIS|${index + 1}||${code}|${time(appointment.starts_at)}`,
    ),
  ].join('\r');
}

export function adt(
  event: string,
  appointment: Pick<AppointmentInput, 'patient' | 'coverages'>,
  { control_id = nextId(), rest = [] as string[] } = {},
): string {
  return [
    msh(`ADT^${event}`, control_id),
    'EVN||20261123',
    pid(appointment),
    'PV1|1|N',
    ...insurance(appointment),
    ...rest,
  ].join('\r');
}

/** A segment by the numbers of its fields. */
export function numbered(name: string, fields: Readonly<Record<number, string>>): string {
  const last = Math.max(...Object.keys(fields).map(Number));
  return `${name}|${Array.from({ length: last }, (_, at) => fields[at + 1] ?? '').join('|')}`;
}

const pv1 = (fields: Readonly<Record<number, string>>) =>
  numbered('PV1', { 1: '1', 2: 'O', ...fields });

/** DFT^P03: the charges of a claim, with the amount on the first one only. */
export function dft(
  claim: ClaimInput,
  { control_id = nextId(), with_insurance = true, event = 'P03' } = {},
): string {
  const day = claim.date_of_service?.replaceAll('-', '') ?? '';
  return [
    msh(`DFT^${event}^DFT_P03`, control_id),
    `EVN|${event}|20261123`,
    pid(claim),
    pv1({ 7: `${claim.provider.rendering_npi}^Doe^Jane`, 19: claim.source_id }),
    ...claim.procedure_codes.map((code, index) => {
      const fields: Record<number, string> = {
        1: String(index + 1),
        2: `T${index + 1}`,
        4: day,
        6: 'CG',
        11: index === 0 ? claim.billed_amount : '0',
        19: index === 0 ? claim.diagnosis_codes.join('~') : '',
        23: claim.claim_number,
        25: `${code}^^CPT`,
      };
      return numbered('FT1', fields);
    }),
    ...(with_insurance ? insurance({ coverages: [claim.coverage] }) : []),
  ].join('\r');
}

/** A payment for a claim, as a sender posts it. */
export function payment(claim: ClaimInput): string {
  return [
    msh('DFT^P03^DFT_P03', nextId()),
    pid(claim),
    pv1({ 19: claim.source_id }),
    'FT1|1|||20261101||PY|||||-180',
  ].join('\r');
}

/** A visit without a readable time. */
export function brokenSiu(source_id: string, starts_at = 'soon'): string {
  return [
    msh('SIU^S12^SIU_S12', nextId()),
    `SCH||${source_id}`,
    'PID|1||P-0^^^PMS^MR',
    `AIS|1||D0120|${starts_at}`,
  ].join('\r');
}

/** A reading with its content. */
export type WholeReading =
  | (Omit<Extract<Reading, { content: unknown }>, 'content'> & { content: Content })
  | Exclude<Reading, { content: unknown }>;

/** Reads all of a message, not only what decides its reply. */
export function whole(reading: Reading): WholeReading {
  return 'content' in reading ? { ...reading, content: reading.content() } : reading;
}
