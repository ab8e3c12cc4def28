/** What a booted machine has to show, in this order: each begins where the one before ended. */
import { EVENTS, type EventDescription, type EventName } from '../../src/domain/events.ts';
import { type ClinicMachine, FOLDER, noonZone } from './clinic.ts';
import type { Machine } from './machine.ts';

/** `see` gives what was seen, in a few words, and throws when it was something else. */
export type Property = { name: string; see: (clinic: ClinicMachine, machine: Machine) => Promise<string> };

const CONFIG = '/etc/eligd/eligd.yaml';
const STATE = '/var/lib/eligd';
const DROP_IN = '/etc/systemd/system/eligd.service.d';
const COUNT_MIGRATIONS = `cd /usr/lib/eligd && node_modules/.bin/node -e "console.log(new (require('better-sqlite3'))('${STATE}/eligd.db').prepare('select count(*) from kysely_migration').pluck().get())"`;
const SECRETS = { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'sandbox' };

/** Quick where a clinic is patient, so that the whole test takes minutes and not days. */
const QUICK = `
polling: { interval_minutes: 0.02, urgent_interval_minutes: 0.02 }
schedule: { pull_seconds: 0.5 }
policy: { look_ahead_days: 14 }
`;

const INIT = `eligd init --system --yes --clinic-name 'Riverside Dental' --time-zone ${noonZone()} --tax-id 123456789 --billing-npi 1234567893 --base-url http://127.0.0.1:8700 --folder ${FOLDER} 2>&1`;

export const PROPERTIES: readonly Property[] = [
  { name: 'install', see: install },
  { name: 'init', see: init },
  { name: 'unit', see: unit },
  { name: 'exposure', see: exposure },
  { name: 'delivers under the hardening', see: delivers },
  { name: 'status line', see: statusLine },
  { name: 'memory limit', see: memoryLimit },
  { name: 'stop', see: stop },
  { name: 'SIGKILL', see: sigkill },
  { name: 'a process that hangs', see: hangingProcess },
  { name: 'a stage that hangs', see: hangingStage },
  { name: 'bad configuration', see: badConfiguration },
  { name: 'tampered credential', see: tamperedCredential },
  { name: 'full state disk', see: fullDisk },
  { name: 'errors of the disk', see: diskErrors },
  { name: 'journal', see: journal },
  { name: 'remove', see: remove },
  { name: 'purge', see: purge },
  { name: 'upgrade from an older build with data', see: upgrade },
];

function expectTrue(is_so: boolean, otherwise: string): void {
  if (!is_so) throw new Error(otherwise);
}

async function waitUntil(what: string, isSo: () => boolean, seconds = 30): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await new Promise((done) => setTimeout(done, 200));
  }
}

async function install({ service }: ClinicMachine, machine: Machine): Promise<string> {
  const said = machine.run('apt-get install -y /root/eligd_newer.deb 2>&1');
  expectTrue(said.includes('eligd init --system'), `It does not say how to go on: ${said}`);
  machine.run('eligd --version && getent passwd eligd');
  const modes = machine.run(`stat -c '%a %U %n' ${STATE} /etc/eligd /var/log/eligd`).split('\n');
  expectTrue(modes[0] === `700 eligd ${STATE}`, modes.join(', '));
  // Not set up yet is no failure: the unit waits for its configuration.
  machine.run('systemctl start eligd.service');
  expectTrue(
    service().active === 'inactive' && machine.run('systemctl is-enabled eligd.service') === 'enabled',
    service().active,
  );
  return `version ${machine.run('eligd --version')} by apt, its Node ${machine.run('/usr/lib/eligd/node_modules/.bin/node --version')}, user and folders made`;
}

