/**
 * `npm run advisories`: asks npm's configured registry for known vulnerabilities in the packages of
 * the bill of materials, which run at a clinic. It fails for a vulnerability that is not in
 * `advisories.json` with a reason and a review date. If the registry does not answer, it says so
 * and does not fail. It does not cover Node and SQLite, which are not separate packages: whoever
 * makes a release checks their announcements.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** Why a vulnerability does no harm here, and until when (YYYY-MM-DD) that reason counts. */
export type Exception = { advisory: string; package: string; until: string; reason: string };

type Advisory = { advisory: string; package: string; severity: string; title: string };

/** The part of `npm audit --json` that is read; missing if the registry cannot answer. */
type AuditReport = {
  auditReportVersion?: number;
  vulnerabilities?: Record<string, { via: (string | AuditVia)[] }>;
  statusCode?: number;
};
type AuditVia = { url: string; name: string; severity: string; title: string };

/**
 * Returns what has to be done, one sentence each; empty: nothing. `today` is YYYY-MM-DD. Null: the
 * registry did not answer.
 */
export function judgeAdvisories(
  report: AuditReport,
  exceptions: readonly Exception[],
  today: string,
): string[] | null {
  if (report.auditReportVersion === undefined || report.vulnerabilities === undefined) return null;
  const found = advisoriesOf(report.vulnerabilities);
  const isFor = (exception: Exception, each: Advisory) =>
    exception.advisory === each.advisory && exception.package === each.package;
  return [
    ...found
      .filter((each) => !exceptions.some((exception) => isFor(exception, each)))
      .map(
        (each) =>
          `${each.package}: ${each.advisory} (${each.severity}): ${each.title}. Use a version ` +
          'without it, or add it to systemd/advisories.json with the reason why it does no harm.',
      ),
    ...exceptions.flatMap((exception) => {
      const name = `${exception.package}: ${exception.advisory}`;
      if (!found.some((each) => isFor(exception, each)))
        return [`${name} is no longer found: remove it from systemd/advisories.json.`];
      if (exception.until >= today) return [];
      return [`${name} was excepted until ${exception.until}: review its reason.`];
    }),
  ];
}

function advisoriesOf(vulnerabilities: NonNullable<AuditReport['vulnerabilities']>): Advisory[] {
  const found = new Map<string, Advisory>();
  for (const { via } of Object.values(vulnerabilities)) {
    for (const each of via) {
      if (typeof each === 'string') continue;
      const advisory = each.url.slice(each.url.lastIndexOf('/') + 1);
      const { name, severity, title } = each;
      found.set(`${name} ${advisory}`, { advisory, package: name, severity, title });
    }
  }
  return [...found.values()];
}

function askRegistry(): AuditReport {
  const args = ['audit', '--json', '--omit=dev', '--package-lock-only'];
  const { stdout } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  try {
    return JSON.parse(stdout);
  } catch {
    return {};
  }
}

if (process.argv[1] === import.meta.filename) {
  const exceptions: Exception[] = JSON.parse(
    readFileSync(join(ROOT, 'systemd/advisories.json'), 'utf8'),
  );
  const report = askRegistry();
  const problems = judgeAdvisories(report, exceptions, new Date().toISOString().slice(0, 10));
  if (problems === null) {
    const status = report.statusCode === undefined ? '' : ` (${report.statusCode})`;
    console.log(`advisories: NOT CHECKED, the registry does not answer this question${status}.`);
  } else if (problems.length === 0) {
    console.log(`advisories: none except ${exceptions.length} with a reason.`);
  } else {
    console.error(problems.map((each) => `advisories: ${each}`).join('\n'));
    process.exitCode = 1;
  }
}
