/**
 * How eligd gets from this computer to a server: by which proxy, and with which certificates.
 * Whoever connects is given a way and decides neither.
 */
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

export type HttpProxy = {
  host: string;
  port: number;
  /** Whether the way to the proxy itself is encrypted (https://). */
  is_tls: boolean;
  login: { username: string; password: string } | null;
  /** What a person does when it does not accept the login. */
  login_remedy: string;
};

export type Way = {
  /** Null: directly. */
  proxyFor: (url: URL) => HttpProxy | null;
  /** Null: the authorities of the system, and no certificate of ours. */
  certificates: Certificates | null;
};

/** PEM. `authorities` are trusted besides those of the system. */
export type Certificates = {
  authorities: Buffer | null;
  own: { certificate: Buffer; key: Buffer } | null;
};

export const DIRECT: Way = { proxyFor: () => null, certificates: null };

export function secureContextOf({ authorities, own }: Certificates): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(authorities === null
      ? {}
      : { ca: [...getCACertificates('default'), authorities.toString('utf8')] }),
    ...(own === null ? {} : { cert: own.certificate, key: own.key }),
  });
}

/** `host:port` for people, and for the first line of CONNECT. */
export function authorityOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