async function init(clinic: ClinicMachine, machine: Machine): Promise<string> {
  await clinic.startSandbox();
  machine.run('mkdir -p /srv/clinic');
  const said = machine.run(INIT, SECRETS);
  expectTrue(said.includes('ok service:') && clinic.service().active === 'active', said);
  const modes = machine.run(`stat -c '%a %U' /etc/eligd/credentials /etc/eligd/credentials/* ${CONFIG} ${FOLDER}`).split('\n');
  expectTrue(modes.join() === '700 root,600 root,600 root,640 root,700 eligd', modes.join());
  const drop_in = machine.run(`cat ${DROP_IN}/clinic.conf`);
  expectTrue(/^LoadCredentialEncrypted=service_password:/m.test(drop_in), drop_in);
  expectTrue(machine.try(`grep -r sandbox /etc/eligd ${DROP_IN}`).code !== 0, 'The password stands somewhere in the clear.');
  return 'configuration, encrypted credentials and drop-in written, check passed, service started';
}

async function unit(_: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('systemd-analyze verify --recursive-errors=yes /usr/lib/systemd/system/eligd.service 2>&1');
  return 'systemd-analyze verify knows every line';
}

async function exposure(_: ClinicMachine, machine: Machine): Promise<string> {
  const said = machine.run('systemd-analyze security --no-pager eligd.service');
  const level = Number(/Overall exposure level for eligd.service: ([\d.]+)/.exec(said)?.[1] ?? Number.NaN);
  expectTrue(level <= 1.2, `${level}\n${said}`);
  return `systemd-analyze security says ${level}`;
}

async function delivers(clinic: ClinicMachine, machine: Machine): Promise<string> {
  await beQuick(machine);
  const ids = clinic.drop(5);
  await clinic.answered(ids);
  expectTrue(clinic.calls().length === 5, `${clinic.calls().length} calls`);
  return '5 appointments dropped, 5 calls, 5 answers in outbox/';
}

async function beQuick(machine: Machine): Promise<void> {
  const quick_service =
    's/^  auth: oauth.*/  auth: oauth\\n  settle_seconds: 1\\n  timeout_seconds: 1\\n  submission: { max_per_minute: 0 }/';
  const quick_folder = `s/^    folder: .*/&\\n    stable_seconds: 0\\n    export: changes/`;
  machine.run(`sed -i -e '${quick_service}' -e '${quick_folder}' ${CONFIG}`);
  machine.run(`cat >>${CONFIG} <<'END'\n${QUICK}\nEND\nsystemctl restart eligd.service`);
  await machine.until('the drop folder', `test -d ${FOLDER}/inbox`);
}

async function statusLine(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('systemctl restart eligd.service');
  const { status_text } = clinic.service();
  expectTrue(/5 delivered; \d+ need attention/.test(status_text), status_text);
  return status_text;
}

async function memoryLimit(_: ClinicMachine, machine: Machine): Promise<string> {
  const limit = machine.run('systemctl show eligd.service -p MemoryMax --value');
  const is_enforced = machine.run('cat /sys/fs/cgroup/cgroup.controllers').split(' ').includes('memory');
  expectTrue(Number(limit) > 0, limit);
  return `MemoryMax=${limit} is set; in this machine it is ${is_enforced ? 'enforced' : 'NOT enforced, because the kernel gives it no memory controller'}`;
}

async function stop(clinic: ClinicMachine, machine: Machine): Promise<string> {
  clinic.sandbox(
    'POST',
    '/_sandbox/faults',
    '[{"method": "POST", "path": "inquiries", "when": "after", "action": "delay", "delay_ms": 700, "times": 1}]',
  );
  const before = clinic.calls().length;
  const ids = clinic.drop(1);
  await waitUntil('the call', () => clinic.calls().length > before);
  // The service has it, and its reply is still on the way.
  machine.run('systemctl stop eligd.service');
  const journal = clinic.journal('-n 40');
  expectTrue(journal.includes('daemon_stopped') && clinic.service().result === 'success', journal);
  expectTrue(!journal.includes('inquiry_uncertain'), journal);
  machine.run('systemctl start eligd.service');
  await clinic.answered(ids);
  return 'a request was out; its reply was taken before the process ended, with success';
}

