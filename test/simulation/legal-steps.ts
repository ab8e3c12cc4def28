/** The legal steps of both legs that occurred in the worlds, from the audit trail. */
import { DELIVERY_STEPS, INQUIRY_STEPS } from '../../src/domain/states.ts';
import { readState } from './evidence.ts';
import type { Machine } from './machine.ts';

const PREFIX = 'step: ';

const stepsOf = (leg: string, table: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(table).flatMap(([from, nexts]) =>
    nexts.map((to) => `${PREFIX}${leg} ${from} to ${to}`),
  );

export const LEGAL_STEPS: readonly string[] = [
  ...stepsOf('inquiry', INQUIRY_STEPS),
  ...stepsOf('delivery', DELIVERY_STEPS),
];

/** How often each step occurred in one database, which may be lost afterwards. */
export class StepCounts {
  readonly #counts = new Map(LEGAL_STEPS.map((step) => [step, 0]));

  /** Reads the audit trail of the machine's current database. */
  add(machine: Machine): void {
    const rows = readState(machine, (raw) => {
      const table = raw.prepare("select 1 from sqlite_master where name = 'audit'").get();
      if (table === undefined) return [];
      return raw
        .prepare(
          `select substr(subject, 1, instr(subject, ':') - 1) as leg, from_state, to_state,
             count(*) as count from audit where from_state is not null group by 1, 2, 3`,
        )
        .all() as { leg: string; from_state: string; to_state: string; count: number }[];
    });
    for (const { leg, from_state, to_state, count } of rows ?? []) {
      const step = `${PREFIX}${leg} ${from_state} to ${to_state}`;
      const before = this.#counts.get(step);
      if (before !== undefined) this.#counts.set(step, before + count);
    }
  }

  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}

/** The totals of a run, separate from other counts, for printing. */
export function toldSteps(totals: ReadonlyMap<string, number>): string[] {
  const walked = LEGAL_STEPS.filter((step) => (totals.get(step) ?? 0) > 0);
  const missing = LEGAL_STEPS.filter((step) => !walked.includes(step));
  return [
    `${walked.length} of ${LEGAL_STEPS.length} legal steps were walked.`,
    ...missing.map((step) => `  never walked: ${step.slice(PREFIX.length)}`),
  ];
}

export const isStep = (name: string): boolean => name.startsWith(PREFIX);
