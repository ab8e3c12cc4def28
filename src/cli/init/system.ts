/** `eligd init --system`: sets up what the installed service needs beyond its package. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EligdError } from '../../domain/errors.ts';
import { INSTALLED } from '../installed.ts';
import { writeNew } from './files.ts';

export function requireRoot(): void {
  if (process.getuid?.() !== 0)
    throw notPossible('This user is not root.', 'Run "sudo eligd init --system".');
  if (serviceUser() === null) {
    const next =
      'Install the package (apt install ./eligd_*.deb), which creates the user. Without the ' +
      'package, run "eligd init".';
    throw notPossible('There is no user "eligd" on this machine.', next);
  }
}

function notPossible(why: string, next: string): EligdError {
  return new EligdError('usage', {
    what: 'The eligd service cannot be set up on this machine.',
    why,
    next,
  });
}

function serviceUser(): { uid: number; gid: number } | null {
  const { status, stdout } = spawnSync('getent', ['passwd', INSTALLED.user], { encoding: 'utf8' });
  const [, , uid, gid] = stdout?.split(':') ?? [];
  return status === 0 ? { uid: Number(uid), gid: Number(gid) } : null;
}

/** `file` receives the configuration `text`; `folder` is the connector's drop folder. */
export type SystemInstallation = {
  file: string;
  text: string;
  folder: string;
  secrets: ReadonlyMap<string, string>;
};

/**
 * Writes configuration, secrets, drop-in, and drop folder; returns the paths. Secrets become
 * credentials: encrypted with this machine's key if systemd-creds is available (systemd 250),
 * otherwise files that only root can read.
 */
export function writeSystem(parts: SystemInstallation): string[] {
  const owner = serviceUser() ?? { uid: 0, gid: 0 };
  const made = makeDropFolder(parts.folder, owner);
  // From an earlier setup: keeps lines that an administrator may have added.
  const old = `${INSTALLED.drop_in}.old`;
  const had_one = existsSync(INSTALLED.drop_in);
  if (had_one) renameSync(INSTALLED.drop_in, old);
  mkdirSync(INSTALLED.credentials, { recursive: true, mode: 0o700 });
  const lines = [...parts.secrets].map(([name, value]) =>
    writeCredential(name.replace(/^ELIGD_/, '').toLowerCase(), value),
  );
  writeNew(INSTALLED.drop_in, dropIn(parts.folder, lines), 0o644);
  chmodSync(dirname(INSTALLED.drop_in), 0o755);
  writeNew(parts.file, parts.text, 0o640);
  chownSync(parts.file, 0, owner.gid);
  return [
    parts.file,
    INSTALLED.credentials,
    had_one ? `${INSTALLED.drop_in} (the previous file is kept as ${old})` : INSTALLED.drop_in,
    ...(made ? [parts.folder] : []),
  ];
}

/**
 * Creates the folder, but not its parent: eligd must not create a folder where a share is not
 * mounted.
 */
function makeDropFolder(folder: string, { uid, gid }: { uid: number; gid: number }): boolean {
  if (/[:\p{Cc}]/u.test(folder)) {
    throw new EligdError('usage', {
      what:
        'The path of the drop folder contains a colon or a control character; nothing was ' +
        'written.',
      why: 'A systemd unit cannot name such a path.',
      next: 'Use --folder to name another folder.',
    });
  }
  if (existsSync(folder)) {
    if (statSync(folder).isDirectory()) return false;
    throw new EligdError('usage', {
      what: `${folder} is not a folder; nothing was written.`,
      why: 'The drop folder contains inbox/, outbox/, and other folders.',
      next: 'Use --folder to name a folder.',
    });
  }
  if (!existsSync(dirname(folder))) {
    throw new EligdError('failed', {
      what: `The drop folder ${folder} cannot be created; nothing was written.`,
      why: `${dirname(folder)} does not exist.`,
      next:
        'If it is on a network share, mount the share first. Otherwise use --folder to name ' +
        'another folder.',
    });
  }
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, uid, gid);
  return true;
}

/** Writes one credential and returns its line for the unit. */
function writeCredential(name: string, value: string): string {
  for (const old of [name, `${name}.cred`])
    rmSync(join(INSTALLED.credentials, old), { force: true });
  const encrypted = spawnSync('systemd-creds', ['encrypt', `--name=${name}`, '-', '-'], {
    input: value,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (encrypted.status === 0) {
    const file = join(INSTALLED.credentials, `${name}.cred`);
    writeNew(file, encrypted.stdout, 0o600);
    return `LoadCredentialEncrypted=${name}:${file}`;
  }
  const file = join(INSTALLED.credentials, name);
  writeNew(file, value, 0o600);
  return `LoadCredential=${name}:${file}`;
}

function dropIn(folder: string, credentials: readonly string[]): string {
  const escaped = folder.replaceAll('%', '%%').replaceAll(/["\\]/g, '\\$&');
  const home =
    '# The drop folder is in a home directory; the others stay hidden.\nProtectHome=tmpfs\n';
  return `# Written by "eligd init --system": what belongs to this clinic. After a change:
# "systemctl daemon-reload".
[Unit]
# The drop folder may lie on a share: the daemon starts when it is mounted.
RequiresMountsFor="${escaped}"

[Service]
# Nothing else of this machine's files is there for the daemon (RootDirectory= in eligd.service).
BindPaths="${escaped}"
${folder.startsWith('/home/') ? home : ''}# Secrets, readable by the daemon alone while it runs.
# To change one: systemd-creds encrypt --name=NAME - FILE
${credentials.join('\n')}
`;
}

/** Starts the service if systemd runs here, and returns the result as text. */
export function startSystem(): string {
  if (!existsSync('/run/systemd/system'))
    return '\nsystemd is not running here, so the service was not started.\n';
  execFileSync('systemctl', ['daemon-reload']);
  execFileSync('systemctl', ['enable', '--quiet', 'eligd.service']);
  const { status } = spawnSync('systemctl', ['restart', 'eligd.service'], { stdio: 'ignore' });
  if (status === 0)
    return (
      '\nThe service is running. "systemctl status eligd" shows it; "journalctl -u eligd" ' +
      'shows its log.\n'
    );
  throw new EligdError('failed', {
    what: 'Everything is written, but the service did not start.',
    why: '"journalctl -u eligd -n 20" shows why.',
    next: 'Fix that and run "systemctl restart eligd".',
  });
}