async function sigkill(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const before = clinic.service();
  const ids = clinic.drop(3);
  machine.run('systemctl kill -s KILL eligd.service');
  await waitUntil('the new process', () => clinic.service().main_pid !== before.main_pid && clinic.service().active === 'active');
  await clinic.answered(ids);
  expectOneCallEach(clinic);
  return `back to work by itself, ${clinic.service().restarts - before.restarts} restart, one call each`;
}

function expectOneCallEach(clinic: ClinicMachine): void {
  const calls = clinic.calls().toSorted();
  const wanted = clinic.all().toSorted();
  expectTrue(calls.join() === wanted.join(), `calls ${calls.join()}, appointments ${wanted.join()}`);
}

async function hangingProcess(clinic: ClinicMachine, machine: Machine): Promise<string> {
  quickWatchdog(machine);
  const before = clinic.service();
  machine.run('systemctl kill -s STOP eligd.service');
  await waitUntil('the watchdog', () => clinic.service().main_pid !== before.main_pid && clinic.service().active === 'active');
  return 'SIGSTOP: the watchdog killed it, and it came back';
}

function quickWatchdog(machine: Machine): void {
  machine.run(
    `printf '[Service]\\nWatchdogSec=3s\\n' >${DROP_IN}/zz-test.conf && systemctl daemon-reload && systemctl restart eligd.service`,
  );
}

/** A connector whose source stops answering, as a hard-mounted share does; it waits for work until then. */
const HANGING = `export default {
  name: 'hanging',
  config: { safeParse: (data) => ({ success: true, data }) },
  create: () => ({
    pull: async () => {
      const { existsSync } = await import('node:fs');
      if (existsSync('${FOLDER}/hang')) await new Promise(() => {});
    },
    deliver: async () => [],
    check: async () => [],
  }),
};
`;

async function hangingStage(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.write('/etc/eligd/hanging.mjs', HANGING);
  machine.run(`cp -p ${CONFIG} /root/eligd.yaml`);
  machine.run(
    `sed -i -e 's|^state:|  - { id: share, type: ./hanging.mjs }\\nstate:|' -e 's|^  settle_seconds|  external_id: "{connector}:{appointment}"\\n&|' ${CONFIG}`,
  );
  machine.run('systemctl restart eligd.service');
  const before = clinic.service();
  // Twice the watchdog's time without any work: that is no hang.
  await new Promise((done) => setTimeout(done, 7000));
  expectTrue(clinic.service().main_pid === before.main_pid, 'It was killed while it waited for work.');
  machine.run(`touch ${FOLDER}/hang`);
  await waitUntil('the watchdog', () => clinic.service().main_pid !== before.main_pid);
  const journal = clinic.journal('-n 30');
  expectTrue(/"event":"stage_hangs","stage":"pull share"/.test(journal), journal);
  machine.run(
    `rm ${FOLDER}/hang && cp -p /root/eligd.yaml ${CONFIG} && rm ${DROP_IN}/zz-test.conf && systemctl daemon-reload && systemctl restart eligd.service`,
  );
  return 'idle for twice the watchdog it was left alone; with one stage hanging it was killed and started anew';
}

async function badConfiguration(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run(`cp -p ${CONFIG} /root/eligd.yaml && echo 'polcy: {}' >>${CONFIG}`);
  machine.try('systemctl restart eligd.service');
  await new Promise((done) => setTimeout(done, 6000));
  const { active, exit, restarts } = clinic.service();
  const journal = clinic.journal('-n 12');
  expectTrue(active === 'failed' && exit === 78 && restarts === 0, `${active}, exit ${exit}, ${restarts} restarts`);
  expectTrue(/line \d+, polcy: is not a known key/.test(journal), journal);
  machine.run(`cp -p /root/eligd.yaml ${CONFIG} && systemctl restart eligd.service`);
  return 'failed with 78, no restart, the line and the key in the journal';
}

