import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EligdError } from '../../src/domain/errors.ts';
import { openSecrets, Secret, secretStatus, serviceCredentials } from '../../src/ops/secrets.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeEnv(text: string, mode = 0o600): void {
  writeFileSync(join(folder, '.env'), text);
  chmodSync(join(folder, '.env'), mode);
}

function thrown(call: () => unknown): EligdError {
  try {
    call();
  } catch (error) {
    if (error instanceof EligdError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

describe('secrets', () => {
  test('secrets come from .env and do not enter the environment', () => {
    writeEnv("ELIGD_SERVICE_USERNAME=clinic\nELIGD_SERVICE_PASSWORD='a #b'\n");
    const credentials = serviceCredentials(openSecrets(folder, {}), 'oauth');
    expect(
      credentials.auth === 'oauth' && [
        credentials.username.reveal(),
        credentials.password.reveal(),
      ],
    ).toEqual(['clinic', 'a #b']);
    expect(process.env.ELIGD_SERVICE_USERNAME).toBeUndefined();
  });

  test('the credentials directory comes first, then the environment, then .env', () => {
    const directory = join(folder, 'credentials');
    mkdirSync(directory);
    writeFileSync(join(directory, 'service_project_id'), 'from systemd\n');
    writeEnv('ELIGD_SERVICE_PROJECT_ID=c\nELIGD_SERVICE_API_KEY=c\nELIGD_WEBHOOK_SECRET=c\n');
    const source = openSecrets(folder, {
      CREDENTIALS_DIRECTORY: directory,
      ELIGD_SERVICE_PROJECT_ID: 'b',
      ELIGD_SERVICE_API_KEY: 'b',
    });
    const names = [
      'ELIGD_SERVICE_PROJECT_ID',
      'ELIGD_SERVICE_API_KEY',
      'ELIGD_WEBHOOK_SECRET',
      'ELIGD_SERVICE_USERNAME',
    ];
    expect(names.map((name) => source.find(name)?.secret.reveal() ?? null)).toEqual([
      'from systemd',
      'b',
      'c',
      null,
    ]);
    expect(secretStatus(source, names).map(({ state }) => state)).toEqual([
      'set from the credentials directory',
      'set from the environment',
      `set from ${join(folder, '.env')}`,
      'missing',
    ]);
  });

  test('missing secrets are reported together, with a misspelled one', () => {
    writeEnv('ELIGD_SERVICE_PASWORD=x\nELIGD_SERVICE_USERNAME=\n');
    const error = thrown(() => serviceCredentials(openSecrets(folder, {}), 'oauth'));
    expect(error.kind).toBe('configuration');
    expect(error.what).toBe('Secrets are missing: ELIGD_SERVICE_USERNAME, ELIGD_SERVICE_PASSWORD.');
    expect(error.why).toContain('service.auth is oauth');
    expect(error.why).toContain(
      '"ELIGD_SERVICE_PASWORD" is set, which may be a misspelled ELIGD_SERVICE_PASSWORD.',
    );
    expect(error.next).toContain(join(folder, '.env'));
  });

  test.each([0o640, 0o604, 0o644])('a .env with mode %o is refused', (mode) => {
    writeEnv('ELIGD_SERVICE_USERNAME=clinic\n', mode);
    expect(thrown(() => openSecrets(folder, {}))).toMatchObject({
      kind: 'configuration',
      next: `Run "chmod 600 ${join(folder, '.env')}", then run this command again.`,
    });
  });

  test('secrets do not appear when they are printed', () => {
    const secret = new Secret('hunter2');
    const shown = [
      String(secret),
      `${secret}`,
      JSON.stringify({ secret }),
      inspect({ secret }, { showHidden: true }),
      [secret].join(),
    ];
    expect(shown.join()).not.toContain('hunter2');
    expect(Object.keys(secret)).toEqual([]);
  });
});
