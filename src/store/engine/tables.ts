/** The tables of `migrations/` as Kysely types. The migrations explain each column. */
import type { Generated } from 'kysely';
import type { ClosedReason } from '../../domain/explanation.ts';
import type { Specialty } from '../../domain/specialty.ts';
import type { DeliveryState, InquiryState } from '../../domain/states.ts';

export type Tables = {
  connectors: { id: string; cursor: string | null };
  sources: {
    id: Generated<number>;
    connector: string;
    key: string;
    name: string;
    first_seen_at: number;
    completed_at: number | null;
    reply: string | null;
  };
  unread_messages: {
    id: Generated<number>;
    connector: string;
    key: string;
    name: string;
    reply: string | null;
    received_at: number;
    ended_runs: Generated<number>;
    failed_at: number | null;
    text: string | null;
  };
  messages_being_read: { connector: string; last_message: number };
  patients: { connector: string; patient_id: string; coverages: string; updated_at: number };
  patient_aliases: { connector: string; alias: string; patient_id: string; merged_at: number };
  visit_messages: { connector: string; source_id: string; sender: string; written_at: number };
  deceased_patients: { connector: string; patient_id: string; told_at: number };
  appointments: AppointmentTable;
  inquiries: InquiryTable;
  /** A view: each inquiry with the call that is under way, is sought, or serves it, if any. */
  inquiries_with_call: InquiryTable & CurrentCall;
  /** The office's holds that no call has at the moment. */
  kept_holds: { appointment: number; inquiry: number };
  /** Listed calls that may be for the patient of an inquiry, which waits for the office. */
  doubtful_calls: { inquiry: number; service_id: string; wait_until: number };
  calls: {
    id: Generated<number>;
    inquiry: number | null;
    specialty: Specialty;
    external_id: string;
    match_key: string;
    given_name: string;
    body: string | null;
    sent_at: number | null;
    sent_service_at: number | null;
    fate: 'out' | 'accepted' | 'lost' | 'absent' | 'unsent';
    service_id: string | null;
    service_status: string;
    role: 'serves' | 'duplicate' | 'unclaimed' | null;
    seen_at: number | null;
    price_cents: Generated<number | null>;
    charge_cents: Generated<number | null>;
    free_outcomes: Generated<string | null>;
    was_accepted: Generated<number>;
    /** Of the reply that gave the ID; null: eligd has read this call's form under the ID. */
    reply_group: Generated<string | null>;
  };
  inquiry_appointments: {
    inquiry: number;
    appointment: number;
    coverage_rank: number;
    draft: string;
    created_at: number;
  };
  answers: {
    id: Generated<number>;
    inquiry: number;
    revision: number;
    service_status: string;
    raw: string;
    content_hash: string;
    received_at: number;
    is_normalized: Generated<number>;
    verifications: Generated<string | null>;
  };
  records: {
    id: Generated<number>;
    answer: number;
    inquiry: number;
    revision: number;
    record: string;
    created_at: number;
  };
  deliveries: DeliveryTable;
  delivery_batches: { id: string; connector: string; created_at: number };
  connector_journal: { connector: string; key: string; value: string; updated_at: number };
  attention: {
    id: Generated<number>;
    connector: string | null;
    appointment: number | null;
    inquiry: number | null;
    subject: string;
    reason: string;
    what: string;
    next: string;
    words: Generated<string | null>;
    since: number;
    resolved_at: number | null;
    count: Generated<number>;
    last_at: Generated<number | null>;
  };
  audit: {
    id: Generated<number>;
    at: number;
    actor: string | null;
    subject: string;
    from_state: string | null;
    to_state: string;
    reason: string;
    salt: Buffer | null;
    words_hash: Buffer;
    covers: number | null;
    start_hash: Buffer | null;
    hash: Buffer;
  };
  legal_holds: {
    connector: string;
    patient_id: string;
    reason: string;
    actor: string;
    since: number;
  };
  access_log: {
    id: Generated<number>;
    at: number;
    actor: string;
    page: string;
    subject: string;
    patient: string | null;
    hash: Buffer;
  };
  rate_slots: { id: Generated<number>; taken_at: number; ended_at: number | null };
  halts: { reason: string; since: number; next_try_at: number | null; detail: string };
  alerts: {
    id: number;
    name: string;
    about: string;
    detail: string;
    since: number;
    begun_at: number;
    gone_at: number | null;
    ended_at: number | null;
    reminded_at: number;
  };
  alert_messages: {
    id: number;
    alert: number;
    target: string;
    kind: string;
    due_at: number;
    failures: number;
    sent_at: number | null;
  };
  arrivals: {
    id: Generated<number>;
    connector: string;
    source: number;
    at: number;
    rows: number;
  };
  turnarounds: {
    id: Generated<number>;
    payer: string;
    took_ms: number;
    learned_at: number;
    open_ms: number | null;
  };
  plan_terms: {
    plan_key: string;
    benefit_year: number;
    mark: string;
    name: string;
    title: string | null;
    benefits: string;
    said_on: string;
    inquiry: number;
    is_disputed: number;
  };
  learned_settings: { name: string; value: string; updated_at: number };
  inbox: { id: Generated<number>; message_hash: string; body: Buffer | null; received_at: number };
  inbox_unknown: { service_id: string; has_ended: number; first_seen_at: number };
  office_sessions: {
    token_hash: string;
    user: string;
    csrf: string;
    password_mark: string;
    created_at: number;
    seen_at: number;
  };
  office_failures: { bucket: number; count: number; last_at: number };
};

