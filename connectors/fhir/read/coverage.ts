import type { CoverageInput, Subscriber } from '../../../src/domain/appointment.ts';
import { coveragePeriod } from '../../../src/domain/coverage-period.ts';
import { isDate, localDate } from '../../../src/domain/time.ts';
import { codingsAt, identifierOf, listAt, textAt } from '../element.ts';
import type { GatheredCoverage } from './gather.ts';
import { nameOf, type Place } from './person.ts';

/** Coverages in these states do not count. */
const NOT_IN_FORCE = new Set(['cancelled', 'draft', 'entered-in-error']);

/**
 * Returns a patient's coverages, primary first, each with its period. Self-pay patients have none.
 */
export function toCoverages(gathered: readonly GatheredCoverage[], place: Place): CoverageInput[] {
  const { coverage_types } = place.config;
  const usable = gathered.filter(({ coverage, payor_is_person }) => {
    const types = codingsAt(coverage, 'type').map(({ code }) => code);
    if (NOT_IN_FORCE.has(textAt(coverage, 'status')) || payor_is_person || types.includes('pay'))
      return false;
    return (
      coverage_types.length === 0 ||
      types.length === 0 ||
      types.some((type) => coverage_types.includes(type))
    );
  });
  return usable.toSorted(byOrder).map((one) => toCoverage(one, place));
}

/**
 * Returns the period of a coverage. A FHIR date may be a year or a month; the period starts on its
 * first day and ends on its last.
 */
function periodOf(coverage: unknown, { time_zone }: Place) {
  const start = dayOf(textAt(coverage, 'period', 'start'), time_zone);
  const end = dayOf(textAt(coverage, 'period', 'end'), time_zone);
  const first = `${start}-01-01`.slice(0, 10);
  const ends = [end, `${end}-31`, `${end}-30`, `${end}-29`, `${end}-28`, `${end}-12-31`];
  return coveragePeriod(first, ends.find(isDate) ?? null, time_zone);
}

/** Returns the clinic's day of a moment. Some servers write a day as its midnight. */
function dayOf(text: string, time_zone: string): string {
  const has_zone = text.includes('T') && /(?:Z|[+-]\d{2}:?\d{2})$/.test(text);
  const at = has_zone && !/T00:00(?::00(?:\.0+)?)?\D/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? text.slice(0, 10) : localDate(at, time_zone);
}

function byOrder(a: GatheredCoverage, b: GatheredCoverage): number {
  const order = ({ coverage }: GatheredCoverage) =>
    Number(textAt(coverage, 'order')) || Number.MAX_SAFE_INTEGER;
  // Sorted by ID among equals, so that the ranks are the same in every pull.
  return order(a) - order(b) || textAt(a.coverage, 'id').localeCompare(textAt(b.coverage, 'id'));
}

/** Returns one coverage, with its period. */
export function toCoverage(
  { coverage, payor, subscriber }: Omit<GatheredCoverage, 'payor_is_person'>,
  place: Place,
): CoverageInput {
  const { config, today } = place;
  const { systems } = config;
  const period = periodOf(coverage, place);
  const groups = listAt(coverage, 'class').filter((one) =>
    codingsAt(one, 'type').some(({ code }) => systems.group.includes(code)),
  );
  const id = textAt(coverage, 'id');
  return {
    ...(id === '' ? {} : { id }),
    carrier: textAt(payor, 'name'),
    payor_id: identifierOf(payor, systems.payer_id, today),
    // The identifier of type MB is the member's own; a family may share a subscriber ID.
    member_id: identifierOf(coverage, systems.member_id, today) || textAt(coverage, 'subscriberId'),
    group_id: textAt(groups[0], 'value'),
    ...(period === undefined ? {} : { period }),
    subscriber: toSubscriber(coverage, subscriber, today),
  };
}

function toSubscriber(coverage: unknown, person: unknown, today: string): Subscriber | null {
  const relationship =
    codingsAt(coverage, 'relationship')[0]?.code ?? textAt(coverage, 'relationship', 'text');
  if (relationship === 'self') return null;
  const { first_name, last_name } = nameOf(person, today);
  const name = `${first_name} ${last_name}`.trim() || textAt(coverage, 'subscriber', 'display');
  if (name === '') return null;
  const birth_date = textAt(person, 'birthDate');
  return { name, birth_date: isDate(birth_date) ? birth_date : null, relationship };
}
