/**
 * Kills the daemon repeatedly while files and events arrive, lets it finish, and compares the
 * ledger with the drop folder.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KillClinic, type ServiceKind } from './clinic.ts';

export type KillResult = {
  kills: number;
  /** SIGKILL before the daemon was up, SIGTERM, SIGSTOP and SIGCONT, the service killed, both. */
  kinds: Record<string, number>;
  visits: number;
  calls: number;
  /**
   * Needs with more than one call, visits without a call, visits without an answer in the drop
   * folder, and answers to the wrong call.
   */
  duplicates: string[];
  uncalled: string[];
  unwritten: string[];
  foreign: string[];
  slow_stops: number[];
  reports: { sent: number; taken: number };
  to_useful_ms: number[];
  folder: string;
};

const STOP_MS_MAX = 10_000;
const FINISH_MS_MAX = 180_000;

export type KillPlan = {
  kills: number;
  service?: ServiceKind;
  /** One backup is put back on the way, and the database is lost once. */
  loses_database?: boolean;
  tell?: (text: string) => void;
};

export async function killAndCompare({
  kills,
  service = 'sandbox',
  loses_database = false,
  tell = () => {},
}: KillPlan): Promise<KillResult> {
  const random = Math.random;
  const clinic = await KillClinic.make(service);
  const kinds: Record<string, number> = {};
  const slow_stops: number[] = [];
  const count = (kind: string) => {
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  };
  let is_over = false;
  const reporting = (async () => {
    while (!is_over) {
      await clinic.report();
      await sleep(100 + random() * 200);
    }
  })();
  try {
    for (let done = 0; done < kills; done += 1) {
      const has_work = random() < 0.7;
      if (has_work) clinic.drop(1 + Math.floor(random() * 3));
      if (random() < 0.2) await loseSomething(clinic, random);
      const { started, useful } = clinic.startDaemon();
      const kind = kindOf(done, random());
      if (kind === 'early') await sleep(random() * 700);
      else {
        // A daemon that finds no new file and has nothing to send may do nothing at all.
        await (has_work && random() < 0.6 ? useful : started);
        await sleep(random() * 1_200);
      }
      if (random() < 0.3) clinic.drop(1);
      await perform(clinic, kind, random, slow_stops);
      count(kind);
      const accident = loses_database ? accidentAt(done / kills, (done + 1) / kills) : null;
      if (accident !== null) {
        await clinic[accident]();
        tell(accident);
      }
      if (done % 10 === 9) {
        await clinic.ask('POST', '/_sandbox/advance', { hours: 6 });
        tell(
          `${done + 1} kills, ${clinic.visits.length} visits, ` +
            `${(await clinic.ledger()).length} calls`,
        );
      }
    }
    await finish(clinic);
    return {
      ...(await compare(clinic)),
      kills,
      kinds,
      slow_stops,
      reports: clinic.reports,
      to_useful_ms: clinic.to_useful_ms,
      folder: clinic.folder,
    };
  } finally {
    is_over = true;
    await reporting;
    await clinic.end();
  }
}

const ACCIDENTS = [
  { at: 0.3, accident: 'backUp' },
  { at: 0.5, accident: 'restore' },
  { at: 0.7, accident: 'loseDatabase' },
] as const;

/** Returns what happens to the database between two points of the run, from 0 to 1. */
function accidentAt(from: number, to: number) {
  return ACCIDENTS.find(({ at }) => from <= at && at < to)?.accident ?? null;
}

type Kind = 'kill' | 'early' | 'term' | 'pause' | 'service' | 'both';

function kindOf(done: number, chance: number): Kind {
  if (done % 12 === 5) return 'term';
  if (done % 12 === 7) return 'pause';
  if (done % 12 === 9) return 'service';
  if (done % 12 === 11) return 'both';
  return chance < 0.25 ? 'early' : 'kill';
}

async function perform(
  clinic: KillClinic,
  kind: Kind,
  random: () => number,
  slow_stops: number[],
): Promise<void> {
  if (kind === 'term') {
    const asked = performance.now();
    const { code } = await clinic.killDaemon('SIGTERM');
    const took_ms = performance.now() - asked;
    if (took_ms > STOP_MS_MAX || code !== 0) slow_stops.push(Math.round(took_ms));
    return;
  }
  if (kind === 'pause') {
    clinic.daemon?.child.kill('SIGSTOP');
    await sleep(200 + random() * 2_500);
    clinic.daemon?.child.kill('SIGCONT');
    await sleep(random() * 500);
  }
  if (kind === 'service' || kind === 'both') {
    await clinic.killService();
    if (kind === 'service') await sleep(random() * 1_000);
  }
  await clinic.killDaemon('SIGKILL');
  if (kind === 'service' || kind === 'both') await clinic.startService();
}

/** The next creates fail at the service, before or after it accepted them. */
async function loseSomething(clinic: KillClinic, random: () => number): Promise<void> {
  const when = random() < 0.5 ? 'before' : 'after';
  const action =
    random() < 0.5
      ? { action: 'reset' }
      : { action: 'delay', delay_ms: Math.round(random() * 1_500) };
  for (const path of ['dental/inquiries', 'dental/batch']) {
    await clinic.ask('POST', '/_sandbox/faults', [
      { method: 'POST', path, times: 1, when, ...action },
    ]);
  }
}

/** Everything works, and time passes until the last call has ended. */
async function finish(clinic: KillClinic): Promise<void> {
  await clinic.ask('DELETE', '/_sandbox/faults');
  clinic.startDaemon();
  const until = performance.now() + FINISH_MS_MAX;
  let last = -1;
  while (performance.now() < until) {
    await sleep(1_000);
    const calls = (await clinic.ledger()).length;
    const written = clinic.written().size;
    if (calls >= clinic.visits.length && written >= clinic.visits.length) break;
    if (calls === last) {
      await clinic.ask('POST', '/_sandbox/advance', { days: 30 });
      await clinic.repeatEvents();
    }
    last = calls;
  }
  // Long enough for a duplicate call, if eligd were to make one.
  await sleep(4_000);
  await clinic.killDaemon('SIGTERM');
}

async function compare(clinic: KillClinic) {
  const ledger = await clinic.ledger();
  const written = clinic.written();
  const by_visit = Map.groupBy(ledger, ({ external_id }) => external_id ?? '');
  const labels = clinic.visits.map(({ appointment_id }) => appointment_id);
  return {
    visits: labels.length,
    calls: ledger.length,
    duplicates: labels.filter((id) => (by_visit.get(id)?.length ?? 0) > 1),
    uncalled: labels.filter((id) => !by_visit.has(id)),
    unwritten: labels.filter((id) => !written.has(id)),
    foreign: labels.filter((id) =>
      [...(written.get(id) ?? [])].some((inquiry) => by_visit.get(id)?.[0]?.id !== inquiry),
    ),
  };
}
