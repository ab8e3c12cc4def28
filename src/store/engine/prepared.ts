import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from './database.ts';
import type { Tables } from './tables.ts';

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
      const values = filled(compiled, ({ name, index }) => {
        const value = given[name];
        return Array.isArray(value) ? value[Math.min(index, value.length - 1)] : value;
      });
      return await run(db, compiled, values);
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
    const known = new Map<string, { compiled: CompiledQuery<Row>; is_in_order: boolean }>();
    const prepareFor = (db: Db | Tx, part: readonly Given[]) => {
      const compiled = build(db, part.map(placesOf)).compile();
      return { compiled, is_in_order: isInOrder(compiled.parameters, part) };
    };
    return async (db, rows) => {
      const columns = columnsOf(rows);
      const results: Row[] = [];
      for (let first = 0; first < rows.length; ) {
        const power = 2 ** Math.floor(Math.log2(rows.length - first));
        const part = rows.slice(first, first + Math.min(ROWS_PER_STATEMENT, power));
        const key = [part.length, columns].join('\n');
        const { compiled, is_in_order } = known.get(key) ?? prepareFor(db, part);
        known.set(key, { compiled, is_in_order });
        const values = is_in_order
          ? valuesOf(part)
          : filled(compiled, ({ name, index }) => part[index]?.[name]);
        results.push(...(await run(db, compiled, values)));
        first += part.length;
      }
      return results;
    };
  };
}

/**
 * Prepares an update of rows of `table`, each with its own values, by `id`. With `guard`, a row is
 * updated only if that column still has the value `was`. Returns the IDs of the updated rows.
 */
export function preparedUpdate<Given extends Values & { id: number; was?: unknown }>(
  table: keyof Tables,
  guard?: string,
): (db: Db | Tx, rows: readonly Given[]) => Promise<{ id: number }[]> {
  const given = (column: string) => sql.ref(`given.${column}`);
  const own = (column: string) => sql.ref(`${table}.${column}`);
  return preparedRows<Given>()((db, rows) => {
    const columns = Object.keys(rows[0] ?? {});
    const names = sql.join(columns.map((column) => sql.ref(column)));
    const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
    const set = columns
      .filter((column) => column !== 'id' && column !== 'was')
      .map((column) => sql`${sql.ref(column)} = ${given(column)}`);
    const unchanged = guard === undefined ? sql`` : sql`and ${own(guard)} = ${given('was')}`;
    const statement = sql<{ id: number }>`
      with given(${names}) as (values ${sql.join(values)})
      update ${sql.table(table)} set ${sql.join(set)} from given
      where ${own('id')} = ${given('id')} ${unchanged} returning ${sql.ref('id')}`;
    return { compile: () => statement.compile(db) };
  });
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
  parameters: readonly unknown[],
): Promise<Row[]> {
  const database = 'after' in db ? db.database : undefined;
  if (database === undefined) return (await db.executeQuery<Row>({ ...compiled, parameters })).rows;
  const statement = database.prepare(compiled.sql);
  if (statement.reader) return statement.all(parameters) as Row[];
  statement.run(parameters);
  return [];
}

/** Returns the parameters of a run: the value of each placeholder, and the constants. */
const filled = <Row>(
  { parameters }: CompiledQuery<Row>,
  valueIn: (place: Place) => unknown,
): unknown[] => parameters.map((each) => (each instanceof Place ? valueIn(each) : each));

/** Returns whether the parameters are the values of the rows, one row after another. */
function isInOrder(parameters: readonly unknown[], rows: readonly Values[]): boolean {
  const names = Object.keys(rows[0] ?? {});
  const isNext = (each: unknown, at: number) =>
    each instanceof Place &&
    each.index === Math.floor(at / names.length) &&
    each.name === names[at % names.length];
  return parameters.length === rows.length * names.length && parameters.every(isNext);
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

/** Returns the values of the rows, one row after another. A loop takes half the time of flatMap. */
function valuesOf(rows: readonly Values[]): unknown[] {
  const values: unknown[] = [];
  for (const row of rows) for (const name in row) values.push(row[name]);
  return values;
}

/**
 * Returns the columns of the rows. Throws if they differ, because one statement writes the same
 * columns for all.
 */
function columnsOf(rows: readonly Values[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const is_like_first = (row: Values) => {
    let known = 0;
    for (const name in row) {
      if (name !== columns[known]) return false;
      known += 1;
    }
    return known === columns.length;
  };
  if (rows.every(is_like_first)) return columns.join('\n');
  throw new Error('The rows of one statement differ in their columns.');
}

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
