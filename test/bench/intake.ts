/** A child of the bench: one export, from its file to committed rows, or with csv-parse alone. */

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { DIRECT_NETWORK } from '../../connectors/conformance/network.ts';
import csv from '../../connectors/csv/index.ts';
import { realClock } from '../../src/ops/env.ts';
import { keepHeapSmall } from '../../src/ops/heap.ts';
import { newConnectorState } from '../../src/stages/connector-state.ts';
import { pullStep } from '../../src/stages/pull/index.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { jobOfChild, stopwatch } from './measure.ts';

/** `eligd` moves `file` into the drop folder. */
export type IntakeJob = { reader: 'eligd' | 'csv-parse'; file: string };
export type IntakeResult = {
  rows: number;
  duration_ms: number;
  cpu_ms: number;
  rss_mb: number;
};

keepHeapSmall();
const { reader, file } = jobOfChild<IntakeJob>();
const read = reader === 'eligd' ? await throughEligd() : throughCsvParse();
// The most memory that the process ever had; libuv gives kilobytes on Linux and macOS.
const result: IntakeResult = { ...read, rss_mb: process.resourceUsage().maxRSS / 1024 };
process.stdout.write(JSON.stringify(result));

async function throughEligd(): Promise<Omit<IntakeResult, 'rss_mb'>> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-'));
  const store = await openStore(join(folder, 'eligd.db'));
  try {
    mkdirSync(join(folder, 'inbox'));
    renameSync(file, join(folder, 'inbox', 'export.csv'));
    const env = { clock: realClock, random: Math.random, log: () => {} };
    const connector = csv.create(csv.config.parse({ folder, stable_seconds: 0 }), {
      ...env,
      connector_id: 'front-desk',
      time_zone: 'America/Chicago',
      resolvePath: (path) => path,
      network: DIRECT_NETWORK,
      readKeyFile: (path) => readFile(path),
      secret: (name) => ({ name, value: null }),
      journal: { read: async () => null, write: async () => {} },
    });
    const took = stopwatch();
    await pullStep(
      {
        store,
        env,
        connector_id: 'front-desk',
        connector,
        state: newConnectorState(),
        messages: null,
        onAccepted: () => {},
      },
      new AbortController().signal,
    );
    const times = took();
    const { count } = await store.db
      .selectFrom('appointments')
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return { rows: count, ...times };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

function throughCsvParse(): Omit<IntakeResult, 'rss_mb'> {
  const took = stopwatch();
  const records: string[][] = parse(readFileSync(file), { bom: true });
  return { rows: records.length - 1, ...took() };
}
