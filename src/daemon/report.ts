/**
 * Keeps `schedule.html` up to date, next to the results and in a configured folder, and
 * `schedule.pdf` in that folder. It checks for changes once a minute, and writes both at least once
 * an hour, because both state when they were current.
 */
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectorError } from '../../connectors/contract.ts';
import { errorCode } from '../domain/errors.ts';
import { HOUR_MS, MINUTE_MS } from '../domain/time.ts';
import { healthMark } from '../office/layout.ts';
import { type Report, scheduleReport } from '../office/report.ts';
import { readFees } from '../ops/fees.ts';
import { budgetRules } from '../ops/prices.ts';
import { changeMark } from '../store/views/change-mark.ts';
import type { HealthReport } from '../store/views/health.ts';
import { liveHealth } from './heartbeat.ts';
import type { Parts } from './parts.ts';

/** After each pass, the loop rests this many times as long as the pass took. */
const REST_FACTOR = 20;

/** Runs until `signal` is aborted. */
export async function keepReport(parts: Parts, signal: AbortSignal): Promise<void> {
  const { options, connectors } = parts;
  const { env, config } = options;
  const has_place = connectors.some(({ connector }) => connector.publishSchedule !== undefined);
  if (config.report.folder === null && !has_place) return;
  let written: Written = { at: Number.NEGATIVE_INFINITY, mark: '', seen: '' };
  while (!signal.aborted) {
    const begun = env.clock.elapsed();
    try {
      written = await writeIfChanged(parts, written, signal);
    } catch (error) {
      const reason =
        error instanceof ConnectorError ? error.message : (errorCode(error) ?? 'failed');
      env.log('report_failed', { reason });
    }
    const took_ms = env.clock.elapsed() - begun;
    const rest_ms = Math.max(MINUTE_MS, options.idle_ms ?? 0, took_ms * REST_FACTOR);
    await env.clock.sleep(rest_ms, signal).catch(() => {});
  }
}

/** When the files were written, and the fingerprints of their content and of what it is made of. */
type Written = { at: number; mark: string; seen: string };

/** A separate function, because a loop that sleeps would keep the report and all its visits. */
async function writeIfChanged(
  parts: Parts,
  written: Written,
  signal: AbortSignal,
): Promise<Written> {
  const { options, store } = parts;
  const now = options.env.clock.now();
  const health = await liveHealth(parts, store.db);
  const seen = `${await changeMark(store.db)} ${healthMark(health)}`;
  const is_old = now - written.at >= HOUR_MS;
  if (seen === written.seen && !is_old) return written;
  const report = await makeReport(parts, health, now);
  if (report.mark === written.mark && !is_old) return { ...written, seen };
  await writeReport(parts, report, signal);
  return { at: now, mark: report.mark, seen };
}

/** Writes the report once: for `eligd once`. */
export async function writeReportOnce(parts: Parts, signal: AbortSignal): Promise<void> {
  const health = await liveHealth(parts, parts.store.db);
  const report = await makeReport(parts, health, parts.options.env.clock.now());
  await writeReport(parts, report, signal);
}

async function makeReport(parts: Parts, health: HealthReport, now: number): Promise<Report> {
  const { options, store } = parts;
  const { config } = options;
  const source = {
    store,
    config,
    fees: () => readFees(config),
    budget: () => budgetRules(config, parts.payers),
  };
  return await scheduleReport(source, health, now, { for_paper: config.report.folder !== null });
}

async function writeReport(parts: Parts, report: Report, signal: AbortSignal): Promise<void> {
  const { folder } = parts.options.config.report;
  const { html, pdf } = report;
  const targets = [
    ...parts.connectors.map(
      ({ connector }) =>
        async () =>
          await connector.publishSchedule?.(html, signal),
    ),
    ...(folder === null || pdf === null
      ? []
      : [
          async () => await replaceFile(folder, 'schedule.html', html),
          async () => await replaceFile(folder, 'schedule.pdf', pdf()),
        ]),
  ];
  // A target that cannot be written does not prevent writing the others.
  const failures: unknown[] = [];
  for (const write of targets) await write().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/**
 * Replaces the file atomically: a reader sees the old page or the new one, never a part. Others may
 * write to the folder, so eligd deletes a link of theirs and never follows it.
 */
async function replaceFile(
  folder: string,
  name: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const temporary = join(folder, `.${name}.part`);
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o640);
  try {
    await file.writeFile(pieces);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, join(folder, name));
}
