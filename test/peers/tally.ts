/** What a row of the table says, and how calls are counted. */

/**
 * `needs`: what had to be asked; `calls`: what the service accepted; `twice`: calls beyond one for
 * a need, or for nobody; `lost`: answers that neither came nor are on the attention list; `wrong`:
 * values or persons that are not those that were asked about.
 */
export type Tally = { needs: number; calls: number; twice: number; lost: number; wrong: number };

/** `skip`: why the row was not run. That is no pass, and is printed as such. */
export type Row = { group: string; name: string; skip?: string; run: () => Promise<Tally> };

export type Called = {
  id: string;
  external_id: string | null;
  request: { member_id: string; patient_name: string; dob: string };
};

/** Calls beyond one for each of `members`, and calls for nobody of them. */
export function calledTwice(ledger: readonly Called[], members: readonly string[]): number {
  const calls = Map.groupBy(ledger, ({ request }) => request.member_id);
  const surplus = members.map((member) => Math.max(0, (calls.get(member)?.length ?? 0) - 1));
  const strangers = ledger.filter(({ request }) => !members.includes(request.member_id)).length;
  return surplus.reduce((sum, count) => sum + count, strangers);
}

const WIDTHS = [6, 6, 6, 6, 6];

export function header(): string {
  return line('', ['needs', 'calls', 'twice', 'lost', 'wrong']);
}

export function tallyLine(name: string, { needs, calls, twice, lost, wrong }: Tally): string {
  return line(name, [needs, calls, twice, lost, wrong].map(String));
}

function line(name: string, cells: readonly string[]): string {
  const label = name.length > 62 ? `${name.slice(0, 61)}…` : name.padEnd(62);
  return label + cells.map((cell, index) => cell.padStart(WIDTHS[index] ?? 6)).join('');
}

/** Nothing may be called twice, lost, or wrong, and every need has its call. */
export function isGood({ needs, calls, twice, lost, wrong }: Tally): boolean {
  return calls >= needs && twice + lost + wrong === 0;
}
