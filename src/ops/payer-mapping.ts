/** Finds payers that the payer map lacks, and adds lines: for `eligd payers` and the page. */
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

/** A coverage of an open visit or claim, and the data that names the treating provider. */
type NamedCoverage = {
  treated: Pick<AppointmentInput, 'specialty' | 'provider' | 'location'>;
  coverage: CoverageInput;
  /** Whether the payer's name says who a patient is. */
  says_who: boolean;
};

/** A payer that the map lacks, as users see it. */
export type Unmapped = {
  name: string;
  payer_id: string | null;
  /** The number of open visits and claims that name it. */
  count: number;
  /** Whether eligd calls it anyway, by its payer ID alone. */
  is_called: boolean;
  nearest: KnownPayer[];
  /** Whether the name says who a patient is. */
  says_who: boolean;
};

const NEAREST_SHOWN = 3;

/** Returns the named payers that need a line in the map, most frequent first. */
export function unmappedOf(
  named: readonly (Omit<NamedCoverage, 'treated'> & { specialty: Specialty })[],
  payers: PayerList,
): Unmapped[] {
  const found = new Map<string, Unmapped>();
  for (const { specialty, coverage, says_who } of named) {
    const payer = payers.find(coverage.payor_id, coverage.carrier);
    const called = { specialty, payer, coverage };
    if (!isUnmapped(called)) continue;
    const key = JSON.stringify([coverage.carrier, coverage.payor_id]);
    const before = found.get(key);
    found.set(key, {
      name: coverage.carrier,
      payer_id: coverage.payor_id || null,
      count: (before?.count ?? 0) + 1,
      is_called: isCallable(called),
      nearest: nearestPayers(coverage.carrier, payers),
      says_who: says_who || before?.says_who === true,
    });
  }
  return [...found.values()].toSorted((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}

/** Returns up to three payers with an identifier and a similar name, most similar first. */
export function nearestPayers(name: string, { known }: PayerList): KnownPayer[] {
  return nearestNames(name, known, NEAREST_SHOWN).map(({ name: of, carrier, payor_id }) => ({
    name: of,
    carrier,
    payor_id,
  }));
}

/** Does the same with the configuration's current payer map. */
export function unmappedPayers(config: Config, named: readonly NamedCoverage[]): Unmapped[] {
  const clinic = clinicProfile(config);
  const treated = named.map((each) => ({
    ...each,
    specialty: effectiveProvider(each.treated, clinic).specialty,
  }));
  return unmappedOf(treated, readPayers(config));
}

/**
 * Writes a line of payers.csv; returns what the payer is now mapped to. `pms_id`: the practice
 * software's ID of a payer without a name.
 */
export function mapPayer(
  config: Config,
  given: { name: string; pms_id?: string; id: string; phone: string | undefined },
): { name: string; as: string } {
  const name = given.name.trim();
  const pms_id = given.pms_id?.trim() ?? '';
  if (name === '' && pms_id === '') {
    throw new EligdError('usage', {
      what: 'No name was given.',
      why: 'A line of the payer map begins with the name that your PMS uses.',
      next: 'Copy the name from "eligd payers".',
    });
  }
  const { cells, as } = mappedTo(given.id, readPayers(config));
  writePayer(config, {
    ...(name === '' ? { pms_id } : { pms_name: name }),
    ...cells,
    ...(given.phone === undefined ? {} : { phone_number: given.phone }),
  });
  return { name: name || `payer ID ${pms_id}`, as };
}

/** Actions that mean that eligd makes no call. */
const UNCALLED = ['unsupported', 'attention', 'skip'] as const;

/**
 * Returns the values of the new line: whom to call, or that eligd makes no call. They replace all
 * values of an earlier line.
 */
function mappedTo(
  id: string,
  payers: PayerList,
): { cells: Partial<Record<'carrier' | 'payor_id' | 'action', string>>; as: string } {
  const action = UNCALLED.find((word) => word === id.trim().toLowerCase());
  if (action !== undefined) return { cells: { action }, as: `${action} (eligd makes no calls)` };
  const carrier = carrierNamed(id, payers);
  if (carrier !== null) return { cells: { carrier, payor_id: '', action: '' }, as: carrier };
  const payor_id = id.trim().toUpperCase();
  return { cells: { carrier: '', payor_id, action: '' }, as: `payer ID ${payor_id}` };
}

/**
 * Returns the carrier identifier `id`, or that of the known payer with this ID or name; null: an
 * unmapped payer ID. A payer ID has five characters, at least one of them a digit.
 */
function carrierNamed(id: string, payers: PayerList): string | null {
  const plain = id.trim().toUpperCase();
  if (/^(?=.*\d)[A-Z\d]{5}$/.test(plain)) return payers.find(plain, '')?.carrier || null;
  const named = payers.find('', id)?.carrier ?? '';
  if (named !== '') return named;
  if (/^[A-Z\d]+(?:_[A-Z\d]+)*$/.test(plain)) return plain;
  throw new EligdError('usage', {
    what: `"${id}" is neither a carrier identifier nor a payer ID.`,
    why:
      "A carrier identifier is the service's word in capitals and underscores, such as " +
      'DELTA_DENTAL_OF_ILLINOIS; a payer ID has five characters, such as 05030.',
    next:
      '"eligd payers" shows the closest ones; ask the calling service for others. Write ' +
      'unsupported for a payer that it cannot call.',
  });
}
