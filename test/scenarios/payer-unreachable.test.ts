/**
 * When calls to a payer fail, further calls wait instead of using up attempts, until one succeeds.
 */
import { expect, test } from 'vitest';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { type LedgerEntry, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const AWAY = { carrier: 'Cigna Dental', payor_id: '62308' };

const toPayer = (ledger: readonly LedgerEntry[]) =>
  ledger.filter(({ request }) => request.insurance_payor_id === AWAY.payor_id);

async function incidents(clinic: Clinic): Promise<string[]> {
  const { stdout } = await clinic.run('status', '--json');
  const page = JSON.parse(stdout) as { incidents: { reason: string }[] };
  return page.incidents.map(({ reason }) => reason);
}

test('calls to a payer wait after three failures, and resume after one answer', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { policy: { attempts: 1 } } });
  const failing = visits(3, (index) => ({ ...AWAY, member_id: `UNSUCC${index}` }));
  clinic.drop('monday.csv', exportOf(failing));
  await clinic.once();
  await service.advance({ days: 4 });
  await clinic.once();
  expect(await service.ledger()).toHaveLength(3);
  expect(await incidents(clinic)).toContain('payer_unreachable');
  // Five more calls: four to the payer, which wait, and one to another payer, which goes out.
  const more = visits(8, (index) => (index < 7 ? AWAY : {})).slice(3);
  clinic.drop('later.csv', exportOf([...failing, ...more]));
  await clinic.once();
  expect(await service.ledger()).toHaveLength(4);
  const waiting = await clinic.run('explain', String(more[0]?.appointment_id));
  expect(waiting.stdout.replaceAll(/\s+/g, ' ')).toContain(
    'The last calls to this insurance company got no answer, so this one waits.',
  );
  expect((await clinic.run('list', '--attention')).stdout).toContain('payer_unreachable');
  // A day later, eligd tries one of them, and the others wait for its outcome.
  machine.pass({ hours: 21 });
  await clinic.once();
  await clinic.once();
  expect(toPayer(await service.ledger())).toHaveLength(4);
  expect(await incidents(clinic)).toContain('payer_unreachable');
  await service.advance({ days: 4 });
  await clinic.once();
  await clinic.once();
  expect(toPayer(await service.ledger())).toHaveLength(7);
  expect(await incidents(clinic)).not.toContain('payer_unreachable');
}, 120_000);

test('a second attempt waits as well and costs nothing', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { policy: { attempts: 2 } } });
  clinic.drop('a.csv', exportOf(visits(4, (index) => ({ ...AWAY, member_id: `UNSUCC${index}` }))));
  await clinic.once();
  await service.advance({ days: 4 });
  await clinic.once();
  expect(await service.ledger()).toHaveLength(4);
  // Their pause of 20 hours is over, and eligd tries one of the four.
  machine.pass({ hours: 21 });
  await clinic.once();
  await clinic.once();
  expect(await service.ledger()).toHaveLength(5);
}, 120_000);
