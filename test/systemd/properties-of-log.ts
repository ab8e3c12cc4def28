/** The service's reports while it works: to systemctl, to the journal, to monitoring. */
import { leaks, strangeInLine } from '../support/leaks.ts';
import type { ClinicMachine } from './clinic.ts';
import { beQuick, expectTrue, NODE } from './common.ts';
import type { Machine } from './machine.ts';

export async function delivers(clinic: ClinicMachine, machine: Machine): Promise<string> {
  await beQuick(machine, 'monitoring: { listen: 127.0.0.1:8687 }');
  const ids = clinic.drop(5);
  await clinic.answered(ids);
  expectTrue(clinic.calls().length === 5, `${clinic.calls().length} calls`);
  return '5 appointments dropped, 5 calls, 5 answers in outbox/';
}

export async function statusLine(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('systemctl restart eligd.service');
  const { status_text } = clinic.service();
  expectTrue(/5 delivered; \d+ need attention/.test(status_text), status_text);
  return status_text;
}

export async function memoryLimit(_: ClinicMachine, machine: Machine): Promise<string> {
  const limit = machine.run('systemctl show eligd.service -p MemoryMax --value');
  const is_enforced = machine
    .run('cat /sys/fs/cgroup/cgroup.controllers')
    .split(' ')
    .includes('memory');
  expectTrue(Number(limit) > 0, limit);
  return (
    `MemoryMax=${limit} is set; in this machine it is ` +
    `${is_enforced ? 'enforced' : 'NOT enforced, because the kernel gives it no memory controller'}`
  );
}

/** The local server's answers to monitoring, inside the sandboxing. */
export async function monitoring(_: ClinicMachine, machine: Machine): Promise<string> {
  const get = (path: string) => {
    const program =
      `fetch('http://127.0.0.1:8687${path}').then(async (r) => console.log(r.status + ' ' + ` +
      'await r.text()))';
    return machine.run(`${NODE} -e "${program}"`);
  };
  const [health, ready, metrics] = [get('/healthz'), get('/readyz'), get('/metrics')];
  expectTrue(health.startsWith('200 ') && ready.startsWith('200 '), `${health}\n${ready}`);
  expectTrue(/^eligd_appointments{situation="delivered"} 5$/m.test(metrics), metrics);
  return (
    `/healthz and /readyz say 200; ${metrics.match(/^eligd_/gm)?.length ?? 0} values of ` +
    '/metrics'
  );
}

/** The log of the whole run: only events of the catalog, and no patient data. */
export async function journal(clinic: ClinicMachine, machine: Machine): Promise<string> {
  type Entry = { MESSAGE: string; _PID: string; PRIORITY: string };
  const said = machine.run(
    'journalctl --sync; journalctl -u eligd.service -o json --output-fields=MESSAGE,_PID,PRIORITY',
  );
  const entries = said.split('\n').map((line) => JSON.parse(line) as Entry);
  const lines = entries.filter(({ MESSAGE }) => MESSAGE.startsWith('{"level"'));
  // The older build has its own catalog.
  const older = new Set(
    lines
      .filter(({ MESSAGE }) => /"daemon_started".*"version":"0\.0\.1"/.test(MESSAGE))
      .map(({ _PID }) => _PID),
  );
  const own = lines.filter(({ _PID }) => !older.has(_PID));
  const strange = own.flatMap(({ MESSAGE }) => strangeInLine(MESSAGE));
  expectTrue(strange.length === 0, strange.join('\n'));
  const misplaced = own.filter(
    ({ MESSAGE, PRIORITY }) => Number(PRIORITY) <= 4 !== /^{"level":"(warn|error)/.test(MESSAGE),
  );
  expectTrue(misplaced.length === 0, misplaced.map(({ MESSAGE }) => MESSAGE).join('\n'));
  const everything = machine.run('journalctl -o cat --no-pager');
  const secrets = clinic.secrets();
  const leaked = leaks(everything, secrets);
  expectTrue(
    own.length > 300 && leaked.length === 0,
    `${own.length} lines, leaked: ${leaked.join()}`,
  );
  const events = new Set(
    own.map(({ MESSAGE }) => (JSON.parse(MESSAGE) as { event: string }).event),
  );
  const warnings = own.filter(({ PRIORITY }) => Number(PRIORITY) <= 4).length;
  return (
    `${own.length} lines of ${events.size} events, all in the catalog with its fields only; ` +
    `none of ${secrets.length} names, birth dates and member ids in the whole journal; ` +
    `${warnings} by priority warning`
  );
}
