/** The result of a row in the table, and the count of calls. */

/**
 * `needs`: the required calls; `calls`: the calls that the service accepted; `twice`: calls beyond
 * one for a need, or for no need; `lost`: answers that neither arrived nor are on the attention
 * list; `wrong`: answers with another value or person than the question's.
 */
export type Tally = { needs: number; calls: number; twice: number; lost: number; wrong: number };

/** `skip`: why the row did not run. It is printed, and does not count as a pass. */
export type Row = { group: string; name: string; skip?: string; run: () => Promise<Tally> };

export type Called = {
  id: string;
  external_id: string | null;
  request: { member_id: string; patient_name: string; dob: string };
};

/** Calls beyond one for each of `members`, and calls for none of them. */
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

/** No call may be made twice, lost, or wrong, and every need must have its call. */
export function isGood({ needs, calls, twice, lost, wrong }: Tally): boolean {
  return calls >= needs && twice + lost + wrong === 0;
}
