import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from './database.ts';

/**
 * A placeholder in a compiled statement for a value of each run; for lists and rows, with an index.
 */
class Place {
  readonly name: string;
  readonly index: number;

  constructor(name: string, index: number) {
    this.name = name;
    this.index = index;
  }
}

/** The values of a run, by placeholder name. */
type Values = Readonly<Record<string, unknown>>;

/** Creates the placeholder of a value; for a list, with parentheses. */
type PlaceOf<Given extends Values> = <Name extends keyof Given & string>(
  name: Name,
) => RawBuilder<Given[Name] extends readonly (infer Each)[] ? Each : Given[Name]>;

type PlacesOf<Given extends Values> = { [Name in keyof Given]: RawBuilder<Given[Name]> };

/** A constant in the statement text: each combination is a separate statement. */
type Constant = string | number;

/**
 * The maximum number of rows in one statement, so that a few statements cover any number of rows.
 */
const ROWS_PER_STATEMENT = 64;

/**
 * Prepares a statement that runs often. Kysely builds and compiles it at the first run, and later
 * runs only fill in their values: building it each time costs more than SQLite needs to run it.
 *
 * `Given` names the values of a run. `build` receives their placeholders, and constants that must
 * be in the text (a limit, see `sql.lit`). There must be few constants, since each combination is
 * cached. A list belongs after `in` and must not be empty; its last value is repeated up to the
 * next power of two, so that a few statements cover all lengths. Returns a function that runs the
 * statement and returns its rows.
 */
export function prepared<Given extends Values = Record<string, never>>() {
  return <Row, Constants extends readonly Constant[]>(
    build: (db: Db | Tx, place: PlaceOf<Given>, ...constants: Constants) => Compilable<Row>,
  ): ((db: Db | Tx, given: Given, ...constants: Constants) => Promise<Row[]>) => {
    const known = new Map<string, CompiledQuery<Row>>();
    return async (db, given, ...constants) => {
      const key = [...constants, ...lengthsOf(given)].join('\n');
      let compiled = known.get(key);
      if (compiled === undefined) {
        compiled = build(db, (name) => placeOf(name, given[name]), ...constants).compile();
        known.set(key, compiled);
      }
      return await run(db, compiled, ({ name, index }) => {
        const value = given[name];
        return Array.isArray(value) ? value[Math.min(index, value.length - 1)] : value;
      });
    };
  };
}

/**
 * Prepares a statement for rows. `build` receives the placeholders of as many rows as one statement
 * writes. The returned function takes any number of rows with the same columns, throws if the
 * columns differ, and returns the statements' results in order.
 */
export function preparedRows<Given extends Values>() {
  return <Row>(
    build: (db: Db | Tx, rows: readonly PlacesOf<Given>[]) => Compilable<Row>,
  ): ((db: Db | Tx, rows: readonly Given[]) => Promise<Row[]>) => {
    const known = new Map<string, CompiledQuery<Row>>();
    return async (db, rows) => {
      const columns = columnsOf(rows);
      const results: Row[] = [];
      for (let first = 0; first < rows.length; ) {
        const power = 2 ** Math.floor(Math.log2(rows.length - first));
        const part = rows.slice(first, first + Math.min(ROWS_PER_STATEMENT, power));
        const key = [part.length, columns].join('\n');
        const compiled = known.get(key) ?? build(db, part.map(placesOf)).compile();
        known.set(key, compiled);
        results.push(...(await run(db, compiled, ({ name, index }) => part[index]?.[name])));
        first += part.length;
      }
      return results;
    };
  };
}

/** Prepares a statement without values and results, such as a savepoint. */
export function preparedText(text: string): (tx: Tx) => Promise<void> {
  const runText = prepared()((tx) => ({ compile: () => sql.raw<never>(text).compile(tx) }));
  return async (tx) => void (await runText(tx, {}));
}

/**
 * Runs a compiled statement. Inside a transaction it runs at once: the transaction owns the
 * connection, and waiting costs more than a short statement. Outside, a read waits for Kysely's
 * turn, because it must not see uncommitted data.
 */
async function run<Row>(
  db: Db | Tx,
  compiled: CompiledQuery<Row>,
  fill: (place: Place) => unknown,
): Promise<Row[]> {
  const parameters = compiled.parameters.map((each) => (each instanceof Place ? fill(each) : each));
  const database = 'after' in db ? db.database : undefined;
  if (database === undefined) return (await db.executeQuery<Row>({ ...compiled, parameters })).rows;
  const statement = database.prepare(compiled.sql);
  if (statement.reader) return statement.all(parameters) as Row[];
  statement.run(parameters);
  return [];
}

/** Returns the name and length of each list; names, because callers pass them in any order. */
function lengthsOf(given: Values): string[] {
  const lengths: string[] = [];
  for (const name in given) {
    const value = given[name];
    if (Array.isArray(value)) lengths.push(`${name} ${paddedLength(value)}`);
  }
  return lengths;
}

/**
 * Returns the columns of the rows. Throws if they differ, because one statement writes the same
 * columns for all.
 */
function columnsOf(rows: readonly Values[]): string {
  const columns = Object.keys(rows[0] ?? {});
  for (const row of rows) {
    let count = 0;
    for (const column in row) {
      if (column !== columns[count]) throw new Error(DIFFERENT_COLUMNS);
      count += 1;
    }
    if (count !== columns.length) throw new Error(DIFFERENT_COLUMNS);
  }
  return columns.join('\n');
}

const DIFFERENT_COLUMNS = 'The rows of one statement differ in their columns.';

const paddedLength = (list: readonly unknown[]): number =>
  2 ** Math.ceil(Math.log2(Math.max(1, list.length)));

function placeOf<Value>(name: string, given: unknown): RawBuilder<Value> {
  if (!Array.isArray(given)) return sql`${new Place(name, 0)}`;
  const places = Array.from({ length: paddedLength(given) }, (_, index) => new Place(name, index));
  return sql`(${sql.join(places)})`;
}

function placesOf<Given extends Values>(row: Given, index: number): PlacesOf<Given> {
  const places = Object.keys(row).map((name) => [name, sql`${new Place(name, index)}`]);
  return Object.fromEntries(places) as PlacesOf<Given>;
}
