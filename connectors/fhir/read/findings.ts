/** The results of a reading, the outcome of each appointment, and what is missing. */
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import { ConnectorError, type RejectedItem } from '../../contract.ts';
import type { FhirConfig } from '../config.ts';
import type { Resource } from '../element.ts';
import type { SearchEnd } from '../server/client.ts';
import { type FhirError, toConnectorError, wordsOfSearch } from '../server/failure.ts';
import type { Reading } from './reading.ts';

/**
 * Up to this number, each item on which the server fails is reported by name. More than that is a
 * server problem, which one sentence reports.
 */
export const FAILED_ITEMS_MAX = 20;

/** `failure`: the server failed on a page, so later pages are missing. */
export type Found = {
  appointments: Resource[];
  unreadable: number;
  is_partial: boolean;
  ends: SearchEnd[];
  failure: FhirError | null;
};

/** `failed`: items on which the server failed, which says nothing about the visit. */
export type Mapped = {
  appointments: AppointmentInput[];
  cancelled_ids: string[];
  rejected: RejectedItem[];
  failed: RejectedItem[];
};

/** The outcome of an Appointment. `none`: not a patient's visit, or a past one. */
export type Outcome =
  | { kind: 'appointment'; input: AppointmentInput; beside: RejectedItem[] }
  | { kind: 'cancelled'; id: string }
  | { kind: 'rejected' | 'failed'; item: RejectedItem }
  | { kind: 'none' };

/** Returns the outcome of an appointment that cannot be used. */
export function rejected(source_id: string, field: string, value_class: string, remedy: string) {
  const item: RejectedItem = {
    position: `Appointment/${source_id}`,
    source_id,
    field,
    value_class,
    remedy,
  };
  return { kind: 'rejected' as const, item };
}

/**
 * Returns the item about the other patients of a group visit. The visit becomes one appointment;
 * the others are reported, not silently ignored (G2).
 */
export function othersOf(source_id: string): RejectedItem {
  const remedy =
    'eligd asks only about the first. Book an appointment for each, or call the insurance ' +
    'companies of the others yourself.';
  return {
    position: `Appointment/${source_id}`,
    field: 'participant',
    value_class: 'more than one patient',
    remedy,
  };
}

/** Returns the reason why a reading is incomplete; null: it is complete. */
export function failureOf({ ends, failure }: Found, { failed }: Mapped): ConnectorError | null {
  const ended_badly = ends.find((end) => end !== 'end');
  if (failure !== null) return toConnectorError(failure);
  if (ended_badly !== undefined) return endedBadly(ended_badly);
  return failed.length > 0 ? failedItems(failed.length, 'an appointment', 'appointments') : null;
}

/** Returns the failed items to report by name; none if there are too many. */
export const named = (failed: readonly RejectedItem[]) =>
  failed.length > FAILED_ITEMS_MAX ? [] : failed;

/** Returns an item for each entry of a search that is not a resource. */
export function unreadableEntries(count: number): RejectedItem[] {
  return Array.from({ length: count }, (_, index) => ({
    position: `entry ${index + 1} without a usable resource`,
    field: 'Bundle.entry',
    value_class: 'not a resource with an id',
    remedy: 'Ask whoever runs the FHIR server; the other appointments were read.',
  }));
}

/** Returns the error for a search that the server refuses, with the words of the server. */
export function searchRefused(
  error: FhirError,
  { search_by }: FhirConfig,
  { query }: Reading,
): ConnectorError {
  const asked = [...search_by.flatMap((extra) => Object.entries(extra)), ...query];
  const next =
    search_by.length === 0
      ? 'Most servers that refuse this require a location or a practitioner: name them in ' +
        'search_by: of the connector, e.g. "- location: Location/12", one per line. Otherwise, ' +
        'have eligd’s client allowed to search Appointment.'
      : 'Check the names and values in search_by: of the connector, and whether the client of ' +
        'eligd may search Appointment.';
  return new ConnectorError('permanent', {
    what: `${error.message} It does not allow this search for appointments.`,
    words: wordsOfSearch(error, asked),
    next,
    cause: error,
  });
}

function endedBadly(end: Exclude<SearchEnd, 'end'>): ConnectorError {
  const problem = {
    loop:
      'The pages of the FHIR server lead back to an earlier page, so its list of appointments ' +
      'has no end.',
    foreign_link:
      'The FHIR server names another server for the next page, and credentials are not sent there.',
    too_many_pages: 'The list of appointments of the FHIR server has more than 10,000 pages.',
  }[end];
  const next =
    end === 'foreign_link'
      ? 'Set base_url: to the address that the server uses for itself, or have the server use ' +
        'this one.'
      : 'Ask whoever runs the FHIR server; a larger page_size: or a smaller days_ahead: may help.';
  return new ConnectorError('permanent', {
    what: `${problem} eligd keeps what it has read.`,
    next,
  });
}

/** Returns the error for items on which the server failed; `one` and `many` name them. */
export function failedItems(count: number, one: string, many: string): ConnectorError {
  const what =
    `The FHIR server failed on what belongs to ${count === 1 ? one : `${count} ${many}`}; the ` +
    'others were taken.';
  return new ConnectorError('transient', {
    what,
    next: 'eligd tries again automatically. If it persists, ask whoever runs the FHIR server.',
  });
}
