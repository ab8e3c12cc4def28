/** A payer whose calls fail: others wait instead of using up attempts, until one gets through. */
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

test('calls to a payer wait after three without an answer, and go on after one', async () => {
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
  // Five more: four for the payer, which wait, and one for another one, which goes out.
  const more = visits(8, (index) => (index < 7 ? AWAY : {})).slice(3);
  clinic.drop('later.csv', exportOf([...failing, ...more]));
  await clinic.once();
  expect(await service.ledger()).toHaveLength(4);
  const waiting = await clinic.run('explain', String(more[0]?.appointment_id));
  expect(waiting.stdout.replaceAll(/\s+/g, ' ')).toContain(
    'The last calls to this payer brought no answer, so this one waits.',
  );
  expect((await clinic.run('list', '--attention')).stdout).toContain('payer_unreachable');
  // A day later one of them is the try; the others wait for what becomes of it.
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

test('a second attempt waits as well, and no money is spent on it', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { policy: { attempts: 2 } } });
  clinic.drop('a.csv', exportOf(visits(4, (index) => ({ ...AWAY, member_id: `UNSUCC${index}` }))));
  await clinic.once();
  await service.advance({ days: 4 });
  await clinic.once();
  expect(await service.ledger()).toHaveLength(4);
  // Their pause of 20 hours is over, and one of the four is the try.
  machine.pass({ hours: 21 });
  await clinic.once();
  await clinic.once();
  expect(await service.ledger()).toHaveLength(5);
}, 120_000);