async function tamperedCredential(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const file = '/etc/eligd/credentials/service_password.cred';
  // One byte in the middle of what is encrypted.
  machine.run(
    `cp -p ${file} /root/credential && base64 -d ${file} >/tmp/c && printf '\\377\\0' | dd of=/tmp/c bs=1 seek=150 conv=notrunc status=none && base64 /tmp/c >${file}`,
  );
  machine.run(`base64 -d /root/credential | cmp -s - /tmp/c && exit 1 || exit 0`);
  machine.try('systemctl restart eligd.service');
  await new Promise((done) => setTimeout(done, 6000));
  const { active, exit, restarts } = clinic.service();
  expectTrue(active === 'failed' && exit === 243 && restarts === 0, `${active}, exit ${exit}, ${restarts} restarts`);
  const journal = machine.run('journalctl -u eligd.service -n 12 -o cat --no-pager');
  expectTrue(/credential/i.test(journal), journal);
  machine.run(`cp -p /root/credential ${file} && systemctl restart eligd.service`);
  return 'refused with 243, no restart, the credential named in the journal';
}

async function fullDisk(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run(
    `systemctl stop eligd.service && cp -a ${STATE} /root/state && mount -t tmpfs -o size=24m,mode=0700,uid=$(id -u eligd),gid=$(id -g eligd) tmpfs ${STATE} && cp -a /root/state/. ${STATE}/ && systemctl start eligd.service`,
  );
  machine.try(`dd if=/dev/zero of=${STATE}/filler bs=4k status=none`);
  const ids = clinic.drop(40);
  await machine.until('the event', `journalctl -u eligd.service -o cat -n 50 | grep -E '"error_code":"(SQLITE_FULL|ENOSPC)'`);
  expectTrue(clinic.service().active === 'active', 'It ended.');
  machine.run(`rm ${STATE}/filler`);
  await clinic.answered(ids, 60);
  expectOneCallEach(clinic);
  machine.run(
    `systemctl stop eligd.service && cp -a ${STATE}/. /root/state/ && umount ${STATE} && cp -a /root/state/. ${STATE}/ && systemctl start eligd.service`,
  );
  return 'told in the log while the service stayed up; with room again 40 more answers, one call each';
}

async function upgrade(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('apt-get install -y /root/eligd_older.deb 2>&1');
  machine.run(INIT, SECRETS);
  await beQuick(machine);
  await clinic.answered(clinic.drop(3));
  const migrations = () => machine.run(`${COUNT_MIGRATIONS}`);
  const count = () => JSON.parse(machine.run(`eligd status --json`)).appointments.total as number;
  const [before, migrated] = [count(), migrations()];
  machine.run('echo "# mine" >>/etc/default/eligd');
  const said = machine.run('apt-get install -y -o Dpkg::Options::=--force-confold /root/eligd_newer.deb 2>&1');
  const [backup = ''] = machine.run(`ls ${STATE}/backups/before-upgrade-from-0.0.1-*.db`).split('\n');
  expectTrue(machine.run(`stat -c '%a %U' ${backup}`) === '600 eligd', said);
  expectTrue(
    clinic.service().active === 'active' && count() === before,
    `${clinic.service().active}, ${count()} of ${before}\n${said}`,
  );
  expectTrue(Number(migrations()) > Number(migrated), `${migrated} migrations before, ${migrations()} after`);
  expectTrue(machine.run('tail -n1 /etc/default/eligd') === '# mine', 'A changed conffile was replaced.');
  await clinic.answered(clinic.drop(2));
  expectOneCallEach(clinic);
  return `${before} appointments kept, a backup of them made first, ${migrated} migrations became ${migrations()}, the service up, settings kept`;
}

