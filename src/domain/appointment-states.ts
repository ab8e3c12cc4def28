import type { AppointmentStatus } from './appointment.ts';

/**
 * Maps the words that practice management systems use for the state of an appointment to what eligd
 * does. One list serves every connector: HL7 table 0278, FHIR R4's AppointmentStatus, and vendors'
 * words.
 */

/** The visit may take place: eligd calls. */
const BOOKED =
  'scheduled, schedule, firm, fixed, booked, confirmed, unconfirmed, not confirmed, ' +
  'tentative, pending, planned, proposed, requested, new, active, open, ok, asap, ' +
  'arrived, here, in room, roomed, seated, in chair, in operatory, in progress, in ' +
  'treatment, checked in, check in, checkin, ready, waiting, in waiting room, reminded, ' +
  'reminder sent, left message, lm, left voicemail, no answer, texted, emailed, e mailed, ' +
  'called, preconfirmed, pre confirmed, late, running late, walk in, walkin, ontime, on ' +
  'time, telehealth, future, filled, ready for doctor, booked online, web confirmed, sms ' +
  'confirmed, overbook, overbooked, started, in session';

/**
 * There is no visit at that time: eligd does not call. A waiting list entry and blocked time are
 * not visits. In most systems, `rescheduled` marks the old time of a visit that was moved.
 */
const CANCELLED =
  'cancelled, canceled, cancel, cancelled by patient, canceled by patient, patient ' +
  'cancelled, patient canceled, cancelled by office, canceled by office, office ' +
  'cancelled, office canceled, cancelled by provider, canceled by provider, late cancel, ' +
  'late cancellation, cancellation, cxl, cx, canx, x cancelled, x canceled, broken, ' +
  'broken appt, broken appointment, failed, no show, noshow, no showed, no show appt, did ' +
  'not keep, dnka, did not attend, dna, missed, missed appointment, deleted, removed, ' +
  'void, voided, inactive, rejected, declined, unschedlist, unscheduled, unscheduled ' +
  'list, unsched, not scheduled, rescheduled, moved, bumped, entered in error, error, pt ' +
  'note, ptnote, pt note completed, ptnotecompleted, pinboard, discontinued, dc, delete, ' +
  'waitlist, wait list, waitlisted, wait listed, on waitlist, waiting list, blocked, ' +
  'block, block out, blockout, patient rescheduled, rescheduled by patient, cancelled and ' +
  'rescheduled, canceled and rescheduled, canc, n s, r s, resched, reschedule, ' +
  'blocked time, block time, blocked slot, deceased, patient deceased';

/** The visit is over: eligd does not call, and still delivers the answer of a call made for it. */
const COMPLETED =
  'complete, completed, done, finished, fulfilled, checked out, check out, checkout, ' +
  'kept, billed, charge entered, visit complete, visit completed, seen, discharged, ' +
  'departed';

/** Returns the words in lower case with single spaces: `No-Show` and `no show` are the same. */
export function normalWord(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Keys without spaces, because FHIR and HL7 write `noshow` and `checked-in`. */
const keyOf = (text: string) => normalWord(text).replaceAll(' ', '');

const listOf = (words: string, status: AppointmentStatus) =>
  words.split(', ').map((word): [string, AppointmentStatus] => [keyOf(word), status]);

const STATE_WORDS: ReadonlyMap<string, AppointmentStatus> = new Map([
  ...listOf(BOOKED, 'booked'),
  ...listOf(CANCELLED, 'cancelled'),
  ...listOf(COMPLETED, 'completed'),
]);

/** Of several words about one appointment, the one that stops a call wins. */
const STRONGEST_FIRST: readonly AppointmentStatus[] = ['cancelled', 'completed', 'booked'];

/**
 * Maps the PMS's words to the state of an appointment; null when eligd knows none of them. A
 * configured word takes precedence, first in its exact spelling and then in any spelling. `Also`:
 * other values that a configuration may use.
 */
export function appointmentStateReader<Also extends string = never>(
  configured: Readonly<Record<string, AppointmentStatus | Also>>,
): (...words: readonly string[]) => AppointmentStatus | Also | null {
  const exact = new Map(Object.entries(configured));
  const spelled = new Map([...exact].map(([word, status]) => [keyOf(word), status]));
  return (...words) => {
    const own = words.map((word) => exact.get(word) ?? spelled.get(keyOf(word)));
    const told = own.find((status) => status !== undefined);
    if (told !== undefined) return told;
    const known = words.map((word) => STATE_WORDS.get(keyOf(word)));
    return STRONGEST_FIRST.find((status) => known.includes(status)) ?? null;
  };
}
