export type Environment = Readonly<Record<string, string | undefined>>;

/** Node checks no certificates when this is 0, regardless of the program's settings. */
export const CHECKS_OFF = 'NODE_TLS_REJECT_UNAUTHORIZED';

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
  if (!allow_insecure)
    return (
      `eligd: ${CHECKS_OFF}=0 is ignored; certificates are checked. For a test against a ` +
      'server without a valid certificate, also set service.allow_insecure: true.\n'
    );
  process.env[CHECKS_OFF] = '0';
  return (
    `eligd: WARNING: certificates are NOT checked (${CHECKS_OFF}=0 and service.allow_insecure: ` +
    'true). Anyone on the network can read and change patient data. Use this for tests only.\n'
  );
}
