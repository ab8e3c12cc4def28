/**
 * Reads the body of one page of a list while it arrives. Keeps only the fields of each inquiry that
 * identify it. Skips its results, unless `keep` selects them and there is room.
 */
import { createHash } from 'node:crypto';
import type { InquiryId } from '../domain/ids.ts';
import type { Inquiry, ListedInquiry } from './api.ts';
import { JsonScanner, NotJson, type Position, parse, type Visitor } from './json-scanner.ts';
import {
  ANSWER_BYTES_MAX,
  type BodyReader,
  type ListBody,
  type ListElement,
  type ReplyBody,
} from './transport.ts';
import { parseInquiry } from './wire.ts';

/**
 * The maximum number of inquiries to compare in one list: 20 years of a large clinic, about 300 MB
 * of memory.
 */
const LISTED_MAX = 500_000;
/** The room for complete read forms in one list; inquiries without room are read by ID. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024;
/** IDs, labels and dates of ours are never longer. */
const TEXT_LENGTH_MAX = 1000;
const STATUS_LENGTH_MAX = 100;

const LIST_FIELDS = ['items', 'results', 'inquiries', 'data'] as const;
const ENVELOPE_FIELDS: readonly string[] = ['total', 'total_count', 'count', 'next'];
const SHOWN_FIELDS: readonly string[] = ['id', 'status', 'creation_ts', 'request'];
/** The fields of a request that attribution compares (`domain/matching.ts`). */
const COMPARED_FIELDS = [
  'external_id',
  'type',
  'member_id',
  'dob',
  'tax_id',
  'claim_number',
  'claims_date_of_service',
] as const;

/** The remaining room of one list, across all of its pages. */
type ListRoom = {
  /** Selects inquiries whose complete read form is wanted; omitted: none. */
  keep: ((id: InquiryId) => boolean) | undefined;
  kept_bytes_left: number;
  elements_left: number;
};

/** Returns the full room for a list that is about to be read. */
export function newListRoom(keep: ListRoom['keep']): ListRoom {
  return { keep, kept_bytes_left: KEPT_BYTES_MAX, elements_left: LISTED_MAX };
}

/** Reads one page from the pieces of its body. */
export class ListBodyReader implements BodyReader {
  readonly #scanner: JsonScanner;
  readonly #page: PageVisitor;
  #is_markup = false;

  constructor(room: ListRoom) {
    this.#page = new PageVisitor(room);
    this.#scanner = new JsonScanner(this.#page, ANSWER_BYTES_MAX);
  }

