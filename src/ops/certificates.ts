/**
 * Finds the end dates of eligd's own certificates, and of those of the servers that it connects to.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { openSocket } from '../network/socket.ts';
import { secureContextOf, type Way } from '../network/way.ts';
import type { Config } from './config-schema.ts';
import { type CertificatePlace, environmentWay, filesOf, serviceWay } from './network.ts';
import type { SecretSource } from './secrets.ts';

const TIMEOUT_MS = 10_000;

/** `of`: as in "The certificate of …". */
export type CertificateEnd = { of: string; expires_at: number };

/**
 * Returns the certificates of the calling service, of the webhook's public address, and of eligd
 * itself.
 */
export function ownCertificates(config: Config, secrets: SecretSource): CertificatePlace[] {
  const { service, webhook, office } = config;
  const outside = () => environmentWay(secrets);
  const shown = filesOf(service, config.folder).certificate;
  return [
    {
      of: 'the calling service',
      url: service.base_url,
      way: () => serviceWay(config, secrets),
    },
    ...(shown === null ? [] : [{ of: 'eligd at the calling service', file: shown }]),
    ...(webhook === null
      ? []
      : [{ of: 'the webhook’s public address', url: webhook.public_url, way: outside }]),
    ...(office?.tls == null ? [] : [{ of: 'the office’s page', file: office.tls.certificate }]),
  ];
}

/**
 * Returns the end dates. Unreadable and unreachable certificates are left out; other checks report
 * them.
 */
export async function certificateEnds(
  places: readonly CertificatePlace[],
): Promise<CertificateEnd[]> {
  const found = await Promise.all(
    places.map(async (place) => {
      const expires_at = await endOf(place).catch(() => null);
      return expires_at === null ? [] : [{ of: place.of, expires_at }];
    }),
  );
  return found.flat();
}

async function endOf(place: CertificatePlace): Promise<number | null> {
  if (place.file !== undefined)
    return new X509Certificate(await readFile(place.file)).validToDate.getTime();
  const url = URL.parse(place.url);
  return url?.protocol === 'https:' ? await endAtServer(url, place.way()) : null;
}

/**
 * Reads the end date of a server's certificate and sends nothing. The certificate need not be
 * trusted.
 */
async function endAtServer(url: URL, way: Way): Promise<number | null> {
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  const { certificates } = way;
  const tls = {
    rejectUnauthorized: false,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(certificates === null ? {} : { secureContext: secureContextOf(certificates) }),
  };
  const target = { host, port: Number(url.port || 443), proxy: way.proxyFor(url), tls };
  const socket = await openSocket(target, TIMEOUT_MS);
  try {
    if (!(socket instanceof TLSSocket)) return null;
    const { valid_to } = socket.getPeerCertificate();
    return valid_to === undefined ? null : Date.parse(valid_to);
  } finally {
    socket.destroy();
  }
}
