export type Environment = Readonly<Record<string, string | undefined>>;

/** Node checks no certificate when this is 0, whatever the program wants. */
export const CHECKS_OFF = 'NODE_TLS_REJECT_UNAUTHORIZED';

/**
 * Takes a copy of the process's environment and deletes from the process what eligd alone may use:
 * its secrets, which no child process, library or connector then inherits, and the switch that
 * turns off the checking of certificates (`applyCertificateSwitch`).
 */
export function takeEnvironment(environment: NodeJS.ProcessEnv): Environment {
  const taken = { ...environment };
  for (const name of Object.keys(environment)) {
    if (name.startsWith('ELIGD_') || name === 'CREDENTIALS_DIRECTORY' || name === CHECKS_OFF)
      delete environment[name];
  }
  return taken;
}

/** Whether this process makes TLS connections without looking at certificates. */
export function areCertificatesUnchecked(): boolean {
  return process.env[CHECKS_OFF] === '0';
}

/**
 * The environment turns off the checking of certificates only when the configuration allows it too
 * (`service.allow_insecure`). Gives the warning to print; null when nobody has asked for it.
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
