/** `eligd preview` of a file of HL7 messages and of a FHIR server. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { brokenSiu, siu } from '../connectors/hl7/messages.ts';
import { aCoverage, anAppointment } from '../domain/examples.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { resourcesOf } from '../support/fhir/records.ts';
import { startPeer } from '../support/fhir/start.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';

const PRICES = { per_inquiry: 12.5, per_code: 0.25 };

function visit(number: number, carrier: string, payor_id: string): AppointmentInput {
  return anAppointment({
    source_id: `A-${number}`,
    starts_at: `2030-01-11T1${number}:00:00.000Z`,
    patient: {
      id: `P-${number}`,
      first_name: 'One',
      last_name: `Testpatient${number}`,
      birth_date: '1970-05-06',
    },
    coverages: [aCoverage({ carrier, payor_id, member_id: `ACTIVE${number}` })],
    procedure_codes: ['D0120', 'D1110'],
    specialty: 'dental',
  });
}

const KNOWN = visit(1, 'Delta Dental of Illinois', '05030');
const UNKNOWN = visit(2, 'Local 134 Welfare Fund', '');

function expectNothingDone(clinic: Clinic): void {
  expect(existsSync(clinic.state)).toBe(false);
  expect(existsSync(join(clinic.folder, 'hl7'))).toBe(false);
}

test('a preview reads a file of HL7 messages, and answers and moves nothing', async () => {
  setMachineClock();
  const service = await startService();
  const connectors = [{ id: 'interface', type: 'hl7', folder: './hl7', write_back: 'none' }];
  const clinic = makeClinic({ base_url: service.url, config: { connectors, prices: PRICES } });
  const file = join(clinic.folder, 'day.hl7');
  const messages = [siu(KNOWN), siu(UNKNOWN), brokenSiu('A-9')];
  writeFileSync(file, messages.join('\r'));
  const before = readdirSync(clinic.folder);
  const { stdout, stderr, code } = await clinic.run('preview', file);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('What this export would do (interface)');
  expect(stdout).toContain('Message, AIS-4: not a time.');
  expect(stdout).toContain('1 with a call now');
  expect(stdout).toContain('1 on the attention list');
  expect(stdout).toContain('Calls:       1 call, $');
  expect(stdout).toContain('Local 134 Welfare Fund');
  expect(readdirSync(clinic.folder)).toEqual(before);
  expectNothingDone(clinic);
  expect((await service.traffic()).total).toBe(0);

  const missing = await clinic.run('preview', join(clinic.folder, 'none.hl7'));
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain('cannot be read');
  writeFileSync(file, 'no message');
  expect((await clinic.run('preview', file)).stdout).toContain('because the file has no message');
});

test('without a file, a preview reads the FHIR server and writes nothing there', async () => {
  setMachineClock();
  const service = await startService();
  const peer = await startPeer();
  const connectors = [{ id: 'ehr', type: 'fhir', base_url: peer.url, auth: 'none' }];
  const clinic = makeClinic({ base_url: service.url, config: { connectors, prices: PRICES } });
  for (const each of [KNOWN, UNKNOWN])
    await peer.putAt('2026-01-05T12:00:00.000Z', ...resourcesOf(each));
  const { stdout, stderr, code } = await clinic.run('preview');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('(ehr)');
  expect(stdout).toContain('1 with a call now');
  expect(stdout).toContain('1 on the attention list');
  expect(stdout).toContain('Calls:       1 call, $13.00.');
  expect(stdout).toContain('Local 134 Welfare Fund');
  expectNothingDone(clinic);
  expect((await service.traffic()).total).toBe(0);
  for (const type of ['CoverageEligibilityResponse', 'Task', 'Communication'] as const)
    expect(await peer.all(type)).toEqual([]);
});

test('a preview lists the sources when it cannot tell which one is meant', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const none = await clinic.run('preview');
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('No connector in the configuration reads a server.');
  expect(none.stderr).toContain('Name a file');
});
