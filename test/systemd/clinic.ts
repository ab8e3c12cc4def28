/**
 * A clinic on a machine: the sandbox next to the service, exports that arrive, and answers that
 * return.
 */
import { readCsv } from '../support/csv-text.ts';
import { datesAsSpelled } from '../support/leaks.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';
import type { Machine } from './machine.ts';

export const FOLDER = '/srv/clinic/dropbox';
export const SANDBOX_DB = '/var/tmp/sandbox.db';
const SANDBOX = 'http://127.0.0.1:8700';

export type ServiceState = {
  active: string;
  main_pid: number;
  restarts: number;
  exit: number;
  result: string;
  status_text: string;
};

export type ClinicMachine = ReturnType<typeof clinicOn>;

export function clinicOn(machine: Machine) {
  let dropped = 0;
  const all: string[] = [];
  const secrets = new Set<string>();
  const clinic = {
    machine,
    startSandbox: async () => {
      machine.run(
        `systemd-run -q --unit=sandbox /usr/bin/eligd sandbox --port 8700 --db ${SANDBOX_DB}`,
      );
      await machine.until('the sandbox', ask('GET', '/_sandbox/behaviors'));
    },
    /**
     * Drops an export with `count` new appointments, this many days from now; returns their IDs.
     */
    drop: (count: number, days = 7): string[] => {
      dropped += 1;
      const prefix = `D${dropped}-`;
      const rows = visits(count, (index) => ({
        appointment_id: `${prefix}${index}`,
        patient_id: `${prefix}${index}`,
        member_id: `ACTIVE${dropped}${String(index).padStart(4, '0')}`,
        appointment_at: visitTime(days),
      })) as Visit[];
      const ids = rows.map(({ appointment_id }) => appointment_id);
      all.push(...ids);
      for (const { patient_name, dob, member_id } of rows)
        for (const secret of [patient_name, ...datesAsSpelled(dob), member_id]) secrets.add(secret);
      machine.write(`/tmp/export-${dropped}.csv`, exportOf(rows));
      machine.run(
        `chown eligd /tmp/export-${dropped}.csv && mv /tmp/export-${dropped}.csv ${FOLDER}/inbox/`,
      );
      return ids;
    },
    /** IDs of the appointments whose inquiry the sandbox has accepted, one for each call. */
    calls: (): string[] => {
      const { inquiries } = JSON.parse(machine.run(ask('GET', '/_sandbox/ledger'))) as {
        inquiries: { external_id: string }[];
      };
      return inquiries.map(({ external_id }) => external_id.split(':').at(-1) ?? '');
    },
    all: () => [...all],
    /** Names, birth dates, and member IDs of all exports. */
    secrets: () => [...secrets],
    sandbox: (method: string, path: string, body = '') => machine.run(ask(method, path, body)),
    /** Has every call made, and waits until each of `ids` is written back. */
    answered: async (ids: readonly string[], seconds = 40): Promise<void> => {
      const end = performance.now() + seconds * 1000;
      const areCalled = (): boolean => {
        const called = new Set(clinic.calls());
        return ids.every((id) => called.has(id));
      };
      while (!areCalled()) {
        if (performance.now() > end)
          throw new Error(`Not all of ${ids.join(', ')} were sent within ${seconds} s.`);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      clinic.sandbox('POST', '/_sandbox/advance', '{"days": 8}');
      const patterns = ids.map((id) => `grep -qs '${id},' ${FOLDER}/outbox/eligibility-*.csv`);
      await machine.until('the answers', patterns.join(' && '), seconds);
    },
    written: (): string[] => {
      const files = machine.run(`cat ${FOLDER}/outbox/eligibility-*.csv`);
      return readCsv(files).map((line) => line.appointment_id ?? '');
    },
    service: (): ServiceState => {
      const shown = machine.run(
        'systemctl show eligd.service -p ' +
          'ActiveState,MainPID,NRestarts,ExecMainStatus,Result,StatusText',
      );
      const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(shown)?.[1] ?? '';
      return {
        active: value('ActiveState'),
        main_pid: Number(value('MainPID')),
        restarts: Number(value('NRestarts')),
        exit: Number(value('ExecMainStatus')),
        result: value('Result'),
        status_text: value('StatusText'),
      };
    },
    journal: (options = '') =>
      machine.run(`journalctl --sync; journalctl -u eligd.service -o cat --no-pager ${options}`),
    cursor: () =>
      /^-- cursor: (.*)$/m.exec(machine.run('journalctl -n 0 --show-cursor'))?.[1] ?? '',
  };
  return clinic;
}

/** Node sends the request, because a minimal Debian has no curl. */
function ask(method: string, path: string, body = ''): string {
  const request = JSON.stringify({
    method,
    ...(body === '' ? {} : { body, headers: { 'content-type': 'application/json' } }),
  });
  const program =
    `fetch(${JSON.stringify(SANDBOX + path)}, ${request}).then(async (r) => { const text = ` +
    'await r.text(); process.stdout.write(text, () => process.exit(r.ok ? 0 : 1)); }, () => ' +
    'process.exit(1))';
  return `/usr/lib/eligd/node_modules/.bin/node -e '${program}'`;
}

/**
 * A zone in which it is noon or a little later: eligd polls for a visit this evening at the short
 * interval, because the morning of its completion date has passed.
 */
export function noonZone(): string {
  const offset = 12 - new Date().getUTCHours();
  // These names have the opposite sign.
  return `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}

/** Payers can answer within a week, on any day of the week. */
function visitTime(days: number): string {
  const local = new Date(Date.now() + (days * 24 + 12 - new Date().getUTCHours()) * 3_600_000);
  return `${local.toISOString().slice(0, 10)} 20:30`;
}
