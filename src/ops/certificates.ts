/** Until when the certificates hold that eligd shows, and those of the servers that it talks to. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { CertificateSource } from '../../connectors/contract.ts';
import type { Config } from './config.ts';

const TIMEOUT_MS = 10_000;

/** `of`: as it stands in "The certificate of …". */
export type CertificateEnd = { of: string; expires_at: number };

/** The calling service, the public address of the webhook, and the office's page. */
export function ownCertificates({ service, webhook, office }: Config): CertificateSource[] {
  return [
    // By way of a proxy nobody else's certificate would be seen.
    ...(service.proxy === null ? [{ of: 'the calling service', url: service.base_url }] : []),
    ...(webhook === null ? [] : [{ of: 'the webhook’s public address', url: webhook.public_url }]),
    ...(office?.tls == null ? [] : [{ of: 'the office’s page', file: office.tls.certificate }]),
  ];
}

/** What cannot be read or reached is left out: other checks tell of that. */
export async function certificateEnds(
  sources: readonly CertificateSource[],
): Promise<CertificateEnd[]> {
  const found = await Promise.all(
    sources.map(async (source) => {
      const expires_at = await endOf(source).catch(() => null);
      return expires_at === null ? [] : [{ of: source.of, expires_at }];
    }),
  );
  return found.flat();
}

async function endOf(source: CertificateSource): Promise<number | null> {
  if (source.file !== undefined)
    return new X509Certificate(await readFile(source.file)).validToDate.getTime();
  const url = URL.parse(source.url);
  if (url?.protocol !== 'https:') return null;
  return await endAtServer(url.hostname.replaceAll(/^\[|\]$/g, ''), Number(url.port || 443));
}

/** Nothing is sent; a certificate that is not trusted has an end all the same. */
async function endAtServer(host: string, port: number): Promise<number | null> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = connect({ host, port, rejectUnauthorized: false, ...name }, () => {
    const { valid_to } = socket.getPeerCertificate();
    resolve(valid_to === undefined ? null : Date.parse(valid_to));
  });
  socket.once('error', reject);
  socket.setTimeout(TIMEOUT_MS, () => reject(new Error('timeout')));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
