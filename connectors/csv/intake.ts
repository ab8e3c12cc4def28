/** Takes one claimed file from its first byte to `processed/` or `rejected/`. */
import { basename, join } from 'node:path';
import type { AppointmentInput, FieldProblem } from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import { ConnectorError, type PullBatch, type PullCall, type RejectedItem } from '../contract.ts';
import { AppointmentRows } from './appointment-rows.ts';
import { type ClaimMapper, ClaimRows, claimMapper, type MappedClaim } from './claim-rows.ts';
import type { RowKind } from './columns.ts';
import { type CsvConfig, readingFingerprint } from './config.ts';
import { type Encoding, readText, type Survey, surveyFile } from './decode.ts';
import type { CsvEnv } from './events.ts';
import {
  type Folder,
  freeName,
  isSameFile,
  lookAt,
  moveFile,
  rowKindOf,
  type SeenFile,
} from './folder.ts';
import { findLayout, type Layout } from './layout.ts';
import { ReasonsFile } from './reasons.ts';
import { type Row, RowReader } from './records.ts';
import { type MappedRow, type RowMapper, rowMapper } from './rows.ts';

const ROWS_PER_BATCH = 1000;

type Intake = {
  config: CsvConfig;
  env: CsvEnv;
  folder: Folder;
  call: Pick<PullCall, 'accept' | 'isAccepted' | 'signal'>;
};

/** An intake that only passes on what it reads. */
type Reading = Omit<Intake, 'call'> & { call: Pick<PullCall, 'accept' | 'signal'> };

/**
 * `accept` failed, so nothing is wrong with the file. It stays in `processing/` and is read from
 * its beginning in the next pull.
 */
export class NotAccepted extends Error {
  override readonly name = 'NotAccepted';
}

/**
 * Reads a file in `processing/`. `was_left`: an earlier pull did not finish it, so it is read again
 * even if all of it was accepted, because its reasons file may be missing; accepting twice is
 * harmless.
 */
export async function takeFile(intake: Intake, name: string, was_left: boolean): Promise<void> {
  const { config, folder, env, call } = intake;
  const started_ms = env.clock.elapsed();
  const path = join(folder.processing, name);
  const before = await lookAt(path, name);
  if (before === null) return;
  const survey = await surveyFile(path, config.encoding, call.signal);
  const key = `sha256:${survey.sha256}${readingFingerprint(config)}`;
  const found = layoutOf(survey, before, config);
  if ('fault' in found) return rejectWhole(intake, { key, name, size: before.size }, found.fault);
  if (!was_left && (await call.isAccepted(key))) {
    await moveFile(path, folder.processed, name);
    env.log('csv_file_repeated', { connector: env.connector_id, size: before.size });
    return;
  }
  const reasons = new ReasonsFile(folder.processing, name);
  const reader = new FileReader(intake, { key, name, reasons }, found);
  try {
    const is_whole = await reader.read(path, before);
    if (!is_whole) {
      await reasons.discard();
      await moveFile(path, folder.inbox, name);
      env.log('csv_file_changed', { connector: env.connector_id, size: before.size });
      return;
    }
  } catch (error) {
    await reasons.discard().catch(() => undefined);
    throw error;
  }
  const { accepted, rejected } = reader;
  await moveOut(intake, name, reasons, accepted === 0 && rejected > 0 ? 'rejected' : 'processed');
  const duration_ms = Math.round(env.clock.elapsed() - started_ms);
  env.log('csv_file_read', {
    connector: env.connector_id,
    accepted,
    rejected,
    size: before.size,
    duration_ms,
  });
}

/**
 * Reads a file without moving it, and writes no reasons file. Throws a ConnectorError when it
 * cannot be read.
 */
