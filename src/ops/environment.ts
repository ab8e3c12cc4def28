import { resolve } from 'node:path';
import { distrusted } from './trusted-files.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Names a file of authorities that Node trusts for every connection, whoever wrote it. */
const EXTRA_AUTHORITIES = 'NODE_EXTRA_CA_CERTS';

/** Node checks no certificates when this is 0, regardless of the program's settings. */
const CHECKS_OFF = 'NODE_TLS_REJECT_UNAUTHORIZED';

/**
 * Copies the process's environment, and deletes from the process the variables that only eligd may
 * use: its secrets, so that no child process, library, or connector inherits them, and the switch
 * that turns off certificate checks (`applyCertificateSwitch`).
 */
export function takeEnvironment(environment: NodeJS.ProcessEnv): Environment {
  const taken = { ...environment };
  for (const name of Object.keys(environment)) {
    if (name.startsWith('ELIGD_') || name === 'CREDENTIALS_DIRECTORY' || name === CHECKS_OFF)
      delete environment[name];
  }
  return taken;
}

/** Returns whether this process skips certificate checks. */
export function areCertificatesUnchecked(): boolean {
  return process.env[CHECKS_OFF] === '0';
}

/**
 * Turns off certificate checks only if the configuration allows it too (`service.allow_insecure`).
 * Returns the warning to print; null: the environment does not ask for it.
 */
export function applyCertificateSwitch(
  environment: Environment,
  allow_insecure: boolean,
): string | null {
  if (environment[CHECKS_OFF] !== '0') return null;
  if (!allow_insecure) {
    // A configuration before a reload may have allowed it.
    delete process.env[CHECKS_OFF];
    return (
      `eligd: ${CHECKS_OFF}=0 is ignored; certificates are checked. For a test against a ` +
      'server without a valid certificate, also set service.allow_insecure: true.\n'
    );
  }
  process.env[CHECKS_OFF] = '0';
  return (
    `eligd: WARNING: certificates are NOT checked (${CHECKS_OFF}=0 and service.allow_insecure: ` +
    'true). Anyone on the network can read and change patient data. Use this for tests only.\n'
  );
}

/**
 * Checks the file that NODE_EXTRA_CA_CERTS names like other trusted files, because anyone who can
 * write it can pose as any server. If it fails, this process and its children ignore it. Returns
 * the warning to print; null if there is none.
 */
export function applyExtraAuthorities(environment: NodeJS.ProcessEnv): string | null {
  const file = environment[EXTRA_AUTHORITIES];
  if (file === undefined || file === '') return null;
  const [first] = distrusted(resolve(file), { role: 'certificate' });
  if (first === undefined) return null;
  delete environment[EXTRA_AUTHORITIES];
  // Most processes make no connection, and Node reads its authorities at the first one.
  const { getCACertificates, setDefaultCACertificates } = process.getBuiltinModule('node:tls');
  const extra = new Set(getCACertificates('extra'));
  const rest = getCACertificates('default').filter((each) => !extra.has(each));
  setDefaultCACertificates([...new Set([...getCACertificates('bundled'), ...rest])]);
  const next = first.command === null ? 'move the file' : `run "${first.command}"`;
  return (
    `eligd: WARNING: ${EXTRA_AUTHORITIES} is ignored, because ${first.path} ${first.why}. ` +
    `Connections that need this authority fail. To use it, ${next}.\n`
  );
}
