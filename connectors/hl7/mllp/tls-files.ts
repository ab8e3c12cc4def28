/** Loads the certificates and keys of the configuration. */
import { isIP } from 'node:net';
import type { ConnectionOptions, TlsOptions } from 'node:tls';
import { errorCode } from '../../../src/domain/errors.ts';
import { ConnectorError } from '../../contract.ts';
import type { Hl7Config } from '../config.ts';
import type { Hl7Env } from '../events.ts';

/**
 * Loads the server's files; null: without TLS. Throws ConnectorError when a file cannot be read.
 */
export async function serverTls(config: Hl7Config, env: Hl7Env): Promise<TlsOptions | null> {
  const { listen_tls } = config;
  if (listen_tls === undefined) return null;
  const clients =
    listen_tls.clients_file === undefined
      ? null
      : await load(env, listen_tls.clients_file, 'clients_file');
  return {
    cert: await load(env, listen_tls.certificate_file, 'certificate_file'),
    key: await load(env, listen_tls.key_file, 'key_file'),
    ...(clients === null ? {} : { ca: clients, requestCert: true, rejectUnauthorized: true }),
    minVersion: 'TLSv1.2',
  };
}

/**
 * Loads the client's files; null: without TLS. Throws ConnectorError when a file cannot be read.
 */
export async function clientTls(
  config: Hl7Config,
  env: Hl7Env,
  host: string,
): Promise<ConnectionOptions | null> {
  const { send_tls } = config;
  if (send_tls === undefined) return null;
  const { authorities_file, certificate_file, key_file, server_name = host } = send_tls;
  return {
    // An address is not a server name (RFC 6066); the certificate is still compared with it.
    ...(isIP(server_name) === 0 ? { servername: server_name } : {}),
    minVersion: 'TLSv1.2',
    ...(authorities_file === undefined
      ? {}
      : { ca: await load(env, authorities_file, 'authorities_file') }),
    ...(certificate_file === undefined
      ? {}
      : { cert: await load(env, certificate_file, 'certificate_file') }),
    ...(key_file === undefined ? {} : { key: await load(env, key_file, 'key_file') }),
  };
}

async function load(env: Hl7Env, path: string, key: string): Promise<Buffer> {
  try {
    return await env.readKeyFile(path, { is_secret: key === 'key_file' });
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    throw new ConnectorError('permanent', {
      what: `The file of "${key}" cannot be read (${errorCode(error) ?? 'unknown'}).`,
      next: 'Correct the path, or let the user that eligd runs as read it.',
      cause: error,
    });
  }
}
