/** Years of visits at once: copies the rows of the visits in a database. */
import Database from 'better-sqlite3';

const OF_INQUIRY = 'inquiry in (select inquiry from chosen)';

/** The rows that belong to the copied visits. */
const TABLES = {
  appointments: 'id in (select appointment from chosen)',
  inquiries: 'id in (select inquiry from chosen)',
  inquiry_appointments: OF_INQUIRY,
  calls: OF_INQUIRY,
  answers: OF_INQUIRY,
  records: OF_INQUIRY,
  deliveries: OF_INQUIRY,
};

/** Columns that identify a row, a patient, or a text, and must differ in each copy. */
const NUMBERED = ['id', 'inquiry', 'appointment', 'answer', 'record'];
const TEXTS = ['source_id', 'need_base', 'external_id', 'match_key', 'service_id', 'key'];
const PATIENTS = ['patient_key'];
const TIMES = ['starts_at', 'visit_at', 'sent_at', 'answered_at', 'received_at', 'delivered_at'];
/** The retention time. */
const DAYS = 400;
/** No visit is farther ahead. */
const AHEAD_DAYS = 14;
/** The remaining state of a visit that is over. */
const CLOSED: Readonly<Record<string, string>> = {
  closed_reason: `'past'`,
  closed_at: 'starts_at',
  plan_due_at: 'null',
  plan_wait: 'null',
};
const DAY_MS = 86_400_000;

/**
 * Copies the visits whose answers are written until there are `count`. Each copy is a day earlier;
 * after `days`, they begin again at the day of the original.
 */
export function growDatabase(file: string, count: number, days: number = DAYS): void {
  const raw = new Database(file);
  raw.pragma('synchronous = OFF');
  const one = (text: string) => raw.prepare(text).pluck().get() as number;
  raw.exec(`
    create temp table chosen as
      select l.appointment, l.inquiry from inquiry_appointments l
      join deliveries d on d.appointment = l.appointment and d.inquiry = l.inquiry
      where d.state = 'delivered' group by l.appointment having count(*) = 1`);
  const visits = one('select count(*) from chosen');
  const ids = one('select max(id) from audit');
  raw.exec(`
    create temp table copies as
      with recursive numbers (copy) as (
        select 1 union all select copy + 1 from numbers where (copy + 1) * ${visits} < ${count}
      ) select copy from numbers`);
  raw.transaction(() => {
    raw.pragma('defer_foreign_keys = ON');
    for (const [table, chosen] of Object.entries(TABLES)) {
      const names = raw.prepare(`select name from pragma_table_info('${table}')`).pluck();
      const columns = names.all() as string[];
      const values = columns.map((name) => copiedValue(name, ids, days));
      raw.exec(
        `insert into ${table} (${columns.join(', ')}) ` +
          `select ${values.join(', ')} from ${table}, copies where ${chosen}`,
      );
    }
  })();
  raw.close();
}

function copiedValue(name: string, ids: number, days: number): string {
  if (NUMBERED.includes(name)) return `${name} + copy * ${ids}`;
  if (TEXTS.includes(name) || PATIENTS.includes(name)) return `${name} || '-' || copy`;
  if (TIMES.includes(name)) return `${name} - copy % ${days} * ${DAY_MS}`;
  if (name in CLOSED) return `iif(copy % ${days} < ${AHEAD_DAYS}, ${name}, ${CLOSED[name]})`;
  return name;
}
