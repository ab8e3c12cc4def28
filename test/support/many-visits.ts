import Database from 'better-sqlite3';

/** Columns that name a row, and columns that point to a row of another table. */
const NUMBERED: Readonly<Record<string, readonly string[]>> = {
  appointments: ['id'],
  inquiries: ['id'],
  inquiry_appointments: ['inquiry', 'appointment'],
  answers: ['id', 'inquiry'],
  records: ['id', 'inquiry', 'answer'],
  deliveries: ['id', 'appointment', 'inquiry', 'record'],
};
const NAMED: Readonly<Record<string, readonly string[]>> = {
  appointments: ['source_id'],
  inquiries: ['need_base', 'external_id', 'service_id', 'match_key'],
  deliveries: ['key'],
};
const STEP = 1_000;

/**
 * Fills the database at `path` with copies of every visit in it, `times` of them: what years in a
 * clinic make, in a second. Every ID of the original is below 1000.
 */
export function multiplyVisits(path: string, times: number): void {
  const raw = new Database(path);
  raw.pragma('foreign_keys = OFF');
  const columnsOf = (table: string) =>
    (raw.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
  raw.transaction(() => {
    for (const table of Object.keys(NUMBERED)) {
      const columns = columnsOf(table);
      const values = columns.map((name) => {
        if (NUMBERED[table]?.includes(name)) return `${name} + ${STEP} * n`;
        if (NAMED[table]?.includes(name)) return `${name} || '-' || n`;
        return name;
      });
      raw.exec(
        `with recursive copies(n) as (select 1 union all select n + 1 from copies where n < ${times})
         insert into ${table} (${columns.join(', ')})
         select ${values.join(', ')} from ${table}, copies where ${columns[0]} < ${STEP}`,
      );
    }
  })();
  raw.close();
}
