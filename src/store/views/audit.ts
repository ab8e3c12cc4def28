/**
 * What users did and viewed, for `eligd audit show`; without texts, which may contain patient data.
 */
import { sql } from 'kysely';
import { appointmentHash } from '../../domain/appointment-hash.ts';
import { storedSaysWho } from '../../domain/says-who.ts';
import { appointmentSubject, inquirySubject } from '../bookkeeping/audit.ts';
import { patientHash } from '../bookkeeping/chain.ts';
import { patientSubject, storedOfPatient } from '../bookkeeping/legal-holds.ts';
import { knownLogKey } from '../bookkeeping/log-key.ts';
import type { Db } from '../engine/database.ts';

/** The subjects of a patient of a PMS: every visit and call that is still stored. */
export type PatientSubjects = {
  /** As in the audit trail: `appointment:12`, `inquiry:3`. */
  subjects: string[];
  /** As in the access log. */
  looked_at: string[];
  patients: string[];
};

type AuditFilter = {
  /** All forms of the name (`actorsCalled`); omitted: all actors. */
  actors?: readonly string[];
  /** If set, eligd's own steps are included. */
  about?: PatientSubjects;
  /** Epoch milliseconds. */
  from: number;
  before: number;
};

export type TrailRow = {
  kind: 'did' | 'saw';
  at: number;
  actor: string | null;
  /** The step, or the page or command that showed the record. */
  what: string;
  /** `appointment:12`; for a view, the keyed hash of the appointment. */
  subject: string;
};

/** Returns the rows, newest first. */
export async function readTrail(db: Db, filter: AuditFilter, limit: number): Promise<TrailRow[]> {
  const rows = [...(await steps(db, filter, limit)), ...(await looks(db, filter, limit))];
  return rows.toSorted((a, b) => b.at - a.at).slice(0, limit);
}

async function steps(db: Db, filter: AuditFilter, limit: number): Promise<TrailRow[]> {
  const { actors, about, from, before } = filter;
  let query = db
    .selectFrom('audit')
    .select(['at', 'actor', 'subject', 'from_state', 'to_state'])
    .where('at', '>=', from)
    .where('at', '<', before)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(limit));
  query =
    about === undefined
      ? query.where('actor', 'is not', null)
      : query.where('subject', 'in', about.subjects);
  if (actors !== undefined) query = query.where('actor', 'in', actors);
  const rows = await query.execute();
  return rows.map(({ at, actor, subject, from_state, to_state }) => {
    const is_step = from_state !== null && from_state !== to_state;
    const what = is_step ? `${from_state} to ${to_state}` : to_state;
    return { kind: 'did', at, actor, what, subject };
  });
}

async function looks(db: Db, filter: AuditFilter, limit: number): Promise<TrailRow[]> {
  const { actors, about, from, before } = filter;
  let query = db
    .selectFrom('access_log')
    .select(['at', 'actor', 'page', 'subject'])
    .where('at', '>=', from)
    .where('at', '<', before)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(limit));
  if (actors !== undefined) query = query.where('actor', 'in', actors);
  if (about !== undefined)
    query = query.where((where) =>
      where.or([where('patient', 'in', about.patients), where('subject', 'in', about.looked_at)]),
    );
  const rows = await query.execute();
  return rows.map(({ page, ...row }) => ({ kind: 'saw', what: page, ...row }));
}

/**
 * Returns the subjects in the logs for a patient with this PMS ID at one of `connectors`. Views of
 * the patient's records are found even after the visits are purged.
 */
export async function subjectsOfPatient(
  db: Db,
  patient_id: string,
  connectors: readonly string[],
): Promise<PatientSubjects> {
  const visits = [];
  const subjects = [];
  for (const connector of connectors) {
    const stored = await storedOfPatient(db, { connector, patient_id });
    visits.push(...stored.visits);
    subjects.push(...stored.subjects);
  }
  const key = await knownLogKey(db);
  if (key === null) return { subjects, looked_at: [], patients: [] };
  const patients = connectors.map((each) => patientHash(key, each, patient_id));
  subjects.push(...connectors.map((connector) => patientSubject(key, { connector, patient_id })));
  return { subjects, looked_at: hashesOf(visits, key), patients };
}

/** Returns the subjects in the logs for one visit. */
export async function subjectsOfVisit(db: Db, id: number): Promise<PatientSubjects> {
  const visits = await db
    .selectFrom('appointments')
    .select(['id', 'connector', 'source_id'])
    .where('id', '=', id)
    .execute();
  const links = await db
    .selectFrom('inquiry_appointments')
    .select('inquiry')
    .where('appointment', '=', id)
    .execute();
  const subjects = [appointmentSubject(id), ...links.map(({ inquiry }) => inquirySubject(inquiry))];
  const key = await knownLogKey(db);
  return { subjects, looked_at: key === null ? [] : hashesOf(visits, key), patients: [] };
}

type Visit = { id: number; connector: string; source_id: string };

const hashesOf = (visits: readonly Visit[], key: string) =>
  visits.map(({ connector, source_id }) => appointmentHash(key, connector, source_id));

/** Returns the visits that the keyed hashes identify, by hash, without purged ones. */
export async function visitsOfHashes(
  db: Db,
  hashes: ReadonlySet<string>,
): Promise<Map<string, Visit & { is_named: boolean }>> {
  const found = new Map<string, Visit & { is_named: boolean }>();
  const key = await knownLogKey(db);
  if (key === null || hashes.size === 0) return found;
  const visits = await db
    .selectFrom('appointments')
    .select(['id', 'connector', 'source_id', 'content'])
    .where('superseded_at', 'is', null)
    .execute();
  for (const visit of visits) {
    const hash = appointmentHash(key, visit.connector, visit.source_id);
    if (!hashes.has(hash)) continue;
    const is_named = storedSaysWho(visit.source_id, visit.content);
    found.set(hash, { ...visit, is_named });
  }
  return found;
}