/** EIO and ENOSPC for every write and fsync of the live service, for a while. */
async function diskErrors(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const told: string[] = [];
  for (const [error, calls] of [
    ['EIO', 'fsync,fdatasync'],
    ['ENOSPC', 'pwrite64'],
    ['EIO', 'pwrite64'],
  ] as const) {
    const cursor = clinic.cursor();
    const { main_pid } = clinic.service();
    machine.run(
      `systemd-run -q --unit=strace -p KillSignal=SIGINT strace -f -qq -o /dev/null -p ${main_pid} -e trace=${calls} -e inject=${calls}:error=${error}`,
    );
    await machine.until('strace', `grep -q '^TracerPid:.[1-9]' /proc/${main_pid}/status`);
    const ids = clinic.drop(3);
    const line = await machine.until(
      `the log under ${error}`,
      `journalctl -u eligd.service -o cat --after-cursor='${cursor}' | grep -E '"error_code":"(SQLITE_IOERR|SQLITE_FULL|EIO|ENOSPC|SQLITE_CANTOPEN)' | head -n1 | grep .`,
    );
    expectTrue(/"next":"[^"]+/.test(line), `no remedy: ${line}`);
    told.push(/"error_code":"(\w+)/.exec(line)?.[1] ?? '');
    machine.run('systemctl stop strace.service');
    await clinic.answered(ids, 60);
  }
  expectOneCallEach(clinic);
  return `injected with strace into the live service: told as ${told.join(', ')} with the remedy; afterwards everything was sent once and answered`;
}

/** Everything that was logged until here: what the catalogue knows, and nothing of a patient. */
async function journal(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const lines = clinic.journal().split('\n');
  const events = lines.filter((line) => line.startsWith('{"level"')).map((line) => JSON.parse(line) as Record<string, unknown>);
  const seen = new Set<string>();
  for (const { level, time: _, event, what: __, next: ___, ...fields } of events) {
    const entry: EventDescription | undefined = EVENTS[event as EventName];
    expectTrue(entry !== undefined && entry.level === level, `not in the catalogue: ${String(event)}`);
    const strange = Object.keys(fields).filter((name) => entry?.fields.includes(name) !== true);
    expectTrue(strange.length === 0, `${String(event)} has ${strange.join()}`);
    seen.add(String(event));
  }
  const leaked = clinic.secrets().filter((secret) => lines.some((line) => line.includes(secret)));
  expectTrue(events.length > 100 && leaked.length === 0, `${events.length} lines, leaked: ${leaked.join()}`);
  const warnings = machine.run(`journalctl -u eligd.service -o cat -p warning | grep -c '^{"level":"\\(warn\\|error\\)'`);
  const others = machine.try(`journalctl -u eligd.service -o cat -p warning | grep -c '^{"level":"info'`).stdout.trim();
  expectTrue(Number(warnings) > 0 && others === '0', `priority warning: ${warnings} warnings, ${others} others`);
  return `${events.length} lines of ${seen.size} events, all in the catalogue with its fields only; none of ${clinic.secrets().length} names, birth dates and member ids; ${warnings} by priority warning`;
}

async function remove(_: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('apt-get remove -y eligd 2>&1');
  expectTrue(machine.try('systemctl is-active eligd.service').code !== 0, 'It still runs.');
  expectTrue(machine.try('test -e /usr/lib/eligd || test -e /usr/bin/eligd').code !== 0, 'Files of the program are left.');
  machine.run(`test -e ${STATE}/eligd.db && test -e ${CONFIG} && test -e /etc/default/eligd`);
  return 'program gone; configuration, secrets, database and backups kept';
}

async function purge(_: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('apt-get purge -y eligd 2>&1');
  const left = machine.run(`ls -d /etc/eligd /etc/default/eligd ${STATE} /var/log/eligd ${DROP_IN} 2>/dev/null || true`);
  expectTrue(left === '', `left: ${left}`);
  machine.run(`test -d ${FOLDER}/outbox`);
  return "all of it gone; the clinic's drop folder is untouched";
}
