/**
 * The trace of a world, in a form that a person can follow. It costs little, because most traces
 * are never printed.
 */
export type Line = { at: number; who: string; text: string; about: readonly string[] };

/** A guarantee (G1 to G8) that a world broke; `about` are the IDs whose trace shows how. */
export class Broken extends Error {
  readonly guarantee: string;
  readonly about: readonly string[];

  constructor(guarantee: string, what: string, about: readonly string[] = []) {
    super(what);
    this.guarantee = guarantee;
    this.about = about;
  }
}

export class Story {
  readonly lines: Line[] = [];
  /** A running hash of the whole trace: two runs of one seed must have the same hash. */
  hash = 0x811c9dc5;

  tell(at: number, who: string, text: string, about: readonly string[] = []): void {
    this.lines.push({ at, who, text, about });
    const said = `${at}${who}${text}`;
    for (let index = 0; index < said.length; index += 1)
      this.hash = Math.imul(this.hash ^ said.charCodeAt(index), 0x01000193);
  }

  /** All lines, or those about one of `about` and those about everything. */
  text(about: readonly string[] | 'all'): string {
    const chosen =
      about === 'all' || about.length === 0
        ? this.lines
        : this.lines.filter(
            (line) => line.about.length === 0 || line.about.some((id) => about.includes(id)),
          );
    return chosen
      .map(
        ({ at, who, text }) =>
          `${new Date(at).toISOString().replace('T', ' ').slice(0, 23)}  ${who.padEnd(9)} ${text}`,
      )
      .join('\n');
  }
}
