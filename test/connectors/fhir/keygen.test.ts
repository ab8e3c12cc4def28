import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calculateJwkThumbprint, importPKCS8, type JWK, jwtVerify, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../cli/capture.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-keygen-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('eligd fhir keygen', () => {
  test.each(['ES384', 'RS384'])(
    'keygen makes a private key for %s and prints the public one',
    async (algorithm) => {
      const key = join(folder, 'keys/fhir.pem');
      const { code, stdout } = await run([
        'fhir',
        'keygen',
        '--key',
        key,
        '--algorithm',
        algorithm,
      ]);
      expect(code).toBe(0);
      expect(statSync(key).mode & 0o777).toBe(0o600);
      const [jwk] = (JSON.parse(stdout) as { keys: JWK[] }).keys;
      expect(jwk).not.toHaveProperty('d');
      expect(jwk).toMatchObject({
        alg: algorithm,
        use: 'sig',
        kid: await calculateJwkThumbprint(jwk as JWK),
      });
      const signed = await new SignJWT({})
        .setProtectedHeader({ alg: algorithm })
        .sign(await importPKCS8(readFileSync(key, 'utf8'), algorithm));
      await expect(jwtVerify(signed, jwk as JWK)).resolves.toBeTruthy();
    },
  );

  test('keygen keeps an existing key, and prints its public part again', async () => {
    const key = join(folder, 'fhir.pem');
    const first = await run(['fhir', 'keygen', '--key', key]);
    const before = readFileSync(key);
    const again = await run(['fhir', 'keygen', '--key', key, '--algorithm', 'RS384']);
    expect(again.stdout).toBe(first.stdout);
    expect(readFileSync(key)).toEqual(before);
  });

  test.each([
    [['--algorithm', 'HS256'], 2, 'Allowed choices are ES384, RS384.'],
    [[], 1, 'contains no private key'],
  ])('keygen says what is wrong: %j', async (args, expected, told) => {
    const key = join(folder, 'fhir.pem');
    writeFileSync(key, 'not a key', { mode: 0o600 });
    const { code, stderr } = await run(['fhir', 'keygen', '--key', key, ...args]);
    expect(code).toBe(expected);
    expect(stderr).toContain(told);
  });
});
