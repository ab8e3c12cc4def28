import { csvText } from './csv-text.ts';

/** An appointment as a PMS exports it. */
export type Visit = {
  appointment_id: string;
  appointment_at: string;
  status: string;
  patient_id: string;
  patient_name: string;
  dob: string;
  carrier: string;
  payor_id: string;
  member_id: string;
  group_id: string;
  rendering_npi: string;
  procedure_codes: string;
};

/** Days after Monday, January 7, 2030 (`machine-clock.ts`), on which `visits` are by default. */
export const VISIT_DAY = '2030-01-11';

/**
 * `count` appointments of as many patients, whose calls succeed. `change` changes them by position.
 */
export function visits(
  count: number,
  change: (index: number) => Partial<Visit> = () => ({}),
): Visit[] {
  return Array.from({ length: count }, (_, index) => ({
    appointment_id: String(9001 + index),
    appointment_at: `${VISIT_DAY}T${String(8 + (index % 9)).padStart(2, '0')}:30`,
    status: 'booked',
    patient_id: `P${index}`,
    patient_name: `Testpatient ${'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[index % 26]}${index}`,
    dob: `19${60 + (index % 40)}-03-${String(1 + (index % 28)).padStart(2, '0')}`,
    carrier: 'Delta Dental of Illinois',
    payor_id: '05030',
    member_id: `ACTIVE${1000 + index}`,
    group_id: '',
    rendering_npi: '1245319599',
    procedure_codes: 'D0120;D1110',
    ...change(index),
  }));
}

export function exportOf(visits_in_it: readonly Visit[]): string {
  const header = Object.keys(visits(1)[0] ?? {}) as (keyof Visit)[];
  return csvText(
    header,
    visits_in_it.map((visit) => header.map((name) => visit[name])),
  );
}