type AppointmentTable = {
  id: Generated<number>;
  kind: Generated<SubjectKind>;
  connector: string;
  source_id: string;
  superseded_at: number | null;
  content: string;
  starts_at: number;
  patient_key: string;
  last_source: number | null;
  missing_since: number | null;
  /** 1: the office has released its calls although it has vanished. */
  is_confirmed: Generated<0 | 1>;
  missed_source: Generated<number | null>;
  closed_reason: ClosedReason | null;
  closed_at: number | null;
  plan_due_at: number | null;
  plan_wait: string | null;
  created_at: number;
  updated_at: number;
};

/** The kind of a row in `appointments`. */
export type SubjectKind = 'appointment' | 'claim';

type InquiryTable = {
  id: Generated<number>;
  connector: string;
  need_base: string;
  benefit_year: number;
  attempt: number;
  retry: number;
  patient_key: string;
  specialty: Specialty;
  state: InquiryState;
  service_status: string | null;
  external_id: string;
  match_key: string;
  draft: string;
  due_at: number;
  visit_at: number;
  hold_reason: string | null;
  lookup_at: number | null;
  /** A lookup before this time proves no absence: the service may list the call later (G1). */
  absence_at: Generated<number | null>;
  empty_lookups: Generated<number>;
  poll_at: number | null;
  empty_polls: Generated<number>;
  empty_since: number | null;
  announced_asks: number | null;
  overdue_since: number | null;
  answered_at: number | null;
  answered_service_at: Generated<number | null>;
  verify_at: Generated<number | null>;
  verify_until: Generated<number | null>;
  reason: string | null;
  is_unannounced: Generated<number>;
  entered_by: Generated<string | null>;
  /** 1: the office ordered the call, so planning does not take it back. */
  is_ordered: Generated<number>;
  created_at: number;
  updated_at: number;
};

/** Columns of the call of an inquiry; null: no call counts for it. */
type CurrentCall = {
  service_id: string | null;
  sent_at: number | null;
  sent_service_at: number | null;
  was_accepted: number | null;
  price_cents: number | null;
  charge_cents: number | null;
  free_outcomes: string | null;
  reply_group: string | null;
};

type DeliveryTable = {
  id: Generated<number>;
  key: string;
  connector: string;
  appointment: number;
  inquiry: number;
  record: number;
  coverage_rank: number;
  notes: string;
  coordination: Generated<string | null>;
  state: DeliveryState;
  batch: string | null;
  failures: Generated<number>;
  due_at: number;
  delivered_at: number | null;
  created_at: number;
};
