/** A clinic whose schedule is also written to a configured folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeClinic } from './clinic.ts';

/** `folder`: its `report.folder`, deleted after the test. */
export function clinicWithReport(base_url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-report-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clinic = makeClinic({
    base_url,
    config: {
      report: { folder },
      policy: { attempts: 1, look_ahead_days: 14 },
      service: { settle_seconds: 0 },
    },
  });
  return { clinic, folder };
}