  push(piece: Buffer): ReplyBody | null {
    if (this.#scanner.is_empty)
      this.#is_markup = piece.toString('latin1', 0, 64).trim().startsWith('<');
    try {
      this.#scanner.push(piece);
      return this.#page.is_full ? { form: 'broken', cause: 'too_large' } : null;
    } catch (error) {
      return this.#unreadable(error);
    }
  }

  end(): ReplyBody {
    if (this.#scanner.is_empty) return { form: 'empty' };
    try {
      this.#scanner.finish();
    } catch (error) {
      return this.#unreadable(error);
    }
    return { form: 'list', list: this.#page.list() };
  }

  #unreadable(error: unknown): ReplyBody {
    if (!(error instanceof NotJson)) throw error;
    return { form: this.#is_markup ? 'html' : 'other' };
  }
}

/** One element while its fields arrive. */
type Parts = { texts: Map<string, string>; size: number; is_whole: boolean };

class PageVisitor implements Visitor {
  readonly #room: ListRoom;
  readonly #lists = new Map<string, ListElement[]>();
  readonly #envelope: string[] = [];
  /** Depth of the elements: 1 in a bare array, 2 in an envelope. */
  #elements_at = -1;
  #list: ListElement[] = [];
  #parts: Parts = newParts();
  is_full = false;

  constructor(room: ListRoom) {
    this.#room = room;
  }

  onValue({ kind, key, depth }: Position): 'enter' | 'take' | 'pass' {
    if (depth === 0) {
      if (kind === 'array') this.#beginList('', 1);
      return kind === 'other' ? 'pass' : 'enter';
    }
    if (depth === this.#elements_at) {
      if (kind === 'object') this.#parts = newParts();
      return kind === 'object' ? 'enter' : 'take';
    }
    if (this.#elements_at !== -1) return this.#ofElement(key ?? '');
    if (kind === 'array' && isListField(key)) {
      this.#beginList(key, 2);
      return 'enter';
    }
    return ENVELOPE_FIELDS.includes(key ?? '') ? 'take' : 'pass';
  }

  onTaken(text: string | null, { key, depth }: Position): void {
    if (depth === this.#elements_at) {
      if (text !== null) parse(text);
      this.#add({ key: unreadableKey(text ?? ''), inquiry: null });
    } else if (this.#elements_at === -1) {
      if (text !== null && key !== null) this.#envelope.push(`${JSON.stringify(key)}:${text}`);
    } else this.#takePart(key ?? '', text);
  }

  onLeft(depth: number): void {
    if (depth === this.#elements_at) this.#add(this.#element());
    else if (depth < this.#elements_at) this.#elements_at = -1;
  }

  list(): ListBody | null {
    for (const name of ['', ...LIST_FIELDS]) {
      const elements = this.#lists.get(name);
      if (elements !== undefined)
        return {
          elements,
          fields: parse(`{${this.#envelope.join(',')}}`) as Record<string, unknown>,
        };
    }
    return null;
  }

  #beginList(name: string, elements_at: number): void {
    this.#list = [];
    this.#lists.set(name, this.#list);
    this.#elements_at = elements_at;
  }

  #ofElement(key: string): 'take' | 'pass' {
    if (SHOWN_FIELDS.includes(key)) return 'take';
    if (this.#room.keep === undefined || !this.#parts.is_whole) return 'pass';
    return 'take';
  }

  #takePart(key: string, text: string | null): void {
    const parts = this.#parts;
    parts.size += text?.length ?? 0;
    const is_too_long = text === null || parts.size > ANSWER_BYTES_MAX;
    if (is_too_long) parts.is_whole = false;
    if (text !== null && (!is_too_long || SHOWN_FIELDS.includes(key))) parts.texts.set(key, text);
  }

  #element(): ListElement {
    const { texts, is_whole, size } = this.#parts;
    this.#parts = newParts();
    const text = [...texts].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',');
    const inquiry = parseInquiry(parse(`{${text}}`));
    const shown = inquiry === null ? null : shownOf(inquiry);
    if (inquiry === null || shown === null) return { key: unreadableKey(text), inquiry: null };
    const room = this.#room;
    const is_kept = is_whole && room.keep?.(inquiry.id) === true && size <= room.kept_bytes_left;
    if (is_kept) room.kept_bytes_left -= size;
    return { key: `id ${inquiry.id}`, inquiry: { ...shown, full: is_kept ? inquiry : null } };
  }

  #add(element: ListElement): void {
    this.#room.elements_left -= 1;
    if (this.#room.elements_left < 0) this.is_full = true;
    else this.#list.push(element);
  }
}

function newParts(): Parts {
  return { texts: new Map(), size: 0, is_whole: true };
}

function isListField(key: string | null): key is string {
  return (LIST_FIELDS as readonly (string | null)[]).includes(key);
}

function unreadableKey(text: string): string {
  return `unreadable ${createHash('sha256').update(text).digest('base64')}`;
}

/**
 * Returns the fields that identify the inquiry; null if one of them is longer than any of ours, so
 * the inquiry cannot be identified.
 */
function shownOf({ id, status, creation_ts, request }: Inquiry): ListedInquiry | null {
  const compared: Record<string, unknown> = {};
  for (const name of COMPARED_FIELDS) {
    const value = request[name];
    if (typeof value === 'string' && value.length > TEXT_LENGTH_MAX) return null;
    if (typeof value === 'string' || typeof value === 'number') compared[name] = value;
  }
  const { patient_name } = request;
  // Only its first word is compared.
  if (typeof patient_name === 'string')
    compared.patient_name = patient_name.slice(0, TEXT_LENGTH_MAX);
  return {
    id,
    status: status.slice(0, STATUS_LENGTH_MAX),
    creation_ts: creation_ts !== null && creation_ts.length > TEXT_LENGTH_MAX ? null : creation_ts,
    request: compared,
    full: null,
  };
}
