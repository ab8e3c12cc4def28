/** The types for connections that connectors and eligd share. */
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Dispatcher } from 'undici';

/**
 * The location of a certificate: a file (absolute path), or a server. `of` names it, as in "The
 * certificate of the FHIR server".
 */
export type CertificateSource =
  | { of: string; file: string; url?: undefined }
  | { of: string; url: string; file?: undefined; connection?: ConnectionSettings };

/**
 * A connection's settings, from the connector's own configuration keys. `proxy`: an address or
 * `none`; undefined: the one of HTTPS_PROXY and HTTP_PROXY, unless NO_PROXY names the server. Its
 * login is in the connector's secrets `proxy_username` and `proxy_password`. `tls`: PEM files,
 * relative to the configuration; `authorities_file` is trusted in addition to the system's
 * authorities; the other two are for a server that requires a client certificate.
 */
export type ConnectionSettings = {
  proxy?: string | undefined;
  tls?:
    | {
        authorities_file?: string | undefined;
        certificate_file?: string | undefined;
        key_file?: string | undefined;
      }
    | undefined;
};

/**
 * A connector's access to the network; it opens no connection itself. A failure before any data was
 * sent has a system error code, or is a `ConnectionError` that says what to do.
 */
export type ConnectorNetwork = {
  /**
   * Returns a dispatcher for `dispatcher.request`. It never sends a write twice. The connector
   * destroys it in `close`.
   */
  http: (
    settings: ConnectionSettings,
    limits: { connections: number; timeout_ms: number; reply_bytes_max: number },
  ) => Dispatcher;
  /** Opens a connection for another protocol; uses a proxy only if `proxy` names one. */
  socket: (
    target: {
      host: string;
      port: number;
      proxy?: string | undefined;
      tls: ConnectionOptions | null;
    },
    timeout_ms: number,
    signal: AbortSignal,
  ) => Promise<Socket>;
};
