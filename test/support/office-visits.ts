/** A day of visits in which everything happens that the page can show. */
import type { Clinic } from './clinic.ts';
import type { Service } from './service.ts';
import { exportOf, visits } from './visits.ts';

const DAY_MS = 86_400_000;
export const HOSTILE = `<img src=x onerror=alert(1)>"'`;

/** The next weekday that is at least three days away. */
export function visitDay(): string {
  let at = Date.now() + 3 * DAY_MS;
  while ([0, 6].includes(new Date(at).getUTCDay())) at += DAY_MS;
  return new Date(at).toISOString().slice(0, 10);
}

const WHO: Readonly<Record<number, object>> = {
  0: { patient_name: 'Ann Active', member_id: 'ACTIVE1' },
  1: { patient_name: 'Ivan Inactive', member_id: 'INACTIVE2' },
  2: { patient_name: 'Una Unanswered', member_id: 'UNSUCC3' },
  3: { patient_name: 'Mia Missing', member_id: '' },
  4: {
    patient_name: `${HOSTILE} Hostile`,
    member_id: 'ACTIVE5',
    carrier: `Evil ${HOSTILE}`,
    payor_id: '99999',
    procedure_codes: 'D0120',
  },
  5: { patient_name: 'Sam Selfpay', carrier: '', payor_id: '', member_id: '', group_id: '' },
};

/** Six visits on one day, with their answers; the daemon does not run yet. */
export async function fillOffice(clinic: Clinic, service: Service): Promise<void> {
  const day = visitDay();
  const all = visits(6, (index) => ({
    appointment_at: `${day}T${String(9 + index).padStart(2, '0')}:00`,
    ...WHO[index],
  }));
  clinic.drop('export.csv', exportOf(all));
  await clinic.once();
  await service.advance({ days: 14 });
  await clinic.once();
}
