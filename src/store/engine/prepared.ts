import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from './database.ts';

/** Stands in a compiled statement where a value of the run goes. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** What each run gives: a value for every name that the statement has a place for. */
type Values = Readonly<Record<string, unknown>>;

/** Makes the place of a value in the statement. */
type PlaceOf<Given extends Values> = <Name extends keyof Given & string>(
  name: Name,
) => RawBuilder<Given[Name]>;

/** What goes into the text itself: each combination is a statement of its own. */
type Constant = string | number;

/**
 * A statement that runs often: kysely builds and compiles it at the first run, and each run only
 * fills in its values. To build it again every time costs more than SQLite needs to run it.
 *
 * `Given` names the values of a run. `build` gets their places, and constants for what has to be in
 * the text (a limit, see `sql.lit`), which must be few, since each combination is kept. A list has
 * no place: its length would change the text. Returns what runs the statement and gives its rows.
 */
export function prepared<Given extends Values = Record<string, never>>() {
  return <Row, Constants extends readonly Constant[]>(
    build: (db: Db | Tx, place: PlaceOf<Given>, ...constants: Constants) => Compilable<Row>,
  ): ((db: Db | Tx, given: Given, ...constants: Constants) => Promise<Row[]>) => {
    const known = new Map<string, CompiledQuery<Row>>();
    const place: PlaceOf<Given> = (name) => sql`${new Place(name)}`;
    return async (db, given, ...constants) => {
      const key = constants.join('\n');
      const compiled = known.get(key) ?? build(db, place, ...constants).compile();
      known.set(key, compiled);
      const parameters = compiled.parameters.map((parameter) =>
        parameter instanceof Place ? given[parameter.name] : parameter,
      );
      return (await db.executeQuery<Row>({ ...compiled, parameters })).rows;
    };
  };
}