export async function readInPlace(reading: Reading, path: string): Promise<void> {
  const { config, call } = reading;
  const name = basename(path);
  const before = await lookAt(path, name).catch(() => null);
  if (before === null) {
    throw new ConnectorError('permanent', {
      what: `The file ${path} cannot be read.`,
      next: 'Check the path, and that you can read the file.',
    });
  }
  const survey = await surveyFile(path, config.encoding, call.signal);
  const key = `sha256:${survey.sha256}${readingFingerprint(config)}`;
  const found = layoutOf(survey, before, config);
  if ('fault' in found) {
    const source = { key, name, is_last: true, completeness: 'changes' as const };
    const rejected = [{ position: 'file', ...found.fault }];
    await call.accept({ source, appointments: [], rejected, cursor: null });
    return;
  }
  await new FileReader(reading, { key, name, reasons: null }, found).read(path, before);
}

type Understood = { encoding: Encoding; layout: Layout; kind: RowKind };

function layoutOf(
  survey: Survey,
  file: SeenFile,
  config: CsvConfig,
): Understood | { fault: FieldProblem } {
  const fault = (value_class: string, remedy: string) => ({
    fault: { field: 'file', value_class, remedy },
  });
  if (file.size > config.max_megabytes * 1_000_000)
    return fault(
      'too large',
      'Export fewer days at once, or raise "max_megabytes:" in the configuration.',
    );
  const { encoding } = survey;
  if (typeof encoding !== 'string') return fault(encoding.value_class, encoding.remedy);
  if (survey.lines > config.max_rows)
    return fault(
      'too many rows',
      'Export fewer days at once, or raise "max_rows:" in the configuration.',
    );
  const kind = rowKindOf(file.name);
  const layout = findLayout(survey.head, config, kind);
  return 'columns' in layout ? { encoding, layout, kind } : { fault: layout };
}

/**
 * Rejects a file in which nothing can be used: adds one attention entry, and moves the file to
 * `rejected/` with its reason.
 */
async function rejectWhole(
  intake: Intake,
  file: { key: string; name: string; size: number },
  fault: FieldProblem,
): Promise<void> {
  const { folder, env, call } = intake;
  const { field, value_class, remedy } = fault;
  const item: RejectedItem = { position: 'file', field, value_class, remedy };
  const kept_as = await freeName(folder.rejected, file.name);
  if (!(await call.isAccepted(file.key))) {
    // `changes`: an unreadable file does not mean that appointments have vanished.
    const source = {
      key: file.key,
      name: file.name,
      is_last: true,
      completeness: 'changes' as const,
      kept_as,
    };
    await acceptOrThrow(call, { source, appointments: [], rejected: [item], cursor: null });
  }
  const reasons = new ReasonsFile(folder.processing, file.name);
  await reasons.add(item.position, item, false);
  await moveOut(intake, file.name, reasons, 'rejected');
  env.log('csv_file_rejected', {
    connector: env.connector_id,
    reason: value_class,
    size: file.size,
  });
}

/**
 * Moves the file out of `processing/`; everything in it is accepted by now (G3). This happens last:
 * while the file is there, an interrupted pull starts again.
 */
async function moveOut(
  intake: Intake,
  name: string,
  reasons: ReasonsFile,
  part: 'processed' | 'rejected',
): Promise<void> {
  const { folder } = intake;
  const free = await freeName(folder[part], name);
  await reasons.publish(folder[part], free);
  await moveFile(join(folder.processing, name), folder[part], free);
}

async function acceptOrThrow(call: Reading['call'], batch: PullBatch): Promise<void> {
  call.signal.throwIfAborted();
  try {
    await call.accept(batch);
  } catch (cause) {
    throw new NotAccepted('A batch was not accepted.', { cause });
  }
}

/** `reasons`: receives the problems of rows; null: none are kept. */
type FileRead = { key: string; name: string; reasons: ReasonsFile | null };

