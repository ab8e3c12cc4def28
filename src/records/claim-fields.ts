/**
 * The list of all paths in a claim record that end in a value; `[]` stands for an entry of a list.
 * A test compares it with every format that eligd writes.
 */
export const CLAIM_PATHS: readonly string[] = [
  ...['schema', 'inquiry_id', 'inquiry_created_at', 'specialty', 'outcome', 'status'],
  ...['completeness', 'summary', 'confidence'],
  ...['claim_number', 'date_of_service', 'procedure_codes[]', 'billed_amount'].map(
    (name) => `asked.${name}`,
  ),
  ...['ended_at', 'representative', 'reference_number', 'recording_url', 'transcript_url'].map(
    (name) => `calls[].${name}`,
  ),
  ...['has_transcript', 'custom_answers[].question', 'custom_answers[].answer'].map(
    (name) => `calls[].${name}`,
  ),
  ...['name', 'description', 'status', 'is_met', 'evidence', 'reasoning', 'validation'].map(
    (name) => `verification.checks[].${name}`,
  ),
  ...['verification.checks[].call_log_id', 'verification.checks[].checked_at'],
  ...['answered', 'status', 'said_status', 'number', 'received_on', 'processed_on'].map(
    (name) => `claim.${name}`,
  ),
  ...['claim.paid_on', 'claim.processed_up_to', 'claim.turnaround'],
  ...['code', 'said_as', 'asked', 'answered', 'paid', 'patient_responsibility'].map(
    (name) => `claim.codes[].${name}`,
  ),
  ...['applied_to_deductible', 'adjustment', 'denial_reason', 'appeal_info'].map(
    (name) => `claim.codes[].${name}`,
  ),
  ...['path', 'value', 'why'].map((name) => `unparsed[].${name}`),
];
