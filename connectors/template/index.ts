/**
 * A complete connector, as small as possible: appointments arrive as JSON files in `in/`, and
 * records leave as JSON files in `out/`. It passes the suite. Copy the folder, rename it, and
 * replace the parts about files; `connectors/README.md` explains how.
 */
import { createHash } from 'node:crypto';
import { access, mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { errorCode } from '../../src/domain/errors.ts';
import type {
  Connector,
  ConnectorEnv,
  ConnectorType,
  PullBatch,
  PullCall,
  RejectedItem,
} from '../contract.ts';
import { ConnectorError } from '../contract.ts';
import { templateAppointmentSchema, toAppointment } from './appointments.ts';

// Describe every key: the descriptions become the documentation. Strict: a misspelled key is an
// error.
const configSchema = z.strictObject({
  folder: z
    .string()
    .min(1)
    .describe('The folder for in/, done/, and out/, which are created if missing.'),
});
type Config = z.infer<typeof configSchema>;

const template: ConnectorType<Config> = {
  name: 'template',
  config: configSchema,
  // Leave it out where files arrive with each change instead of at usual hours.
  has_exports: true,
  create,
};
export default template;

const BATCH_SIZE = 500;

function create(config: Config, env: ConnectorEnv): Connector {
  const folder = env.resolvePath(config.folder);
  return {
    pull: async (call) => {
      await prepare(folder);
      for (const name of (await readdir(join(folder, 'in'))).sort()) {
        call.signal.throwIfAborted();
        if (name.endsWith('.json')) await takeFile(folder, name, call);
      }
    },
    deliver: async (batch, signal) => {
      await prepare(folder);
      for (const delivery of batch.deliveries) {
        signal.throwIfAborted();
        // The key is stable, so writing again replaces the file (G4).
        await writeJson(join(folder, 'out', `${delivery.key}.json`), delivery);
      }
      return batch.deliveries.map(({ key }) => ({ key, outcome: 'delivered' }));
    },
    publishAttention: async (entries) => {
      await prepare(folder);
      await writeJson(join(folder, 'out', 'attention.json'), await Array.fromAsync(entries));
    },
    check: async () => {
      try {
        await access(folder);
        return [{ ok: true, what: 'The folder is there.' }];
      } catch {
        return [
          {
            ok: false,
            what: 'The folder does not exist.',
            next: 'Create it, or correct "folder:".',
          },
        ];
      }
    },
  };
}

async function takeFile(
  folder: string,
  name: string,
  { accept, isAccepted }: PullCall,
): Promise<void> {
  const path = join(folder, 'in', name);
  const content = await readFile(path);
  const key = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  if (!(await isAccepted(key))) {
    for (const batch of batchesOf({ key, name }, readItems(content))) await accept(batch);
  }
  // Moved last: while the file is in `in/`, it is read again after a crash (G3).
  await rename(path, join(folder, 'done', name));
}

/**
 * Returns the items of a file. A file that is not a list is one bad item, which goes on the
 * attention list.
 */
function readItems(content: Buffer): unknown[] {
  try {
    const items: unknown = JSON.parse(content.toString());
    return Array.isArray(items) ? items : [items];
  } catch {
    return [null];
  }
}

/**
 * Returns at least one batch, with the last one marked. An unreadable item is rejected alone and
 * never blocks its neighbors (G7).
 */
function batchesOf(source: { key: string; name: string }, items: readonly unknown[]): PullBatch[] {
  const batches: PullBatch[] = [];
  for (let from = 0; from === 0 || from < items.length; from += BATCH_SIZE) {
    const appointments: AppointmentInput[] = [];
    const rejected: RejectedItem[] = [];
    for (const [i, item] of items.slice(from, from + BATCH_SIZE).entries()) {
      const read = templateAppointmentSchema.safeParse(item);
      if (read.success) appointments.push(toAppointment(read.data));
      else rejected.push(rejectedItem(from + i + 1, read.error));
    }
    const is_last = from + BATCH_SIZE >= items.length;
    batches.push({
      source: { ...source, is_last, completeness: 'changes' },
      appointments,
      rejected,
      cursor: null,
    });
  }
  return batches;
}

/** Names the field and the kind of value, never the value (G6). */
function rejectedItem(number: number, error: z.ZodError): RejectedItem {
  const field = error.issues[0]?.path.join('.') || 'item';
  return {
    position: `item ${number}`,
    field,
    value_class: 'not as expected',
    remedy: 'Correct it in the practice management system.',
  };
}

async function prepare(folder: string): Promise<void> {
  try {
    for (const part of ['in', 'done', 'out']) await mkdir(join(folder, part), { recursive: true });
  } catch (error) {
    const what = `The folder cannot be made (${errorCode(error) ?? 'unknown'}).`;
    throw new ConnectorError('permanent', {
      what,
      next: 'Check "folder:" and its permissions.',
      cause: error,
    });
  }
}

/** Writes atomically: a reader never sees half a file. */
async function writeJson(path: string, value: unknown): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
