/**
 * Commits one appointment after another and prints each, until the disk is gone. main.ts starts it
 * on the image.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import { openStore } from '../../../src/store/engine/store.ts';
import { acceptBatch } from '../../../src/store/intake/intake.ts';

const [path = '', synchronous = 'FULL', first = '0'] = process.argv.slice(2);
const store = await openStore(path);
// OFF is the control: it shows what a program loses if it does not wait for the disk.
if (synchronous !== 'FULL') await sql.raw(`pragma synchronous = ${synchronous}`).execute(store.db);
process.stdout.write('ready\n');
for (let number = Number(first); ; number += 1) {
  const appointment: AppointmentInput = {
    source_id: `A${number}`,
    starts_at: '2030-01-07T15:00:00.000Z',
    status: 'booked',
    patient: {
      id: `P${number}`,
      first_name: 'Test',
      last_name: 'Patient',
      birth_date: '1970-01-01',
    },
    coverages: [],
    provider: {
      rendering_npi: '',
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: null,
    specialty: null,
    procedure_codes: [],
    diagnosis_codes: [],
    problems: [],
  };
  const source = {
    key: `message:${number}`,
    name: `message ${number}`,
    is_last: true,
    completeness: 'changes' as const,
  };
  await store.write((tx) =>
    acceptBatch(
      tx,
      'front-desk',
      { source, appointments: [appointment], rejected: [], cursor: String(number) },
      Date.now(),
    ),
  );
  process.stdout.write(`${number}\n`);
  // Slowly: a fast writer makes SQLite checkpoint, which writes data to the disk that was never
  // flushed.
  await sleep(3);
}
