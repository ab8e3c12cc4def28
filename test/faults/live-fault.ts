/** One fault in the life of a clinic, and the alerts about it. */
import { execFileSync } from 'node:child_process';
import type { Fault } from './fault.ts';
import { readPages, type Said } from './pages.ts';
import { HOUR_MS, MINUTE_MS, SimulatedClinic } from './simulated-clinic.ts';
import { FAULTS } from './table.ts';

export type Row = { fault: string; expected: string | null; told: string[]; faults: string[] };

/** A Monday without a holiday in the following weeks; 5:00 in Chicago. */
const START_MS = Date.parse('2030-03-04T11:00:00Z');
/** A Tuesday, 9:30: by then, eligd has learned what the alerts need. */
const TUESDAY_MS = Date.parse('2030-03-26T14:30:00Z');
const LASTS_HOURS = 26;
const WATCHED_HOURS = 12;

/** Weeks without a fault, so that eligd learns the usual times. */
export async function makeHistory(folder: string): Promise<void> {
  const clinic = await SimulatedClinic.open(START_MS, null);
  await clinic.turnOn();
  await clinic.live(TUESDAY_MS);
  await clinic.turnOff();
  execFileSync('cp', ['-a', clinic.folder, folder]);
  await clinic.close();
}

export async function liveFault(name: string, history: string): Promise<Row> {
  const fault = FAULTS.find((each) => each.name === name);
  if (fault === undefined) throw new Error(`No fault is named ${name}.`);
  const clinic = await SimulatedClinic.open(TUESDAY_MS, history);
  try {
    return await live(fault, clinic);
  } finally {
    await clinic.close();
  }
}

async function live(fault: Fault, clinic: SimulatedClinic): Promise<Row> {
  const { lasts_hours = LASTS_HOURS, watched_hours = WATCHED_HOURS } = fault;
  const compared_hours = fault.compared_after_hours ?? lasts_hours - 0.5;
  const begun_at = TUESDAY_MS + 30 * MINUTE_MS;
  clinic.configure(fault.settings?.(clinic) ?? {});
  await fault.prepare?.(clinic);
  await clinic.turnOn();
  await clinic.live(begun_at);
  await fault.begin(clinic);
  await clinic.live(begun_at + compared_hours * HOUR_MS);
  const pages = await readPages(clinic);
  await clinic.live(begun_at + lasts_hours * HOUR_MS);
  await fault.end(clinic);
  await clinic.live(begun_at + (lasts_hours + watched_hours) * HOUR_MS);
  if (process.env.ELIGD_FAULTS_LOG === '1')
    for (const { event, fields } of clinic.log)
      process.stderr.write(`${event} ${JSON.stringify(fields)}\n`);
  const told = clinic.told().map(({ kind, name }) => `${kind} ${name}`);
  return {
    fault: fault.name,
    expected: fault.alert,
    told,
    faults: [...wrongMessages(fault, told), ...wrongPages(fault, pages)],
  };
}

function wrongMessages({ alert, occasion }: Fault, told: string[]): string[] {
  const expected = alert === null ? [] : [`begin ${alert}`, `end ${alert}`];
  const without_reminders = told.filter(
    (each) =>
      each !== `reminder ${alert}` &&
      !['begin', 'end'].some((kind) => each === `${kind} ${occasion}`),
  );
  return without_reminders.join() === expected.join()
    ? []
    : [`Sent: ${without_reminders.join(', ') || 'nothing'}; not: ${expected.join(', ')}.`];
}

function wrongPages(fault: Fault, pages: Record<string, Said | null>): string[] {
  const { alert, no = [], is_down = false } = fault;
  if (is_down) return wrongWhileDown(pages);
  const found: string[] = [];
  if (fault.is_unstorable && pages.status != null)
    pages.status = { ...pages.status, alerts: alert === null ? [] : [alert] };
  const read = Object.entries(pages).filter(([, said]) => said !== null) as [string, Said][];
  const [first] = read;
  if (first === undefined) return ['No page could be read.'];
  const [name, { answers, alerts }] = first;
  for (const [other, said] of read.slice(1)) {
    if (JSON.stringify(said) !== JSON.stringify(first[1]))
      found.push(`${other} says ${words(said)}; ${name} says ${words(first[1])}.`);
  }
  const expected = alert === null ? [] : [alert as string];
  if (alerts.join() !== expected.join())
    found.push(`${name} shows the alerts: ${alerts.join(', ') || 'none'}.`);
  for (const question of no)
    if (answers[question] !== 'no') found.push(`${question} is ${answers[question]}, not no.`);
  return found;
}

/** No page says that eligd runs; a monitoring program notices that the others are silent. */
function wrongWhileDown(pages: Record<string, Said | null>): string[] {
  return Object.entries(pages).flatMap(([name, said]) =>
    said === null || (name === 'status' && said.answers.daemon === 'no')
      ? []
      : [`${name} says ${words(said)}, while eligd cannot run.`],
  );
}

function words({ answers, alerts }: Said): string {
  const not_yes = Object.entries(answers).filter(([, is]) => is !== 'yes');
  return [...not_yes.map(([question, is]) => `${question} ${is}`), ...alerts].join(', ') || 'yes';
}
