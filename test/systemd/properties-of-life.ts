/**
 * Start, stop, and everything that ends the daemon: systemd's reaction, and that nothing is lost or
 * sent twice.
 */
import { type ClinicMachine, FOLDER } from './clinic.ts';
import { CONFIG, DROP_IN, expectOneCallEach, expectTrue, STATE, waitUntil } from './common.ts';
import type { Machine } from './machine.ts';

export async function stop(clinic: ClinicMachine, machine: Machine): Promise<string> {
  clinic.sandbox(
    'POST',
    '/_sandbox/faults',
    '[{"method": "POST", "path": "inquiries", "when": "after", "action": "delay", ' +
      '"delay_ms": 700, "times": 1}]',
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

export async function sigkill(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const before = clinic.service();
  const ids = clinic.drop(3);
  machine.run('systemctl kill -s KILL eligd.service');
  await waitUntil(
    'the new process',
    () => clinic.service().main_pid !== before.main_pid && clinic.service().active === 'active',
  );
  await clinic.answered(ids);
  expectOneCallEach(clinic);
  return `back to work, ${clinic.service().restarts - before.restarts} restart, one call each`;
}

export async function hangingProcess(clinic: ClinicMachine, machine: Machine): Promise<string> {
  quickWatchdog(machine);
  const before = clinic.service();
  machine.run('systemctl kill -s STOP eligd.service');
  await waitUntil(
    'the watchdog',
    () => clinic.service().main_pid !== before.main_pid && clinic.service().active === 'active',
  );
  return 'SIGSTOP: the watchdog killed it, and it came back';
}

function quickWatchdog(machine: Machine): void {
  machine.run(
    `printf '[Service]\\nWatchdogSec=3s\\nRestartSec=500ms\\n' >${DROP_IN}/zz-test.conf && ` +
      'systemctl daemon-reload && systemctl restart eligd.service',
  );
}

/**
 * A connector whose source stops answering, like a hard-mounted share; it waits for work until
 * then.
 */
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

export async function hangingStage(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.write('/etc/eligd/hanging.mjs', HANGING);
  machine.run(`cp -p ${CONFIG} /root/eligd.yaml`);
  machine.run(
    `sed -i -e 's|^state:|  - { id: share, type: ./hanging.mjs }\\nstate:|' -e 's|^  ` +
      `settle_seconds|  external_id: "{connector}:{appointment}"\\n&|' ${CONFIG}`,
  );
  machine.run('systemctl restart eligd.service');
  const before = clinic.service();
  // Twice the watchdog's time without any work is not a hang.
  await new Promise((done) => setTimeout(done, 7000));
  expectTrue(
    clinic.service().main_pid === before.main_pid,
    'It was killed while it waited for work.',
  );
  machine.run(`touch ${FOLDER}/hang`);
  await waitUntil('the watchdog', () => clinic.service().main_pid !== before.main_pid);
  const journal = clinic.journal('-n 30');
  expectTrue(/"event":"stage_hangs","stage":"pull share"/.test(journal), journal);
  machine.run(
    `rm ${FOLDER}/hang && cp -p /root/eligd.yaml ${CONFIG} && rm ${DROP_IN}/zz-test.conf && ` +
      'systemctl daemon-reload && systemctl restart eligd.service',
  );
  return (
    'idle for twice the watchdog it was left alone; with one stage hanging it was killed and ' +
    'started again'
  );
}

export async function badConfiguration(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run(`cp -p ${CONFIG} /root/eligd.yaml && echo 'polcy: {}' >>${CONFIG}`);
  machine.try('systemctl restart eligd.service');
  // A restart that is due would show as "activating".
  const { active, exit, restarts } = clinic.service();
  const journal = clinic.journal('-n 12');
  expectTrue(
    active === 'failed' && exit === 78 && restarts === 0,
    `${active}, exit ${exit}, ${restarts} restarts`,
  );
  expectTrue(/line \d+, polcy: is not a known key/.test(journal), journal);
  machine.run(`cp -p /root/eligd.yaml ${CONFIG} && systemctl restart eligd.service`);
  return 'failed with 78, no restart, the line and the key in the journal';
}

/** OnFailure= and ExecStopPost= both run `eligd alert failed`, which sends one message. */
export async function alertOfFailure(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const alerts = `${STATE}/alerts.jsonl`;
  const target = `alerts: { targets: [{ id: desk, type: file, path: ${alerts} }] }`;
  machine.run(`cp -p ${CONFIG} /root/eligd.yaml && echo '${target}' >>${CONFIG}`);
  machine.run('systemctl restart eligd.service');
  expectTrue(clinic.service().active === 'active', clinic.journal('-n 12'));
  // The last valid configuration has the target; this one cannot be read at all.
  machine.run(`echo 'clinic: [' >>${CONFIG}`);
  machine.try('systemctl restart eligd.service');
  await machine.until('the alert', `grep -q daemon_failed ${alerts}`, 60);
  await machine.until(
    'the end of eligd-failed.service',
    "systemctl show eligd-failed.service -p SubState --value | grep -qx 'dead'",
  );
  const lines = machine.run(`cat ${alerts}`).split('\n');
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expectTrue(told.length === 1 && told[0]?.level === 'urgent', lines.join('\n'));
  const next = String(told[0]?.next);
  expectTrue(machine.run(`stat -c %U ${alerts}`) === 'eligd', 'It is not eligd’s.');
  const result = machine.run('systemctl show eligd-failed.service -p Result --value');
  expectTrue(result === 'success' && clinic.service().active === 'failed', result);
  machine.run(`cp -p /root/eligd.yaml ${CONFIG} && systemctl restart eligd.service`);
  return `a target of the last good configuration was told once, with what to do (${next})`;
}

export async function tamperedCredential(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const file = '/etc/eligd/credentials/service_password.cred';
  // One byte in the middle of the encrypted data.
  machine.run(
    `cp -p ${file} /root/credential && base64 -d ${file} >/tmp/c && printf '\\377\\0' | dd ` +
      `of=/tmp/c bs=1 seek=150 conv=notrunc status=none && base64 /tmp/c >${file}`,
  );
  machine.run(`base64 -d /root/credential | cmp -s - /tmp/c && exit 1 || exit 0`);
  machine.try('systemctl restart eligd.service');
  const { active, exit, restarts } = clinic.service();
  expectTrue(
    active === 'failed' && exit === 243 && restarts === 0,
    `${active}, exit ${exit}, ${restarts} restarts`,
  );
  const journal = machine.run('journalctl -u eligd.service -n 12 -o cat --no-pager');
  expectTrue(/credential/i.test(journal), journal);
  machine.run(`cp -p /root/credential ${file} && systemctl restart eligd.service`);
  return 'refused with 243, no restart, the credential named in the journal';
}
