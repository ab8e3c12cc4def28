import { parseConfig } from './config.ts';
import type { ConfigProblem } from './config-document.ts';
import { ConfigError } from './config-problems.ts';
import { shippedFile } from './project.ts';

/** The answers to `eligd init`, as typed. */
export type NewInstallation = {
  clinic_name: string;
  time_zone: string;
  specialty: string;
  tax_id: string;
  billing_npi: string;
  base_url: string;
  auth: string;
  /** The drop folder. */
  folder: string;
  state_path: string;
};

/**
 * Returns a commented configuration with these values, every other key at its default. Validate it
 * with `judgeNewConfig`.
 */
export function newConfigText(values: NewInstallation): string {
  // Every JSON text is valid YAML.
  const quoted = (text: string) => JSON.stringify(text);
  return `# The configuration of eligd, written by "eligd init". Every other key, with its
# default, is in ${shippedFile('config/example.yaml')}.
# After a change: "eligd check", then restart the daemon. Do not put secrets here.
clinic:
  name: ${quoted(values.clinic_name)} # as the payer should hear it
  time_zone: ${quoted(values.time_zone)} # for appointment times and "today"
  # dental | medical | mental_health; an appointment may say otherwise
  specialty: ${quoted(values.specialty)}
  tax_id: ${quoted(values.tax_id)}
  billing_npi: ${quoted(values.billing_npi)}
service:
  base_url: ${quoted(values.base_url)}
  auth: ${quoted(values.auth)} # oauth: user name and password | basic: project ID and API key
connectors:
  - id: front-desk # goes into the log; letters, digits, dashes
    type: csv
    # inbox/ processing/ processed/ rejected/ outbox/ are made inside
    folder: ${quoted(values.folder)}
state:
  path: ${quoted(values.state_path)} # holds patient data

# The keys that clinics change most often:
# policy:
#   look_ahead_days: 7 # earliest day of the call, in days before the visit
#   reverify_after_days: 30 # how many days an answer is used for later visits
#   calls_per_month: null # a number; calls beyond it wait
#   payers: ./payers.csv # the service’s names for the payers in your PMS
# backup:
#   folder: /mnt/backup/eligd # better on another disk
`;
}

/** Returns every problem of the text, which would be at `file`. */
export async function judgeNewConfig(
  text: string,
  file: string,
): Promise<readonly ConfigProblem[]> {
  try {
    await parseConfig(text, file);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
