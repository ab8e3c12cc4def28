/** A disk that is full or broken, and a restored backup. */
import type { ClinicMachine } from './clinic.ts';
import { expectOneCallEach, expectTrue, STATE, waitUntil } from './common.ts';
import type { Machine } from './machine.ts';

export async function fullDisk(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run(
    `systemctl stop eligd.service && cp -a ${STATE} /root/state && mount -t tmpfs -o ` +
      `size=24m,mode=0700,uid=$(id -u eligd),gid=$(id -g eligd) tmpfs ${STATE} && cp -a ` +
      `/root/state/. ${STATE}/ && systemctl start eligd.service`,
  );
  machine.try(`dd if=/dev/zero of=${STATE}/filler bs=4k status=none`);
  const ids = clinic.drop(40);
  await machine.until(
    'the event',
    `journalctl -u eligd.service -o cat -n 50 | grep -E '"error_code":"(SQLITE_FULL|ENOSPC)'`,
  );
  expectTrue(clinic.service().active === 'active', 'It ended.');
  machine.run(`rm ${STATE}/filler`);
  await clinic.answered(ids, 60);
  expectOneCallEach(clinic);
  machine.run(
    `systemctl stop eligd.service && cp -a ${STATE}/. /root/state/ && umount ${STATE} && cp ` +
      `-a /root/state/. ${STATE}/ && systemctl start eligd.service`,
  );
  return (
    'told in the log while the service stayed up; with room again 40 more answers, one call ' +
    'each'
  );
}

/** EIO and ENOSPC for every write and fsync of the live service, for a while. */
export async function diskErrors(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const told: string[] = [];
  for (const [error, calls] of [
    ['EIO', 'fsync,fdatasync'],
    ['ENOSPC', 'fsync,fdatasync'],
    ['ENOSPC', 'pwrite64'],
    ['EIO', 'pwrite64'],
  ] as const) {
    const cursor = clinic.cursor();
    const { main_pid } = clinic.service();
    machine.run(
      'systemd-run -q --unit=strace -p KillSignal=SIGINT strace -f -qq -o /dev/null -p ' +
        `${main_pid} -e trace=${calls} -e inject=${calls}:error=${error}`,
    );
    await machine.until('strace', `grep -q '^TracerPid:.[1-9]' /proc/${main_pid}/status`);
    const ids = clinic.drop(3);
    const line = await machine.until(
      `the log under ${error}`,
      `journalctl -u eligd.service -o cat --after-cursor='${cursor}' | grep -E ` +
        `'"error_code":"(SQLITE_IOERR|SQLITE_FULL|EIO|ENOSPC|SQLITE_CANTOPEN)' | head -n1 | ` +
        'grep .',
    );
    expectTrue(/"next":"[^"]+/.test(line), `no remedy: ${line}`);
    told.push(`${error} in ${calls.split(',')[0]} as ${/"error_code":"(\w+)/.exec(line)?.[1]}`);
    machine.run('systemctl stop strace.service');
    await clinic.answered(ids, 60);
  }
  expectOneCallEach(clinic);
  return (
    `injected with strace into the live service: told ${told.join(', ')}, with the remedy; ` +
    'afterwards everything was sent once and answered'
  );
}

const SUBMISSIONS = 200;

/** Root restores a backup from before 200 submissions, as a contractor would. */
export async function restore(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const [backup = ''] = machine.run('eligd backup').split(' ');
  expectTrue(machine.run(`stat -c '%a %U' ${backup}`) === '600 eligd', backup);
  const ids = clinic.drop(SUBMISSIONS);
  await waitUntil('the calls', () => clinic.calls().length === clinic.all().length);
  machine.run('systemctl stop eligd.service');
  const said = machine.run(`eligd restore ${backup}`);
  expectTrue(/front-desk: \d+ files? (is|are) read again/.test(said), said);
  const cursor = clinic.cursor();
  machine.run('systemctl start eligd.service');
  await clinic.answered(ids);
  expectOneCallEach(clinic);
  const adopted = machine.run(
    `journalctl -u eligd.service -o cat --after-cursor='${cursor}' | grep -c ` +
      `'"event":"inquiry_adopted"'`,
  );
  expectTrue(Number(adopted) === SUBMISSIONS, `${adopted} adopted`);
  return (
    `${SUBMISSIONS} submissions after the backup: ${adopted} found at the service, none sent ` +
    'again, every answer written'
  );
}
