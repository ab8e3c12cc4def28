/**
 * `npm run advisories`: asks the registry that this npm is set up with for known weaknesses of the
 * packages that run at a clinic, those of the bill of materials. One that is not in
 * `advisories.json` with a reason and a day on which the reason is looked at again fails it. A
 * registry that does not answer is said, and fails nothing. Node and SQLite are no packages of
 * their own: the makers' announcements are for whoever makes a release.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** Why a weakness does not matter here, and until when (YYYY-MM-DD) that is taken for true. */
export type Exception = { advisory: string; package: string; until: string; reason: string };

type Advisory = { advisory: string; package: string; severity: string; title: string };

/** The part of `npm audit --json` that is read; a registry that cannot answer gives none of it. */
type AuditReport = {
  auditReportVersion?: number;
  vulnerabilities?: Record<string, { via: (string | AuditVia)[] }>;
  statusCode?: number;
};
type AuditVia = { url: string; name: string; severity: string; title: string };

/**
 * What has to be done, a sentence each; empty when nothing has. `today` is YYYY-MM-DD. Null when
 * the registry did not answer.
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
          `${each.package}: ${each.advisory} (${each.severity}): ${each.title}. Take a version ` +
          'without it, or add it to systemd/advisories.json with the reason why it does no harm.',
      ),
    ...exceptions.flatMap((exception) => {
      const name = `${exception.package}: ${exception.advisory}`;
      if (!found.some((each) => isFor(exception, each)))
        return [`${name} is no longer found: take it out of systemd/advisories.json.`];
      if (exception.until >= today) return [];
      return [`${name} was excepted until ${exception.until}: look at its reason again.`];
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
    console.log(`advisories: none but ${exceptions.length} with a reason.`);
  } else {
    console.error(problems.map((each) => `advisories: ${each}`).join('\n'));
    process.exitCode = 1;
  }
}
