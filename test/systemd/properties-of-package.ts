/** The files that the package brings, makes, keeps, and removes. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign } from '../../systemd/sign.ts';
import { type ClinicMachine, FOLDER } from './clinic.ts';
import {
  beQuick,
  CONFIG,
  DOC,
  DROP_IN,
  expectOneCallEach,
  expectTrue,
  INIT,
  NODE,
  SECRETS,
  STATE,
} from './common.ts';
import type { Machine } from './machine.ts';

const COUNT_MIGRATIONS =
  'cd /usr/lib/eligd && node_modules/.bin/node -e "console.log(new ' +
  `(require('better-sqlite3'))('${STATE}/eligd.db').prepare('select count(*) from ` +
  `kysely_migration').pluck().get())"`;

export async function install({ service }: ClinicMachine, machine: Machine): Promise<string> {
  const said = machine.run('apt-get install -y /root/eligd_newer.deb 2>&1');
  expectTrue(said.includes('eligd init --system'), `It does not say how to go on: ${said}`);
  machine.run('eligd --version && getent passwd eligd');
  const modes = machine.run(`stat -c '%a %U %n' ${STATE} /etc/eligd /var/log/eligd`).split('\n');
  expectTrue(modes[0] === `700 eligd ${STATE}`, modes.join(', '));
  // An unconfigured service is not a failure: the unit waits for its configuration.
  machine.run('systemctl start eligd.service');
  expectTrue(
    service().active === 'inactive' &&
      machine.run('systemctl is-enabled eligd.service') === 'enabled',
    service().active,
  );
  return (
    `version ${machine.run('eligd --version')} by apt, its Node ` +
    `${machine.run('/usr/lib/eligd/node_modules/.bin/node --version')}, user and folders made`
  );
}

export async function init(clinic: ClinicMachine, machine: Machine): Promise<string> {
  await clinic.startSandbox();
  machine.run('mkdir -p /srv/clinic');
  const said = machine.run(INIT, SECRETS);
  expectTrue(said.includes('ok service:') && clinic.service().active === 'active', said);
  const modes = machine
    .run(`stat -c '%a %U' /etc/eligd/credentials /etc/eligd/credentials/* ${CONFIG} ${FOLDER}`)
    .split('\n');
  expectTrue(
    modes.join() === '700 root,600 root,600 root,600 root,640 root,700 eligd',
    modes.join(),
  );
  const drop_in = machine.run(`cat ${DROP_IN}/clinic.conf`);
  expectTrue(/^LoadCredentialEncrypted=service_password:/m.test(drop_in), drop_in);
  expectTrue(
    machine.try(`grep -r sandbox /etc/eligd ${DROP_IN}`).code !== 0,
    'The password stands somewhere in the clear.',
  );
  expectEncrypted(machine, `${STATE}/eligd.db`);
  const key = machine.run('eligd database key --current').split('\n');
  expectTrue(key.length === 4 && key.every((line) => said.includes(line)), said);
  return (
    'configuration, encrypted credentials and drop-in written, check passed, service started, ' +
    'the database encrypted with the recovery key that it printed'
  );
}

/** An encrypted file begins with eligd's mark instead of SQLite's own words. */
function expectEncrypted(machine: Machine, file: string): void {
  const head = machine.run(`head -c 8 ${file}`);
  expectTrue(head === 'eligdAES', `${file} begins with ${head}`);
}

/** apt has the key on an upgrade, and so do root's commands; the service needs it. */
export async function encrypted(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('systemctl stop eligd.service');
  machine.run('/var/lib/dpkg/info/eligd.postinst configure 0.0.0 2>&1');
  expectEncrypted(machine, `${STATE}/backups/before-upgrade-from-0.0.0-*.db`);
  const line = 'LoadCredentialEncrypted=database_key';
  machine.run(
    `sed -i 's/^${line}/#${line}/' ${DROP_IN}/clinic.conf && systemctl daemon-reload && ` +
      '{ systemctl restart eligd.service || true; }',
  );
  expectTrue(
    clinic.service().exit === 78,
    `without its key it ended with ${clinic.service().exit}`,
  );
  const said = clinic.journal('-n 8 -p 3');
  expectTrue(said.includes('is encrypted, but eligd has no key'), said);
  machine.run(
    `sed -i 's/^#${line}/${line}/' ${DROP_IN}/clinic.conf && systemctl daemon-reload && ` +
      'systemctl stop eligd.service && eligd database decrypt',
  );
  expectTrue(machine.run(`head -c 6 ${STATE}/eligd.db`) === 'SQLite', 'It was not decrypted.');
  machine.run('eligd database encrypt && systemctl reset-failed eligd.service');
  expectEncrypted(machine, `${STATE}/eligd.db`);
  machine.run('systemctl start eligd.service');
  return (
    'the copy of an upgrade is encrypted; without its key the service ends with 78 and the ' +
    'journal says why; decrypted and encrypted again as root'
  );
}

