/** Shared by the properties of a booted machine. */
import { type ClinicMachine, FOLDER, noonZone } from './clinic.ts';
import type { Machine } from './machine.ts';

/** `see` returns what it saw, in a few words, and throws if it was something else. */
export type Property = {
  name: string;
  see: (clinic: ClinicMachine, machine: Machine) => Promise<string>;
};

export const CONFIG = '/etc/eligd/eligd.yaml';
export const STATE = '/var/lib/eligd';
export const DROP_IN = '/etc/systemd/system/eligd.service.d';
export const DOC = '/usr/share/doc/eligd';
export const NODE = '/usr/lib/eligd/node_modules/.bin/node';
export const SECRETS = { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'sandbox' };

/**
 * Quick where a clinic is patient, so that the whole test takes minutes and not days. The older
 * build of the upgrade also reads it. Before the day of the answer, eligd polls 24 times as rarely.
 */
const QUICK = `
polling: { interval_minutes: 0.0008, urgent_interval_minutes: 0.02 }
schedule: { pull_seconds: 0.5 }
policy: { look_ahead_days: 14, min_lead_hours: 0 }
`;

export const INIT =
  `eligd init --system --yes --clinic-name 'Riverside Dental' --time-zone ${noonZone()} ` +
  '--tax-id 123456789 --billing-npi 1234567893 --base-url http://127.0.0.1:8700 --folder ' +
  `${FOLDER} 2>&1`;

export function expectTrue(is_so: boolean, otherwise: string): void {
  if (!is_so) throw new Error(otherwise);
}

export async function waitUntil(what: string, isSo: () => boolean, seconds = 30): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await new Promise((done) => setTimeout(done, 200));
  }
}

export function expectOneCallEach(clinic: ClinicMachine): void {
  const calls = clinic.calls().toSorted();
  const wanted = clinic.all().toSorted();
  expectTrue(
    calls.join() === wanted.join(),
    `calls ${calls.join()}, appointments ${wanted.join()}`,
  );
}

/** Makes the configuration from `init` a quick one; `more` is YAML after it. */
export async function beQuick(machine: Machine, more = ''): Promise<void> {
  const quick_service =
    's/^  auth: .*/  auth: oauth\\n  settle_seconds: 1\\n  timeout_seconds: 1\\n  ' +
    'submission: { max_per_minute: 0 }/';
  const quick_folder = `s/^    folder: .*/&\\n    stable_seconds: 0\\n    export: changes/`;
  machine.run(`sed -i -e '${quick_service}' -e '${quick_folder}' ${CONFIG}`);
  machine.run(`cat >>${CONFIG} <<'END'\n${QUICK}${more}\nEND\nsystemctl restart eligd.service`);
  await machine.until('the drop folder', `test -d ${FOLDER}/inbox`);
}