/** Reads rows and offers them in batches; the whole file is never in memory. */
class FileReader {
  accepted = 0;
  rejected = 0;
  private readonly reasons: ReasonsFile | null;
  private readonly intake: Reading;
  private readonly source: Omit<PullBatch['source'], 'is_last'>;
  private readonly understood: Understood;
  private readonly map: RowMapper | ClaimMapper;
  /** By ID: adjacent rows of one appointment are offered as one. */
  private appointments = new Map<string, AppointmentInput>();
  private readonly appointment_rows: AppointmentRows;
  private claims: ClaimInput[] = [];
  private readonly claim_rows = new ClaimRows();
  private rejects: RejectedItem[] = [];

  constructor(intake: Reading, { key, name, reasons }: FileRead, understood: Understood) {
    const { config, env } = intake;
    this.intake = intake;
    this.understood = understood;
    const of_claims = understood.kind === 'claims';
    const completeness = of_claims
      ? config.claims_export
      : config.export === 'auto'
        ? 'unknown'
        : config.export;
    this.source = { key, name, completeness };
    const settings = { ...config, time_zone: env.time_zone };
    const mapRow = rowMapper(understood.layout.columns, settings);
    this.map = of_claims ? claimMapper(understood.layout.columns, settings) : mapRow;
    this.appointment_rows = new AppointmentRows(mapRow);
    this.reasons = reasons;
  }

  /**
   * Returns false if someone wrote to the file meanwhile: it was unfinished, although it had not
   * changed for a while.
   */
  async read(path: string, before: SeenFile): Promise<boolean> {
    const { layout, encoding } = this.understood;
    const { width, used } = layout.columns;
    const rows = new RowReader({ separator: layout.separator, width, used }, layout.begin);
    for await (const text of readText(path, encoding, this.intake.call.signal))
      await this.take(rows.push(text));
    await this.take(rows.end());
    this.put(this.claim_rows.end());
    const after = await lookAt(path, before.name);
    if (after === null || !isSameFile(before, after)) return false;
    await this.hand(true);
    return true;
  }

  private async take(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      if (this.appointments.size + this.claims.length + this.rejects.length >= ROWS_PER_BATCH)
        await this.hand(false);
      const read = this.map(row);
      const mapped = this.joined(read, row);
      if ('rejected' in mapped) {
        this.rejected += 1;
        this.rejects.push(mapped.rejected);
        await this.reasons?.add(mapped.rejected.position, mapped.rejected, false);
      } else {
        this.accepted += 1;
        if ('claim' in mapped) this.put(this.claim_rows.add(mapped.claim));
        else this.appointments.set(mapped.appointment.source_id, mapped.appointment);
        for (const problem of problemsOf(read))
          await this.reasons?.add(`row ${row.number}`, problem, true);
      }
    }
  }

  /** Joins an appointment with its earlier rows. */
  private joined(mapped: MappedRow | MappedClaim, row: Row): MappedRow | MappedClaim {
    if (!('appointment' in mapped && 'cells' in row)) return mapped;
    const whole = this.appointment_rows.add(mapped, row);
    return 'starts_at' in whole ? { ...mapped, appointment: whole } : { rejected: whole };
  }

  private put(claim: ClaimInput | null): void {
    if (claim !== null) this.claims.push(claim);
  }

  private async hand(is_last: boolean): Promise<void> {
    const { claims, rejects: rejected } = this;
    const appointments = [...this.appointments.values()];
    // More rows of the last appointment may follow; without them, a call could ask too few
    // questions.
    const open = is_last ? undefined : appointments.pop();
    const batch = {
      source: { ...this.source, is_last },
      appointments,
      ...(this.understood.kind === 'claims' ? { claims } : {}),
      rejected,
      cursor: null,
    };
    this.appointments = new Map(open === undefined ? [] : [[open.source_id, open]]);
    this.claims = [];
    this.rejects = [];
    await acceptOrThrow(this.intake.call, batch);
  }
}

/** Returns the problems of one row's cells. */
function problemsOf(mapped: MappedRow | MappedClaim): readonly FieldProblem[] {
  if ('rejected' in mapped) return [];
  return 'claim' in mapped ? mapped.claim.problems : mapped.appointment.problems;
}
