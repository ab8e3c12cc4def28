import type { AppointmentInput, CoverageInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { isInsured } from '../../domain/planning.ts';
import type { Db } from '../engine/database.ts';

/**
 * A coverage of an open visit or claim, with what says where and by whom the patient is treated.
 */
export type NamedPayer = {
  treated: Pick<AppointmentInput, 'specialty' | 'provider' | 'location'>;
  coverage: CoverageInput;
};

/** Every coverage that open visits and claims name. Reads all of them; for commands and starts. */
export async function namedPayers(db: Db): Promise<NamedPayer[]> {
  const rows = await db
    .selectFrom('appointments')
    .select('content')
    .where('superseded_at', 'is', null)
    .where('closed_reason', 'is', null)
    .execute();
  return rows.flatMap(({ content }) => {
    const treated = JSON.parse(content) as AppointmentInput | ClaimInput;
    return coveragesOf(treated)
      .filter(isInsured)
      .map((coverage) => ({ treated, coverage }));
  });
}

function coveragesOf(input: AppointmentInput | ClaimInput): CoverageInput[] {
  return 'coverage' in input ? [input.coverage] : input.coverages;
}
