/**
 * Detects messages about a visit that arrive after newer messages of the same sender, for example
 * from a replayed queue. They are recorded in the visit's history and change nothing.
 */
import { appointmentSubject, writeAudit } from '../bookkeeping/audit.ts';
import type { Tx } from '../engine/database.ts';
import { IDS_PER_STATEMENT, knownAppointments } from './appointments.ts';

/** The parts of a message that determine its age. */
type Timed = {
  source: { written?: { at: string; by: string } };
  appointments: readonly { source_id: string }[];
  cancelled_ids?: readonly string[];
};

/** When each sender wrote its latest message about each visit. */
export class MessageTimes {
  readonly #tx: Tx;
  readonly #connector: string;
  /** By visit and sender: when the latest message was written. */
  readonly #latest: Map<string, number>;
  readonly #changed = new Set<string>();

  private constructor(tx: Tx, connector: string, latest: Map<string, number>) {
    this.#tx = tx;
    this.#connector = connector;
    this.#latest = latest;
  }

  /** Reads what is known about every visit in the messages. */
  static async read(tx: Tx, connector: string, messages: readonly Timed[]): Promise<MessageTimes> {
    const ids = [
      ...new Set(messages.filter(({ source }) => source.written !== undefined).flatMap(visitsOf)),
    ];
    const latest = new Map<string, number>();
    for (let first = 0; first < ids.length; first += IDS_PER_STATEMENT) {
      const rows = await tx
        .selectFrom('visit_messages')
        .select(['source_id', 'sender', 'written_at'])
        .where('connector', '=', connector)
        .where('source_id', 'in', ids.slice(first, first + IDS_PER_STATEMENT))
        .execute();
      for (const { source_id, sender, written_at } of rows)
        latest.set(keyOf(source_id, sender), written_at);
    }
    return new MessageTimes(tx, connector, latest);
  }

  /** Returns whether the same sender has already sent a newer message about one of these visits. */
  isLate(message: Timed): boolean {
    const { written } = message.source;
    if (written === undefined) return false;
    const at = Date.parse(written.at);
    return visitsOf(message).some(
      (source_id) => (this.#latest.get(keyOf(source_id, written.by)) ?? 0) > at,
    );
  }

  /** Counts the message as the sender's latest about its visits; `write` stores that. */
  note(message: Timed): void {
    const { written } = message.source;
    if (written === undefined) return;
    for (const source_id of visitsOf(message)) {
      const key = keyOf(source_id, written.by);
      this.#latest.set(key, Math.max(this.#latest.get(key) ?? 0, Date.parse(written.at)));
      this.#changed.add(key);
    }
  }

  /** Records in the histories of the visits that the message came late. */
  async recordLate(message: Timed, now: number): Promise<void> {
    const known = await knownAppointments(this.#tx, this.#connector, visitsOf(message));
    await writeAudit(
      this.#tx,
      [...known.values()].map(({ id }) => ({
        at: now,
        subject: appointmentSubject(id),
        from_state: null,
        to_state: 'unchanged',
        reason:
          'A message came late: its sender wrote it before one that eligd has read already ' +
          `(${message.source.written?.at ?? ''}). It changed nothing.`,
      })),
    );
  }

  /** Stores the times that `note` has changed. */
  async write(): Promise<void> {
    const values = [...this.#changed].map((key) => {
      const [source_id = '', sender = ''] = JSON.parse(key) as string[];
      const written_at = this.#latest.get(key) ?? 0;
      return { connector: this.#connector, source_id, sender, written_at };
    });
    for (let first = 0; first < values.length; first += IDS_PER_STATEMENT)
      await this.#tx
        .insertInto('visit_messages')
        .values(values.slice(first, first + IDS_PER_STATEMENT))
        .onConflict((conflict) =>
          conflict
            .columns(['connector', 'source_id', 'sender'])
            .doUpdateSet(({ ref }) => ({ written_at: ref('excluded.written_at') })),
        )
        .execute();
  }
}

const visitsOf = ({ appointments, cancelled_ids = [] }: Timed): string[] => [
  ...appointments.map(({ source_id }) => source_id),
  ...cancelled_ids,
];

const keyOf = (source_id: string, sender: string) => JSON.stringify([source_id, sender]);