export async function unit(_: ClinicMachine, machine: Machine): Promise<string> {
  machine.run(
    'systemd-analyze verify --recursive-errors=yes /usr/lib/systemd/system/eligd.service 2>&1',
  );
  return 'systemd-analyze verify knows every line';
}

export async function exposure(_: ClinicMachine, machine: Machine): Promise<string> {
  const said = machine.run('systemd-analyze security --no-pager eligd.service');
  const level = Number(
    /Overall exposure level for eligd.service: ([\d.]+)/.exec(said)?.[1] ?? Number.NaN,
  );
  expectTrue(level <= 1.2, `${level}\n${said}`);
  return `systemd-analyze security says ${level}`;
}

/**
 * A contractor's commands run as the service: they leave no files of root, and they have the
 * secrets.
 */
export async function rootsCommands(_: ClinicMachine, machine: Machine): Promise<string> {
  const checked = machine.run('cd /root && eligd check 2>&1');
  expectTrue(checked.includes('ok service:') && !checked.includes('!!'), checked);
  machine.run(
    '{ eligd status || [ $? -eq 75 ]; } && eligd list && eligd backup && eligd config show',
  );
  const others = machine.run(`find ${STATE} ${FOLDER} ! -user eligd`);
  expectTrue(others === '', `not the service's: ${others}`);
  machine.run(
    `cp -p ${CONFIG} /root/eligd.yaml && printf 'backup: { folder: /mnt/copies }\\n' >>${CONFIG}`,
  );
  const unseen = machine.try('eligd check 2>&1');
  expectTrue(
    unseen.code === 78 && unseen.stdout.includes('BindPaths="/mnt/copies"'),
    unseen.stdout,
  );
  machine.run(`cp -p /root/eligd.yaml ${CONFIG}`);
  const twice = machine.try(INIT, SECRETS);
  expectTrue(twice.code === 1 && twice.stdout.includes('nothing was changed'), twice.stdout);
  return (
    'check finds the secrets, a backup belongs to the service, a folder that the daemon does ' +
    'not see is told, init twice changes nothing'
  );
}

type Bill = {
  metadata: { component: { name: string; version: string } };
  components: { purl: string; cpe?: string }[];
};

