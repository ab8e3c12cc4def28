import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { run } from './capture.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

export const SECRETS = {
  oauth: { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'sandbox' },
  basic: { ELIGD_SERVICE_PROJECT_ID: 'sandbox', ELIGD_SERVICE_API_KEY: 'sandbox' },
} as const;

export type Installation = {
  folder: string;
  file: string;
  database: string;
  run: (args: string[], environment?: Record<string, string>) => ReturnType<typeof run>;
};

/**
 * A configuration in its own folder for the service at `base_url`, deleted after the test. `more`
 * is YAML after the rest.
 */
export function install(
  base_url: string,
  auth: keyof typeof SECRETS = 'oauth',
  more = '',
  submission = '',
): Installation {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-installation-'));
  folders.push(folder);
  const file = join(folder, 'eligd.yaml');
  writeFileSync(
    file,
    `clinic: { name: A, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "${base_url}", auth: ${auth}, timeout_seconds: 5${submission} }
connectors: [{ id: front-desk, type: csv, folder: ./dropbox }]
state: { path: ./state/eligd.db }
${more}`,
  );
  return {
    folder,
    file,
    database: join(folder, 'state/eligd.db'),
    run: (args, environment = {}) =>
      run([...args, '--config', file], {
        environment: { ...SECRETS[auth], ...environment },
        cwd: folder,
      }),
  };
}
