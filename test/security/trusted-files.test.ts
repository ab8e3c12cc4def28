import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { writeNew } from '../../src/cli/init/files.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { mapPayer } from '../../src/ops/payer-mapping.ts';
import { distrusted } from '../../src/ops/trusted-files.ts';
import { run } from '../cli/capture.ts';
import { configText, eligd, makeFolder } from './users.ts';

const SECRETS = { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'sandbox' };
const CSV = 'id: front-desk, type: csv, folder: ./dropbox';
const MODULE = `import './part.mjs';
export default {
  name: 'own',
  config: { safeParse: (data) => ({ success: true, data }) },
  create: () => ({ check: async () => [], pull: async () => {}, deliver: async () => [] }),
};`;

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

function write(name: string, text: string, mode = 0o600): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

/** The output of `eligd check` about the installation in `folder`. */
async function check(): Promise<{ code: number; stdout: string }> {
  const { code, stdout } = await run(['check', '--config', join(folder, 'eligd.yaml')], {
    environment: SECRETS,
    cwd: '/',
  });
  return { code, stdout };
}

describe('files that others can change', () => {
  test.each([0o664, 0o646, 0o662])('a configuration of mode %o is refused', async (mode) => {
    const file = write('eligd.yaml', configText(CSV), mode);
    const { code, stdout } = await check();
    expect(code).toBe(78);
    expect(stdout).toContain(`${file} can be changed by other users (its mode is `);
    expect(stdout).toContain(`Run "chmod go-w ${file}"`);
  });

  test('a configuration in a folder of mode 777 is refused', async () => {
    const file = write('eligd.yaml', configText(CSV), 0o666);
    chmodSync(folder, 0o777);
    const { code, stdout } = await check();
    expect(code).toBe(78);
    expect(stdout).toContain(`- ${folder} can be changed`);
    // The folder may serve others, so no remedy changes it.
    expect(stdout).toContain('Move it to a folder that only you and root can change');
    expect(stdout).toContain(`Run "chmod go-w ${file}" first.`);
    expect(stdout).not.toContain(`chmod go-w ${folder} `);
  });

  test('payers.csv is refused if others can change it', async () => {
    write('eligd.yaml', `${configText(CSV)}policy: { payers: ./payers.csv }\n`);
    write('payers.csv', 'pms_name,carrier\n', 0o666);
    const { code, stdout } = await check();
    expect(code).toBe(78);
    expect(stdout).toMatch(/!! payer map: .*payers\.csv can be changed by other users/);
  });

  test('payers.csv is not written in a folder of mode 777', async () => {
    const file = write('eligd.yaml', configText(CSV));
    const config = { ...(await loadConfig(file)), folder: join(folder, 'shared') };
    mkdirSync(config.folder);
    chmodSync(config.folder, 0o777);
    const line = { name: 'Ameritas', id: 'AMERITAS', phone: undefined };
    expect(() => mapPayer(config, line)).toThrow(
      expect.objectContaining({
        what: expect.stringContaining('does not use the payer map'),
        why: `${config.folder} can be changed by other users (its mode is 777).`,
      }),
    );
    expect(readdirSync(config.folder)).toEqual([]);
    chmodSync(config.folder, 0o755);
    expect(mapPayer(config, line)).toEqual({ name: 'Ameritas', as: 'AMERITAS' });
  });

  test('a configuration with secrets is not written in a folder of mode 777', () => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o777);
    expect(() => writeNew(join(shared, 'config/.env'), 'SECRET=1', 0o600)).toThrow(
      expect.objectContaining({
        why: `${shared} can be changed by other users (its mode is 777).`,
      }),
    );
    expect(readdirSync(shared)).toEqual([]);
    chmodSync(shared, 0o755);
    writeNew(join(shared, 'config/.env'), 'SECRET=1', 0o600);
    expect(readdirSync(join(shared, 'config'))).toEqual(['.env']);
  });

  test('fees.csv is refused if others can change it', async () => {
    write('eligd.yaml', configText(CSV));
    write('fees.csv', 'code,payer,fee\nD1110,*,98.00\n', 0o666);
    const { code, stdout } = await check();
    expect(code).toBe(78);
    expect(stdout).toMatch(/!! fees: .*fees\.csv can be changed by other users/);
  });

  // In its own process, because the test runner loads modules differently from Node.
  test('a clinic’s module is refused, and so is each file that it imports', () => {
    const file = write('eligd.yaml', configText('id: own, type: ./own.mjs'));
    write('own.mjs', MODULE, 0o666);
    write('part.mjs', `console.log('the part runs');`, 0o666);
    const shown = () => eligd(['config', 'show', '--config', file], { cwd: '/' });
    expect(shown()).toMatchObject({ status: 78, stdout: '' });
    expect(shown().stderr).toContain(`${join(folder, 'own.mjs')} can be changed by other users`);
    chmodSync(join(folder, 'own.mjs'), 0o600);
    expect(shown()).toMatchObject({ status: 78, stdout: '' });
    expect(shown().stderr).toContain(`${join(folder, 'part.mjs')} can be changed by other users`);
    chmodSync(join(folder, 'part.mjs'), 0o600);
    expect(shown()).toMatchObject({ status: 0, stdout: expect.stringContaining('the part runs') });
  });

  test.each([0o644, 0o660])('a FHIR key file of mode %o is refused', async (mode) => {
    write(
      'eligd.yaml',
      configText(
        'id: ehr, type: fhir, base_url: "https://127.0.0.1:1", auth: private_key_jwt, ' +
          'client_id: a, key_file: ./key.pem',
      ),
    );
    const file = write('key.pem', 'no key', mode);
    const { code, stdout } = await check();
    expect(code).not.toBe(0);
    expect(stdout).toContain(`Run "chmod 600 ${file}"`);
  });

  test('the key file of the HL7 listener is refused if others can change it', async () => {
    write(
      'eligd.yaml',
      configText(
        'id: adt, type: hl7, listen: "127.0.0.1:0", write_back: none, ' +
          'listen_tls: { certificate_file: ./c.pem, key_file: ./k.pem }',
      ),
    );
    write('c.pem', 'a certificate', 0o644);
    const file = write('k.pem', 'a key', 0o644);
    expect((await check()).stdout).toContain(`Run "chmod 600 ${file}"`);
  });

  test('a file in a sticky folder such as /tmp is accepted', () => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    const file = write('shared/eligd.yaml', '');
    expect(distrusted(file, { role: 'configuration' })).toEqual([]);
    chmodSync(shared, 0o777);
    expect(distrusted(file, { role: 'configuration' })).toEqual([
      {
        path: shared,
        why: 'can be changed by other users (its mode is 777)',
        command: null,
        is_changeable: true,
      },
    ]);
  });
});