/** `same` is the file of a second build of the same commit. */
export async function supplyChain(machine: Machine, same: Promise<string>): Promise<string> {
  const bill = JSON.parse(machine.run(`cat ${DOC}/sbom.cdx.json`)) as Bill;
  const licenses = machine.run(`cat ${DOC}/copyright`);
  // A package lies below node_modules/ or node_modules/@scope/; other files of this name in it are
  // none.
  const found = machine
    .run(`find /usr/lib/eligd/node_modules -name package.json`)
    .split('\n')
    .filter((path) => /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
  const read = machine.run(
    `${NODE} -e "for (const p of process.argv.slice(1)) { const { name, version } = ` +
      `require(p); console.log(name + '@' + version); }" ${found.join(' ')}`,
  );
  const inside = read.split('\n').toSorted();
  const listed = bill.components
    .filter(({ purl }) => purl.startsWith('pkg:npm/'))
    .map(({ purl }) => decodeURIComponent(purl.slice('pkg:npm/'.length)))
    .toSorted();
  // The built program contains the code of the others.
  const manifest = machine.run('cat /usr/lib/eligd/package.json');
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  const wanted = [
    ...inside,
    ...Object.entries(dependencies).map(([name, version]) => `${name}@${version}`),
  ];
  const unlisted = wanted.filter((each) => !listed.includes(each));
  expectTrue(inside.length > 10 && unlisted.length === 0, `not listed: ${unlisted.join()}`);
  const unlicensed = listed.filter(
    (each) => !licenses.includes(`\n${each.replace(/@([^@]+)$/, ' $1, ')}`),
  );
  expectTrue(unlicensed.length === 0, `no license of ${unlicensed.join()}`);
  const programs = bill.components.flatMap(({ cpe }) =>
    cpe === undefined ? [] : [cpe.split(':').slice(4, 6).join(' ')],
  );
  expectTrue(programs.length === 3, programs.join());
  expectTrue(bill.metadata.component.name === 'eligd', JSON.stringify(bill.metadata.component));
  const sha256 = createHash('sha256')
    .update(readFileSync(await same))
    .digest('hex');
  expectTrue(
    machine.run('sha256sum /root/eligd_newer.deb').startsWith(sha256),
    'A second build has other bytes.',
  );
  return (
    `${listed.length} packages, ${programs.join(' and ')} in the bill of materials, each with ` +
    'its license; a second build is the same to the byte'
  );
}

/**
 * With the commands of docs/systemd.md, a clinic finds the signature good, and one changed byte.
 */
export async function signature(same: Promise<string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-signed-'));
  const env = { ...process.env, GNUPGHOME: folder };
  const run = (command: string) =>
    spawnSync('sh', ['-c', command], { cwd: folder, env, encoding: 'utf8' });
  try {
    const made = run("gpg --batch --passphrase '' --quick-generate-key eligd@example.org ed25519");
    expectTrue(made.status === 0, made.stderr);
    const deb = join(folder, 'eligd.deb');
    cpSync(await same, deb);
    sign([deb], 'eligd@example.org', folder);
    const check = 'gpg --verify SHA256SUMS.asc SHA256SUMS && sha256sum --check SHA256SUMS';
    const good = run(check);
    expectTrue(good.status === 0 && good.stdout === 'eligd.deb: OK\n', good.stderr);
    appendFileSync(deb, ' ');
    expectTrue(run(check).status !== 0, 'A changed package passed.');
    writeFileSync(join(folder, 'SHA256SUMS'), 'other');
    expectTrue(run(check).status !== 0, 'Changed sums passed.');
  } finally {
    run('gpgconf --kill all');
    rmSync(folder, { recursive: true });
  }
  return 'gpg finds it good; a changed package and changed sums are found';
}

export async function upgrade(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('apt-get install -y /root/eligd_older.deb 2>&1');
  machine.run(INIT, SECRETS);
  await beQuick(machine);
  // That build knows no payer hours, and polls often only for visits of today.
  await clinic.answered(clinic.drop(3, 0));
  const migrations = () => machine.run(`${COUNT_MIGRATIONS}`);
  // It has no backup yet, so status exits with 75: one of its answers is unknown.
  const count = () =>
    JSON.parse(machine.try(`eligd status --json`).stdout).appointments.total as number;
  const [before, migrated] = [count(), migrations()];
  machine.run('echo "# mine" >>/etc/default/eligd');
  const said = machine.run(
    'apt-get install -y -o Dpkg::Options::=--force-confold /root/eligd_newer.deb 2>&1',
  );
  const [backup = ''] = machine
    .run(`ls ${STATE}/backups/before-upgrade-from-0.0.1-*.db`)
    .split('\n');
  expectTrue(machine.run(`stat -c '%a %U' ${backup}`) === '600 eligd', said);
  expectTrue(
    clinic.service().active === 'active' && count() === before,
    `${clinic.service().active}, ${count()} of ${before}\n${said}`,
  );
  expectTrue(
    Number(migrations()) > Number(migrated),
    `${migrated} migrations before, ${migrations()} after`,
  );
  expectTrue(
    machine.run('tail -n1 /etc/default/eligd') === '# mine',
    'A changed conffile was replaced.',
  );
  await clinic.answered(clinic.drop(2));
  expectOneCallEach(clinic);
  return (
    `${before} appointments kept, a backup of them made first, ${migrated} migrations became ` +
    `${migrations()}, the service up, settings kept`
  );
}

/**
 * An older version does not open a newer database; the copy from before the upgrade restores it.
 */
export async function goingBack(clinic: ClinicMachine, machine: Machine): Promise<string> {
  const [backup = ''] = machine
    .run(`ls ${STATE}/backups/before-upgrade-from-0.0.1-*.db`)
    .split('\n');
  const newer =
    `new (require('better-sqlite3'))('${STATE}/eligd.db').exec('insert into kysely_migration ` +
    `values (char(57), char(57))')`;
  machine.run(`systemctl stop eligd.service; cd /usr/lib/eligd && ${NODE} -e "${newer}"`);
  // As dpkg calls it when this version replaces a newer one.
  const said = machine.run('/var/lib/dpkg/info/eligd.postinst configure 9.9.9 2>&1');
  expectTrue(said.includes('the service did not start') && clinic.service().exit === 78, said);
  expectTrue(clinic.journal('-n 8').includes('written by a newer eligd'), clinic.journal('-n 8'));
  machine.run(`eligd restore ${backup} && systemctl start eligd.service`);
  await clinic.answered(clinic.drop(1));
  expectOneCallEach(clinic);
  return (
    'the package stays whole and the journal names the way; with the copy from before the ' +
    'upgrade it goes on, one call each'
  );
}

export async function remove(clinic: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('apt-get remove -y eligd 2>&1');
  expectTrue(machine.try('systemctl is-active eligd.service').code !== 0, 'It still runs.');
  expectTrue(
    machine.try('test -e /usr/lib/eligd || test -e /usr/bin/eligd').code !== 0,
    'Files of the program are left.',
  );
  machine.run(`test -e ${STATE}/eligd.db && test -e ${CONFIG} && test -e /etc/default/eligd`);
  machine.run('apt-get install -y /root/eligd_newer.deb 2>&1');
  expectTrue(clinic.service().active === 'active', 'It does not run after it was installed again.');
  return (
    'program gone; configuration, secrets, database and backups kept; installed again it goes ' +
    'on'
  );
}

export async function purge(_: ClinicMachine, machine: Machine): Promise<string> {
  machine.run('apt-get purge -y eligd 2>&1');
  const left = machine.run(
    `ls -d /etc/eligd /etc/default/eligd ${STATE} /var/log/eligd ${DROP_IN} ` +
      '/etc/systemd/system/*/eligd.service 2>/dev/null || true',
  );
  expectTrue(left === '', `left: ${left}`);
  machine.run(`test -d ${FOLDER}/outbox`);
  return "all of it gone; the clinic's drop folder is untouched";
}
