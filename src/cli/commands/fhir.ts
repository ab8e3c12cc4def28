import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import {
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
  type JWK,
} from 'jose';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { requireTrusted } from '../../ops/trusted-files.ts';
import type { CliContext } from '../context.ts';
import { printJson } from '../output.ts';

/** What SMART Backend Services allows a client to sign with. */
const ALGORITHMS = ['ES384', 'RS384'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'What the FHIR connector needs once: the key with which it logs in (auth: private_key_jwt).',
    )
    .addHelpText('after', '\nExamples:\n  eligd fhir keygen --key config/fhir-key.pem\n');
  command
    .command('keygen')
    .description(
      'Makes a private key, unless the file is there already, and prints the public one as a ' +
        'JSON Web Key Set, which is registered at the FHIR server. ' +
        ('A key that is there is never changed, so the command may be repeated to see its ' +
          'public part.'),
    )
    .requiredOption('--key <file>', 'where the private key is, or is to be')
    .option('--algorithm <name>', `${ALGORITHMS.join(' or ')}, for a new key`, ALGORITHMS[0])
    .addHelpText(
      'after',
      `
Examples:
  eligd fhir keygen --key config/fhir-key.pem
  eligd fhir keygen --key config/fhir-key.pem > fhir-jwks.json
  eligd fhir keygen --key /etc/eligd/fhir-key.pem --algorithm RS384

Then write key_file: and client_id: into the connector's part of the configuration, and run
"eligd check".
`,
    )
    .action(async ({ key, algorithm }: { key: string; algorithm: string }) => {
      const chosen = ALGORITHMS.find((name) => name === algorithm);
      if (chosen === undefined) throw unknownAlgorithm(algorithm);
      const file = resolve(context.cwd, key);
      const pem = (await readKey(file)) ?? (await makeKey(file, chosen, context));
      printJson(context.stdout, { keys: [await publicKey(file, pem)] });
    });
}

async function readKey(file: string): Promise<string | null> {
  try {
    requireTrusted(file, { role: 'key file', is_secret: true });
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof EligdError) throw error;
    if (errorCode(error) === 'ENOENT') return null;
    throw unusable(file, `The system said ${errorCode(error) ?? 'no'}.`, error);
  }
}

/** Readable by its owner alone. `wx`: a file that appeared meanwhile is not overwritten. */
async function makeKey(
  file: string,
  algorithm: Algorithm,
  { stderr }: CliContext,
): Promise<string> {
  const { privateKey } = await generateKeyPair(algorithm, {
    extractable: true,
    modulusLength: 3072,
  });
  const pem = await exportPKCS8(privateKey);
  try {
    await mkdir(dirname(file), { recursive: true });
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(pem);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unusable(file, `It could not be written (${errorCode(error) ?? 'unknown'}).`, error);
  }
  stderr.write(
    `The private key is in ${file}. It stays on this computer; what follows is registered at ` +
      `the FHIR server.\n`,
  );
  return pem;
}

async function publicKey(file: string, pem: string): Promise<JWK> {
  for (const alg of ALGORITHMS) {
    try {
      const { kty, crv, x, y, n, e } = await exportJWK(
        await importPKCS8(pem, alg, { extractable: true }),
      );
      const shape = kty === 'EC' ? { kty, crv, x, y } : { kty, n, e };
      // The thumbprint as its name, as the connector names the key when it signs (RFC 7638).
      return {
        ...shape,
        kid: await calculateJwkThumbprint(shape as JWK),
        use: 'sig',
        key_ops: ['verify'],
        alg,
      } as JWK;
    } catch {}
  }
  throw unusable(
    file,
    'It holds no private key of RSA or of the curve P-384 as PKCS #8 PEM.',
    undefined,
  );
}

function unusable(file: string, why: string, cause: unknown): EligdError {
  return new EligdError('failed', {
    what: `The key file ${file} cannot be used.`,
    why,
    next: 'Name another file with --key.',
    cause,
  });
}

function unknownAlgorithm(name: string): EligdError {
  return new EligdError('usage', {
    what: `There is no algorithm "${name}" here.`,
    why: 'FHIR servers accept ES384 and RS384 (SMART Backend Services).',
    next: 'Write --algorithm ES384 or --algorithm RS384.',
  });
}
