import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from './database.ts';

/** Stands in a compiled statement where a value of the run goes; of a list or of rows: which. */
class Place {
  readonly name: string;
  readonly index: number;

  constructor(name: string, index: number) {
    this.name = name;
    this.index = index;
  }
}

/** What each run gives: a value for every name that the statement has a place for. */
type Values = Readonly<Record<string, unknown>>;

/** Makes the place of a value in the statement; that of a list has its parentheses. */
type PlaceOf<Given extends Values> = <Name extends keyof Given & string>(
  name: Name,
) => RawBuilder<Given[Name] extends readonly (infer Each)[] ? Each : Given[Name]>;

type PlacesOf<Given extends Values> = { [Name in keyof Given]: RawBuilder<Given[Name]> };

/** What goes into the text itself: each combination is a statement of its own. */
type Constant = string | number;

/** How many rows one statement writes at most, so that few texts serve all numbers of rows. */
const ROWS_PER_STATEMENT = 64;

/**
 * A statement that runs often: kysely builds and compiles it at the first run, and each run only
 * fills in its values. To build it again every time costs more than SQLite needs to run it.
 *
 * `Given` names the values of a run. `build` gets their places, and constants for what has to be in
 * the text (a limit, see `sql.lit`), which must be few, since each combination is kept. A list goes
 * behind `in` and must not be empty; its last value is repeated up to the next power of two, so
 * that few texts serve all lengths. Returns what runs the statement and gives its rows.
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
 * The same for rows: `build` gets the places of the values of as many rows as one statement writes,
 * and what runs it takes any number of rows, all with the same columns: it throws when they differ.
 * Returns what the statements give, in order.
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

/** A statement that takes no values and gives no rows, such as a savepoint's. */
export function preparedText(text: string): (tx: Tx) => Promise<void> {
  const runText = prepared()((tx) => ({ compile: () => sql.raw<never>(text).compile(tx) }));
  return async (tx) => void (await runText(tx, {}));
}

/**
 * Inside a transaction the statement runs at once: the connection is the transaction's alone, and
 * to wait for it costs more than a short statement. A read outside of one takes kysely's turn,
 * because it must not see what a transaction has not committed yet.
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

/** Of each list its name, since callers name them in any order, and its length. */
function lengthsOf(given: Values): string[] {
  const lengths: string[] = [];
  for (const name in given) {
    const value = given[name];
    if (Array.isArray(value)) lengths.push(`${name} ${paddedLength(value)}`);
  }
  return lengths;
}

/** Which columns all rows have. Throws when they differ: a statement has the same in each. */
function columnsOf(rows: readonly Values[]): string {
  const [first = '', ...others] = new Set(rows.map((row) => Object.keys(row).join('\n')));
  if (others.length > 0) throw new Error('The rows of one statement differ in their columns.');
  return first;
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
