/** The result of reading a message, and how its problems are reported. */
import type { AppointmentInput, AppointmentStatus } from '../../../src/domain/appointment.ts';
import type { ClaimInput } from '../../../src/domain/claim.ts';
import type { PatientUpdate } from '../../../src/domain/patient-update.ts';
import type { RejectedItem } from '../../contract.ts';
import type { FieldOverrides } from '../v2/fields.ts';

/** The content of a message, in the contract's types. */
export type Content = {
  appointments: AppointmentInput[];
  claims: ClaimInput[];
  patients: PatientUpdate[];
  cancelled_ids: string[];
  rejected: RejectedItem[];
};

/** What is wrong with a message. `code`: from table 0357; `at`: the field. */
export type Fault = { code: 100 | 101 | 102 | 200 | 205 | 207; at: string; what: string };

export type Reading =
  | { kind: 'content'; content: () => Content }
  /** Contains nothing for eligd: acknowledged, so that the feed continues. */
  | { kind: 'ignored' }
  /**
   * The content has a problem (AE) that someone has to fix. `content` puts it on the attention
   * list.
   */
  | { kind: 'faulty'; content: () => Content; fault: Fault }
  /** Not a message for eligd (AR): the sender is misconfigured. Nothing is kept. */
  | { kind: 'refused'; fault: Fault };

export type ReadingSettings = {
  fields: FieldOverrides;
  statuses: Readonly<Record<string, AppointmentStatus>>;
  /** The meaning of an ADT without IN1. */
  without_insurance: 'unknown' | 'self_pay';
  time_zone: string;
  /** Whether to keep the segments of patient and insurance for returning them. Undefined: no. */
  keeps_segments?: boolean;
};

/** The content of a message that says nothing. */
export const NOTHING: Content = {
  appointments: [],
  claims: [],
  patients: [],
  cancelled_ids: [],
  rejected: [],
};

/** Returns the reading of a message that is not for eligd. */
export function refused(code: Fault['code'], at: string, what: string): Reading {
  return { kind: 'refused', fault: { code, at, what } };
}

/** Returns a reading with a fault: for the attention list, and for the sender. */
export function faulty(
  fault: Fault,
  item: Omit<RejectedItem, 'position'>,
  restOf: () => Partial<Content> = () => NOTHING,
): Reading {
  return {
    kind: 'faulty',
    fault,
    content: () => ({ ...NOTHING, ...restOf(), rejected: [{ position: 'message', ...item }] }),
  };
}
