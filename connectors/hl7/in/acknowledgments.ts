/**
 * Builds the replies to messages: original and enhanced acknowledgment mode (HL7 v2.5.1, section
 * 2.9).
 */
import { hash } from 'node:crypto';
import { encode } from '../v2/escapes.ts';
import type { Message, Segment } from '../v2/message.ts';
import { HEADER_FIELD_CHARS_MAX } from './header-length.ts';
import type { Fault, Reading } from './result.ts';

/** The result for a message: accepted, faulty content, or refused as a whole. */
type Verdict = { accept: 'CA' | 'CE' | 'CR'; application: 'AA' | 'AE' | 'AR'; fault: Fault | null };

/** `at`: the time of the reply in HL7 format. */
export type ReplySettings = { at: string };

/** Returns the replies to a message, according to its reading. */
export function repliesTo(message: Message, reading: Reading, settings: ReplySettings): string[] {
  return answer(message, verdictOn(reading), settings);
}

/**
 * Returns the replies in the order in which they are sent: one in original mode; in enhanced mode
 * the accept acknowledgment and the application acknowledgment, as MSH-15 and MSH-16 request. An
 * acknowledgment gets no reply.
 */
function answer(message: Message, verdict: Verdict, settings: ReplySettings): string[] {
  if (message.type === 'ACK' || message.type === 'MCF') return [];
  const accept_wish = message.header.value(15).toUpperCase();
  const application_wish = message.header.value(16).toUpperCase();
  if (accept_wish === '' && application_wish === '')
    return [reply(message, verdict.application, verdict.fault, settings)];
  const is_good = verdict.application === 'AA';
  const replies: string[] = [];
  if (isWanted(accept_wish, verdict.accept === 'CA'))
    replies.push(reply(message, verdict.accept, verdict.fault, settings));
  if (isWanted(application_wish, is_good))
    replies.push(reply(message, verdict.application, verdict.fault, settings));
  return replies;
}

function verdictOn(reading: Reading): Verdict {
  if (reading.kind === 'refused') return { accept: 'CR', application: 'AR', fault: reading.fault };
  // Faulty content is committed to the attention list, so it is in safe storage, as CA states.
  if (reading.kind === 'faulty') return { accept: 'CA', application: 'AE', fault: reading.fault };
  return { accept: 'CA', application: 'AA', fault: null };
}

/** Returns whether the sender wants this reply, by its wish in MSH-15 or MSH-16 (table 0155). */
function isWanted(wish: string, is_good: boolean): boolean {
  return wish === 'AL' || (wish === 'ER' && !is_good) || (wish === 'SU' && is_good);
}

/** Returns one reply. It uses the message's own separators, so that its values stay unchanged. */
function reply(
  message: Message,
  code: string,
  fault: Fault | null,
  settings: ReplySettings,
): string {
  const { header, separators } = message;
  const { field, component } = separators;
  const join = (...fields: string[]) => trimEnd(fields.join(field), field);
  const control_id = hash('sha256', `${code}${header.raw(10)}${settings.at}`).slice(0, 20);
  const raw = (number: number) => header.raw(number).slice(0, HEADER_FIELD_CHARS_MAX);
  const own = (text: string) => encode(text, separators);
  const lines = [
    join(
      'MSH',
      header.raw(2),
      ...[raw(5), raw(6), raw(3), raw(4)],
      own(settings.at),
      '',
      ['ACK', header.value(9, 2), 'ACK'].filter((part) => part !== '').join(component),
      control_id,
      raw(11) || 'P',
      raw(12) || '2.5.1',
      ...['', '', '', ''],
      '',
      raw(18),
    ),
    join('MSA', code, raw(10), fault === null ? '' : own(fault.what)),
  ];
  if (fault !== null)
    lines.push(errorSegment(header, { ...fault, what: own(fault.what) }, join, component));
  return `${lines.join('\r')}\r`;
}

/**
 * Returns the ERR segment: of version 2.5 and later, or of earlier versions, where ERR-1 alone has
 * position and code.
 */
function errorSegment(
  header: Segment,
  fault: Fault,
  join: (...fields: string[]) => string,
  component: string,
): string {
  const [segment = '', place = ''] = fault.at.split('-');
  const words = {
    100: 'Segment sequence error',
    101: 'Required field missing',
    102: 'Data type error',
    200: 'Unsupported message type',
    205: 'Duplicate key identifier',
    207: 'Application internal error',
  };
  const code = [String(fault.code), words[fault.code], 'HL70357'].join(component);
  const is_old = /^2\.[1-4]/.test(header.value(12));
  if (is_old)
    return join('ERR', [segment, '1', place, code.replaceAll(component, ' ')].join(component));
  return join('ERR', '', [segment, '1', place].join(component), code, 'E', '', '', '', fault.what);
}

function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/**
 * Returns the replies to unreadable bytes or to a message that is too large, with what little is
 * known about it.
 */
export function repliesToUnreadable(
  message: Message | null,
  fault: Fault,
  settings: ReplySettings,
): string[] {
  if (message !== null)
    return answer(message, { accept: 'CR', application: 'AR', fault }, settings);
  return [
    `MSH|^~\\&|||||${settings.at}||ACK|${settings.at.slice(0, 14)}|P|2.5.1\rMSA|AR||` +
      `${fault.what}\rERR|||${fault.code}^^HL70357|E||||${fault.what}\r`,
  ];
}
