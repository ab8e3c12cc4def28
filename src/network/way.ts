/**
 * How eligd connects from this computer to a server: through which proxy, and with which
 * certificates. Code that connects receives a way and makes neither choice itself.
 */
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

export type HttpProxy = {
  host: string;
  port: number;
  /** The connection to the proxy itself is encrypted (https://). */
  is_tls: boolean;
  login: { username: string; password: string } | null;
  /** What to do when the proxy does not accept the login. */
  login_remedy: string;
};

export type Way = {
  /** Null: direct connection. */
  proxyFor: (url: URL) => HttpProxy | null;
  /** Null: the system's certificate authorities, and no client certificate. */
  certificates: Certificates | null;
};

/** In PEM format. `authorities` are trusted in addition to those of the system. */
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

/** Returns `host:port` for messages and for the first line of CONNECT. */
export function authorityOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
