/** Reads the calls that an answer names, and the answers to custom questions. */
import type { Call, CustomAnswers } from './parts.ts';
import { isObject, ObjectReader, pathTo, type Remainder, settle } from './reader.ts';
import { isSilent, readText, readTimestamp } from './values.ts';

/** Reads `call_details`: a list, or one object as in some samples. */
export function readCalls(raw: unknown, remainder: Remainder): Call[] {
  const path = 'results.call_details';
  if (Array.isArray(raw))
    return raw.flatMap((call: unknown, index) => readCall(call, pathTo(path, index), remainder));
  return readCall(raw, path, remainder);
}

function readCall(raw: unknown, path: string, remainder: Remainder): Call[] {
  const fields = new ObjectReader(raw, path, remainder);
  if (!isObject(raw)) return [];
  const transcripts = [
    readTranscript(fields, 'call_transcript'),
    readTranscript(fields, 'transcript'),
  ];
  const custom_answers = readCustomAnswers(fields, remainder);
  const call = {
    ended_at: fields.read('call_end_time', readTimestamp) ?? null,
    representative: fields.read('representative_name', readText) ?? null,
    reference_number: fields.read('reference_number', readText) ?? null,
    recording_url: fields.read('call_recording_url', readText) ?? null,
    transcript_url: fields.read('call_transcript_url', readText) ?? null,
    has_transcript: transcripts.includes(true),
    ...(custom_answers === undefined ? {} : { custom_answers }),
  };
  fields.finish();
  return [call];
}

/**
 * Returns whether there is a transcript; its text stays in the stored answer. A value that is not
 * text goes into the remainder.
 */
function readTranscript(fields: ObjectReader, name: string): boolean {
  const raw = fields.take(name);
  if (isSilent(raw)) return false;
  if (typeof raw === 'string') return true;
  fields.flag(name, 'not text');
  return false;
}

/**
 * Reads `custom_answers`, a map from question to answer, unchanged; undefined when there is none.
 */
export function readCustomAnswers(
  fields: ObjectReader,
  remainder: Remainder,
): CustomAnswers | undefined {
  const raw = fields.take('custom_answers');
  if (isSilent(raw)) return undefined;
  if (!isObject(raw)) {
    fields.flag('custom_answers', 'not an object');
    return undefined;
  }
  const path = pathTo(fields.path, 'custom_answers');
  return Object.entries(raw).map(([question, answer]) => {
    const text = typeof answer === 'boolean' ? String(answer) : answer;
    return {
      question,
      answer: settle(readText(text), answer, pathTo(path, question), remainder) ?? null,
    };
  });
}
