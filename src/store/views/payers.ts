import type { AppointmentInput, CoverageInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { parsed } from '../../domain/damaged.ts';
import { isInsured } from '../../domain/planning.ts';
import { saysWho } from '../../domain/says-who.ts';
import { HOUR_MS } from '../../domain/time.ts';
import { allOpenTurnarounds } from '../calls/turnarounds.ts';
import type { Db } from '../engine/database.ts';

/** A coverage of an open visit or claim, with the place and the provider of the treatment. */
export type NamedPayer = {
  treated: Pick<AppointmentInput, 'specialty' | 'provider' | 'location'>;
  coverage: CoverageInput;
  /** Whether the payer's name says who a patient is. */
  says_who: boolean;
};

const VISITS_PER_PAGE = 500;

/**
 * Returns every coverage of open visits and claims, except damaged ones, page by page: there may be
 * 100,000 of them, of 1 KB each.
 */
export async function* namedPayerPages(db: Db): AsyncGenerator<NamedPayer[]> {
  let after = { connector: '', id: 0 };
  for (;;) {
    const rows = await openVisits(db)
      .select(['connector', 'id'])
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('connector', 'id'), '>', tuple(after.connector, after.id)),
      )
      .orderBy('connector')
      .orderBy('id')
      .limit(VISITS_PER_PAGE)
      .execute();
    yield rows.flatMap(namedIn);
    const last = rows.at(-1);
    if (last === undefined || rows.length < VISITS_PER_PAGE) return;
    after = last;
  }
}

/** Returns all of them at once, for commands. */
export async function namedPayers(db: Db): Promise<NamedPayer[]> {
  return (await Array.fromAsync(namedPayerPages(db))).flat();
}

/** Does the same for the visits and claims with these IDs in a connector. */
export async function namedPayersOf(
  db: Db,
  connector: string,
  source_ids: ReadonlySet<string>,
): Promise<NamedPayer[]> {
  const rows = await openVisits(db).where('connector', '=', connector).execute();
  return rows.filter(({ source_id }) => source_ids.has(source_id)).flatMap(namedIn);
}

function openVisits(db: Db) {
  return db
    .selectFrom('appointments')
    .select(['source_id', 'content'])
    .where('superseded_at', 'is', null)
    .where('closed_reason', 'is', null);
}

function namedIn({ content }: { content: string }): NamedPayer[] {
  const treated = parsed(content) as AppointmentInput | ClaimInput | null;
  if (treated === null) return [];
  return coveragesOf(treated)
    .filter(isInsured)
    .map((coverage) => ({
      treated,
      coverage,
      says_who: saysWho(coverage.carrier, treated),
    }));
}

function coveragesOf(input: AppointmentInput | ClaimInput): CoverageInput[] {
  return 'coverage' in input ? [input.coverage] : input.coverages;
}

/** How long calls to a payer take, in hours in which it answers the phone, rounded to a tenth. */
export type PayerTurnaround = {
  /** As in requests: a carrier's identifier or a payer ID, letters and digits. */
  payer: string;
  specialty: string;
  about: string;
  median_hours: number;
  p90_hours: number;
  calls: number;
};

/** Returns every payer with enough calls, slowest first. */
export async function turnaroundsInPayerHours(db: Db): Promise<PayerTurnaround[]> {
  const hours = (ms: number) => Math.round((ms / HOUR_MS) * 10) / 10;
  return [...(await allOpenTurnarounds(db))]
    .map(([key, { median_ms, p90_ms, calls }]) => {
      const [specialty = '', about = '', payer = ''] = key.split('|');
      return {
        ...{ payer, specialty, about, calls },
        median_hours: hours(median_ms),
        p90_hours: hours(p90_ms),
      };
    })
    .toSorted((a, b) => b.p90_hours - a.p90_hours || (a.payer < b.payer ? -1 : 1));
}
