/**
 * Files in the drop folder, through the real connector into a real database: any file goes to
 * processed/ or rejected/, every accepted row can be stored, and eligd reads the good file next to
 * it (G2, G7).
 */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIRECT_NETWORK } from '../../connectors/conformance/network.ts';
import type { ConnectorEnv, PullBatch } from '../../connectors/contract.ts';
import csv from '../../connectors/csv/index.ts';
import { realClock } from '../../src/ops/env.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { exportOf, visits } from '../support/visits.ts';
import { must, type Target } from './target.ts';

const HEADER =
  'appointment_id,appointment_at,status,patient_id,patient_name,dob,carrier,payor_id,member_id';
const GOOD =
  'appointment_id,appointment_at,patient_id,patient_name,dob,carrier,payor_id,member_id\n';

export async function csvTarget(): Promise<Target> {
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'eligd-fuzz-'));
  const store = await openStore(join(root, 'eligd.db'));
  const at = (...parts: string[]) => join(root, 'dropbox', ...parts);
  const env: ConnectorEnv = {
    connector_id: 'fuzz',
    time_zone: 'America/Chicago',
    resolvePath: (path) => path,
    network: DIRECT_NETWORK,
    readKeyFile: (path) => readFile(path),
    secret: (name) => ({ name, value: null }),
    journal: { read: async () => null, write: async () => {} },
    clock: realClock,
    random: Math.random,
    log: () => {},
  };
  const connector = csv.create(csv.config.parse({ folder: at(), stable_seconds: 0 }), env);
  mkdirSync(at('inbox'), { recursive: true });
  let last = 0;
  const take = async (batch: PullBatch) => {
    for (const one of batch.appointments) {
      must(one.source_id !== '', 'An appointment has no id.');
      must(
        new Date(one.starts_at).toISOString() === one.starts_at,
        'The start of an appointment is no time.',
      );
      must(
        one.patient.birth_date === null || /^\d{4}-\d{2}-\d{2}$/.test(one.patient.birth_date),
        'A birth date is not a date.',
      );
    }
    for (const { position, remedy } of batch.rejected)
      must(position !== '' && remedy !== '', 'A rejection says nothing.');
    await store.write((tx) => acceptBatch(tx, 'fuzz', batch, Date.now()));
  };
  const check = async (input: Buffer): Promise<string> => {
    last += 1;
    const good_id = `GOOD-${last}`;
    writeFileSync(at('inbox', 'a-fuzzed.csv'), input);
    writeFileSync(
      at('inbox', 'b-good.csv'),
      `${GOOD}${good_id},2031-01-07 10:00,P-1,"Doe, Ann",1980-02-03,Delta,12345,W1\n`,
    );
    const seen = new Set<string>();
    const words = new Set<string>();
    const accept = async (batch: PullBatch) => {
      await take(batch);
      for (const { source_id } of batch.appointments) seen.add(source_id);
      for (const { problems } of batch.appointments)
        for (const { value_class } of problems) words.add(value_class);
      for (const { value_class } of batch.rejected) words.add(value_class);
    };
    const signal = new AbortController().signal;
    for (let pulls = 0; pulls < 2; pulls += 1)
      await connector.pull?.({ cursor: null, signal, accept, isAccepted: async () => false });
    for (const part of ['inbox', 'processing'])
      must(
        readdirSync(at(part)).filter((name) => name.endsWith('.csv')).length === 0,
        `A file stays in ${part}/.`,
      );
    must(seen.has(good_id), 'The good file next to it was not read.');
    const fate = readdirSync(at('rejected')).length > 0 ? 'rejected' : 'processed';
    for (const part of ['processed', 'rejected'])
      rmSync(at(part), { recursive: true, force: true });
    for (const part of ['processed', 'rejected']) mkdirSync(at(part));
    return [fate, Math.min(3, seen.size), ...[...words].sort()].join(' ');
  };
  return {
    name: 'csv',
    seeds: [
      exportOf(visits(3)),
      `${HEADER}\nA1,01/07/2031 9:30 AM,booked,P1,"Doe, Ann",02/03/1980,Delta,12345,W1\n`,
      `\ufeff${HEADER.replaceAll(',', ';')}\r\nA1;2031-01-07T09:30;x;P1;Ann;1980-02-03;;;\r\n`,
      'claim_id,date_of_service,patient_id,patient_name,dob,carrier,member_id,claim_number,' +
        'billed_amount\nC1,2030-12-01,P1,Ann ' +
        '' +
        'Doe,1980-02-03,Delta,W1,77,"1,500.00"\n',
    ],
    // biome-ignore format: a list of words reads better in lines than in a column
    telling: [
      ',', ';', '\t', '"', '""', '\n', '\r\n', '\r', '\0', '\ufeff', '\ufffe', 'é', '\u2028',
      '2031-02-30', '02/29/2031', '=1+1', '__proto__', 'cancelled', 'appointment_id', 'A1',
      '99999999999999999999', '24:00', '😀',
    ],
    check,
    close: async () => {
      await store.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
