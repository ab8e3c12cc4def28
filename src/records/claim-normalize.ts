/**
 * Converts the service's answer to a claims-status inquiry into a `ClaimStatusRecord`. As with
 * benefits, nothing in the answer is lost: what has no field is kept verbatim under `unparsed`.
 */
import type { Specialty } from '../domain/specialty.ts';
import { readCalls } from './calls.ts';
import {
  CLAIM_SCHEMA,
  type ClaimCode,
  type ClaimDetails,
  type ClaimStatusRecord,
} from './claim-status.ts';
import { type ClaimWords, claimStatusOf } from './claim-verdict.ts';
import { type NormalizeInput, readHead } from './normalize.ts';
import { isObject, ObjectReader, pathTo, Remainder } from './reader.ts';
import {
  comparableCode,
  isSilent,
  readAmount,
  readDate,
  readSignedAmount,
  readText,
} from './values.ts';
import { readVerification } from './verification.ts';

export type NormalizeClaimInput = Pick<NormalizeInput, 'inquiry' | 'verifications'> & {
  specialty: Specialty;
  /** The configured meaning of a payer's words; left out: none configured. */
  claim_words?: ClaimWords;
  /** What eligd asked; dates `YYYY-MM-DD`, the amount as decimal text or empty. */
  asked: {
    claim_number: string;
    date_of_service: string;
    procedure_codes: readonly string[];
    billed_amount: string;
  };
};

/** Converts an answer. Pure and total: any JSON gives a valid record, and always the same one. */
export function normalizeClaim({
  inquiry,
  specialty,
  asked,
  verifications,
  claim_words = {},
}: NormalizeClaimInput): ClaimStatusRecord {
  const remainder = new Remainder();
  const head = readHead(inquiry, remainder);
  const results = new ObjectReader(inquiry.results, 'results', remainder);
  const calls = readCalls(results.take('call_details'), remainder);
  const is_dental = specialty === 'dental';
  const of = { asked: asked.procedure_codes, is_dental, claim_words };
  const claim = readClaim(results, of, remainder);
  results.finish();
  // A call from a lost database asked about the claim as it was then, which only its echo says.
  const echoed = inquiry.request?.billed_amount;
  const billed = readAmount(
    typeof echoed === 'number' && echoed > 0 ? echoed : asked.billed_amount,
  );
  return {
    schema: CLAIM_SCHEMA,
    ...head,
    specialty,
    completeness: completenessOf(claim),
    asked: {
      claim_number: asked.claim_number,
      date_of_service: asked.date_of_service,
      procedure_codes: [...asked.procedure_codes],
      billed_amount: billed.is === 'read' ? billed.value : null,
    },
    calls,
    ...readVerification(verifications, remainder),
    claim,
    unparsed: remainder.entries,
  };
}

function readClaim(
  results: ObjectReader,
  of: { asked: readonly string[]; is_dental: boolean; claim_words: ClaimWords },
  remainder: Remainder,
): ClaimDetails {
  const said_status = results.read('status', readText) ?? null;
  const number = results.read('number', readText) ?? null;
  const days = new ObjectReader(results.take('timeline'), 'results.timeline', remainder);
  const dates = {
    received_on: days.read('date_received', readDate) ?? null,
    processed_on: days.read('date_processed', readDate) ?? null,
    paid_on: days.read('date_paid', readDate) ?? null,
  };
  days.finish();
  const backlog = new ObjectReader(
    results.take('unprocessed_claim_info'),
    'results.unprocessed_claim_info',
    remainder,
  );
  const processed_up_to = backlog.read('date_processed_up_to', readDate);
  const turnaround = backlog.read('turnaround_time', readText);
  backlog.finish();
  const codes = readCodes(results.take('code_details'), of.asked, of.is_dental, remainder);
  const evidence = { is_paid_on: dates.paid_on !== null, codes };
  const status = claimStatusOf(said_status, evidence, of.claim_words);
  if (said_status !== null && status === 'unknown') results.flag('status', 'unknown status');
  const said = [
    said_status,
    number,
    ...Object.values(dates),
    processed_up_to ?? null,
    turnaround ?? null,
  ];
  return {
    answered: said.some((value) => value !== null) || codes.some((code) => code.answered),
    status,
    said_status,
    number,
    ...dates,
    ...(processed_up_to === undefined ? {} : { processed_up_to }),
    ...(turnaround === undefined ? {} : { turnaround }),
    codes,
  };
}

function readCodes(
  raw: unknown,
  asked: readonly string[],
  is_dental: boolean,
  remainder: Remainder,
): ClaimCode[] {
  const path = 'results.code_details';
  if (!isSilent(raw) && !Array.isArray(raw)) remainder.add(path, raw, 'not a list');
  const own = new Set(
    asked.map((code) => comparableCode(code, is_dental)).filter((code) => code !== ''),
  );
  const seen = new Set<string>();
  const codes = (Array.isArray(raw) ? raw : []).flatMap((item: unknown, index) => {
    if (isSilent(item)) return [];
    const code = readCode(item, pathTo(path, index), { own, is_dental }, remainder);
    if (code === null) return [];
    if (seen.has(code.code))
      remainder.add(pathTo(path, index), item, 'code answered more than once');
    seen.add(code.code);
    return [code];
  });
  const missing = [...own]
    .filter((code) => !seen.has(code))
    .map((code) => ({ code, asked: true, answered: false, ...NOTHING }));
  return [...codes, ...missing];
}

const NOTHING = {
  paid: null,
  patient_responsibility: null,
  applied_to_deductible: null,
  adjustment: null,
  denial_reason: null,
  appeal_info: null,
};

/**
 * Reads one item. An item without a readable code cannot be assigned to a code, so it goes into the
 * remainder whole.
 */
function readCode(
  raw: unknown,
  path: string,
  { own, is_dental }: { own: ReadonlySet<string>; is_dental: boolean },
  remainder: Remainder,
): ClaimCode | null {
  const said = isObject(raw) ? readText(raw.procedure_code) : null;
  if (said?.is !== 'read') {
    remainder.add(path, raw, isObject(raw) ? 'no procedure code' : 'not an object');
    return null;
  }
  const fields = new ObjectReader(raw, path, remainder);
  fields.take('procedure_code');
  const code = comparableCode(said.value, is_dental);
  const details = {
    // This is the wire's spelling.
    paid: fields.read('amound_paid', readSignedAmount) ?? null,
    patient_responsibility: fields.read('patient_responsibility', readSignedAmount) ?? null,
    applied_to_deductible: fields.read('patient_applied_to_deductible', readSignedAmount) ?? null,
    adjustment: fields.read('adjustment_details', readText) ?? null,
    denial_reason: fields.read('claim_denial_reason', readText) ?? null,
    appeal_info: fields.read('appeal_or_correction_info', readText) ?? null,
  };
  fields.finish();
  return {
    code,
    ...(code === said.value ? {} : { said_as: said.value }),
    asked: own.has(code),
    answered: Object.values(details).some((value) => value !== null),
    ...details,
  };
}

function completenessOf(claim: ClaimDetails): ClaimStatusRecord['completeness'] {
  if (!claim.answered) return 'none';
  const is_decided =
    claim.status !== 'unknown' && claim.status !== 'pending' && claim.status !== 'not_on_file';
  const lacks_code = claim.codes.some((code) => code.asked && !code.answered);
  return claim.status === 'unknown' || (is_decided && lacks_code) ? 'partial' : 'complete';
}
