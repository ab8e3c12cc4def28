/** ADT^A08, update of a patient (HL7 v2.5.1, chapter 3): the insurance that the payer confirmed. */
import { summarizeEligibility } from '../../../src/records/summary.ts';
import type { Delivery } from '../../contract.ts';
import { writeInstant } from '../v2/times.ts';
import { compose, type Outgoing, segment, type Writing } from './outbound.ts';
import { insurance, pid } from './segments.ts';

const FORM = { type: 'ADT', trigger: 'A08', structure: 'ADT_A01' };

export function eligibilityAdt(writing: Writing, delivery: Delivery): Outgoing {
  const { written_at, time_zone } = writing;
  return compose(writing, FORM, delivery, [
    segment('EVN', 'A08', writeInstant(written_at, time_zone)),
    pid(delivery.appointment.patient),
    segment('PV1', '1', 'N'),
    ...insurance(delivery, summarizeEligibility(delivery.record), time_zone),
  ]);
}
