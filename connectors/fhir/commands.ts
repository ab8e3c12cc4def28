import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
  type JWK,
} from 'jose';
import { errorCode } from '../../src/domain/errors.ts';
import { type CommandCall, type ConnectorCommands, ConnectorError } from '../contract.ts';

/** The signature algorithms of SMART Backend Services. */
const ALGORITHMS = ['ES384', 'RS384'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

/** Creates the key that the connector needs to log in (`auth: private_key_jwt`). */
export const COMMANDS = {
  keygen: {
    description:
      'Makes the private key with which eligd logs in (auth: private_key_jwt), unless the file ' +
      'already exists, and prints the public key as a JSON Web Key Set, which you register at ' +
      'the FHIR server. eligd never changes a key that is there, so you can repeat the command ' +
      "to see its public part. Then add key_file: and client_id: to the connector's section of " +
      'the configuration, and run "eligd check".',
    options: {
      key: { value: 'file', description: 'the private key file', is_required: true },
      algorithm: {
        value: 'name',
        description: 'algorithm of a new key',
        choices: ALGORITHMS,
        default: ALGORITHMS[0],
      },
    },
    examples: [
      'eligd fhir keygen --key config/fhir-key.pem',
      'eligd fhir keygen --key config/fhir-key.pem > fhir-jwks.json',
      'eligd fhir keygen --key /etc/eligd/fhir-key.pem --algorithm RS384',
    ],
    run: keygen,
  },
} as const satisfies ConnectorCommands;

async function keygen(call: CommandCall): Promise<void> {
  const { key = '', algorithm } = call.options;
  const file = call.resolvePath(key);
  const chosen = ALGORITHMS.find((name) => name === algorithm) ?? ALGORITHMS[0];
  const pem = (await readKey(file, call)) ?? (await makeKey(file, chosen, call));
  call.print(`${JSON.stringify({ keys: [await publicKey(file, pem)] }, null, 2)}\n`);
}

async function readKey(file: string, { readKeyFile }: CommandCall): Promise<string | null> {
  try {
    return (await readKeyFile(file, { is_secret: true })).toString('utf8');
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    if (errorCode(error) === 'ENOENT') return null;
    throw unusable(file, `The system reported ${errorCode(error) ?? 'an unknown error'}.`, error);
  }
}

/**
 * Creates a key that only its owner can read. `wx` refuses to overwrite a file that appeared
 * meanwhile.
 */
async function makeKey(file: string, algorithm: Algorithm, call: CommandCall): Promise<string> {
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
  call.tell(
    `The private key is in ${file}. It stays on this computer; register the following key ` +
      `at the FHIR server.\n`,
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
      // Named by its thumbprint, like the key with which the connector signs (RFC 7638).
      return {
        ...shape,
        kid: await calculateJwkThumbprint(shape as JWK),
        use: 'sig',
        key_ops: ['verify'],
        alg,
      } as JWK;
    } catch {}
  }
  throw unusable(file, 'It contains no private key of RSA or of the curve P-384 as PKCS #8 PEM.');
}

function unusable(file: string, why: string, cause?: unknown): ConnectorError {
  return new ConnectorError('permanent', {
    what: `The key file ${file} cannot be used. ${why}`,
    next: 'Use --key to name another file.',
    cause,
  });
}
