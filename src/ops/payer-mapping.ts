/** What the payer map does not have, and how a line is added: for `eligd payers` and the page. */
import type { AppointmentInput, CoverageInput } from '../domain/appointment.ts';
import { EligdError } from '../domain/errors.ts';
import { isCallable, isUnmapped } from '../domain/payers.ts';
import { effectiveProvider } from '../domain/provider.ts';
import type { Specialty } from '../domain/specialty.ts';
import type { Config } from './config.ts';
import { nearestNames } from './nearest.ts';
import { readPayers, writePayer } from './payer-file.ts';
import type { KnownPayer, PayerList } from './payers.ts';
import { clinicProfile } from './profile.ts';

/** A coverage of an open visit or claim, and what says by whom the patient is treated. */
export type NamedCoverage = {
  treated: Pick<AppointmentInput, 'specialty' | 'provider' | 'location'>;
  coverage: CoverageInput;
};

/** A payer that the map does not have, as a person sees it. */
export type Unmapped = {
  name: string;
  payer_id: string | null;
  /** Open visits and claims that name it. */
  count: number;
  /** Whether calls are made all the same, by payer ID alone. */
  is_called: boolean;
  nearest: KnownPayer[];
};

const NEAREST_SHOWN = 3;

/** The payers among the named ones that should have a line in the map, the most frequent first. */
export function unmappedOf(
  named: readonly (Pick<NamedCoverage, 'coverage'> & { specialty: Specialty })[],
  payers: PayerList,
): Unmapped[] {
  const found = new Map<string, Unmapped>();
  for (const { specialty, coverage } of named) {
    const payer = payers.find(coverage.payor_id, coverage.carrier);
    const called = { specialty, payer, coverage };
    if (!isUnmapped(called)) continue;
    const key = JSON.stringify([coverage.carrier, coverage.payor_id]);
    const before = found.get(key)?.count ?? 0;
    found.set(key, {
      name: coverage.carrier,
      payer_id: coverage.payor_id || null,
      count: before + 1,
      is_called: isCallable(called),
      nearest: nearestNames(coverage.carrier, payers.known, NEAREST_SHOWN).map(
        ({ name, carrier, payor_id }) => ({ name, carrier, payor_id }),
      ),
    });
  }
  return [...found.values()].toSorted((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}

/** The same by the configuration, with its payer map as it is now. */
export function unmappedPayers(config: Config, named: readonly NamedCoverage[]): Unmapped[] {
  const clinic = clinicProfile(config);
  const treated = named.map((each) => ({
    ...each,
    specialty: effectiveProvider(each.treated, clinic).specialty,
  }));
  return unmappedOf(treated, readPayers(config));
}

/** Writes a line of payers.csv; returns what the payer is from now on. */
export function mapPayer(
  config: Config,
  { name, id, phone }: { name: string; id: string; phone: string | undefined },
): { name: string; as: string } {
  const carrier = carrierNamed(id, readPayers(config));
  const payor_id = id.trim().toUpperCase();
  const line = {
    pms_name: name.trim(),
    ...(carrier === null ? { payor_id } : { carrier }),
    ...(phone === undefined ? {} : { phone_number: phone }),
  };
  if (line.pms_name === '') {
    throw new EligdError('usage', {
      what: 'No name was given.',
      why: 'A line of the payer map begins with the name that the practice software uses.',
      next: 'Copy the name from "eligd payers".',
    });
  }
  writePayer(config, line);
  return { name: line.pms_name, as: carrier ?? `payer ID ${payor_id}` };
}

/**
 * The carrier identifier that `id` is, or that belongs to the known payer ID that it is; null: it
 * is a payer ID that nobody has mapped. A payer ID has five characters, a digit among them.
 */
function carrierNamed(id: string, payers: PayerList): string | null {
  const plain = id.trim().toUpperCase();
  if (/^(?=.*\d)[A-Z\d]{5}$/.test(plain)) return payers.find(plain, '')?.carrier || null;
  if (/^[A-Z\d]+(?:_[A-Z\d]+)*$/.test(plain)) return plain;
  throw new EligdError('usage', {
    what: `"${id}" is neither a carrier identifier nor a payer ID.`,
    why:
      "A carrier identifier is the service's word in capitals and underscores, such as " +
      'DELTA_DENTAL_OF_ILLINOIS; a payer ID has five characters, such as 05030.',
    next: '"eligd payers" shows the nearest ones; ask the calling service for others.',
  });
}
