/** What a connector and eligd say to each other about connections. */
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Dispatcher } from 'undici';

/**
 * Where a certificate is: in a file (absolute path), or at a server. `of` says whose, as in "The
 * certificate of the FHIR server".
 */
export type CertificateSource =
  | { of: string; file: string; url?: undefined }
  | { of: string; url: string; file?: undefined; connection?: ConnectionSettings };

/**
 * How a connection is made, as the connector's own keys of the configuration say it. `proxy`: an
 * address, `none`, or left out: the one of HTTPS_PROXY and HTTP_PROXY, unless NO_PROXY spares the
 * server. Its login is in the connector's secrets `proxy_username` and `proxy_password`. `tls`:
 * PEM files, relative to the configuration; `authorities_file` is trusted besides the authorities
 * of the system, the other two are shown to a server that wants to know who connects.
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
 * The only way out for a connector: it opens no connection itself. What fails before anything was
 * sent fails with a code of the system, or with a `ConnectionError` that says what to do.
 */
export type ConnectorNetwork = {
  /**
   * For `dispatcher.request`. Never writes a request twice. The connector destroys it when it is
   * closed.
   */
  http: (
    settings: ConnectionSettings,
    limits: { connections: number; timeout_ms: number; reply_bytes_max: number },
  ) => Dispatcher;
  /** An open connection for another protocol; by a proxy only where `proxy` names one. */
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
