/**
 * Decides the route of each connection from the configuration, the secrets, and the environment.
 */
import { resolve } from 'node:path';
import type { ConnectionSettings, Connector, ConnectorNetwork } from '../../connectors/contract.ts';
import { ConnectionError, EligdError, errorCode } from '../domain/errors.ts';
import { proxyOfEnvironment } from '../network/environment.ts';
import { createHttpAgent } from '../network/http.ts';
import { openSocket } from '../network/socket.ts';
import type { Certificates, HttpProxy, Way } from '../network/way.ts';
import type { Config } from './config-schema.ts';
import { connectorSecretName, type SecretSource } from './secrets.ts';
import { readTrusted } from './trusted-files.ts';

/** Null and undefined mean the same. */
type Settings = {
  proxy?: string | null | undefined;
  tls?: { [File in keyof FilesOfTls]?: string | null | undefined } | null | undefined;
};
type FilesOfTls = NonNullable<ConnectionSettings['tls']>;

/** The location of a certificate: a file (absolute path), or a server and the route to it. */
export type CertificatePlace = { of: string } & (
  | { file: string; url?: undefined }
  | { url: string; way: () => Way; file?: undefined }
);

/** `owner`: the prefix of its secret names, such as `ELIGD_SERVICE`. */
type Means = { owner: string; secrets: SecretSource; folder: string };

/** Returns a connection's route. Throws a ConnectionError when a certificate cannot be read. */
export function wayOf(settings: Settings, means: Means): Way {
  return { proxyFor: proxiesOf(settings, means), certificates: certificatesOf(settings, means) };
}

/**
 * Returns the route for a section of the configuration, where an unreadable file is a configuration
 * error.
 */
function configuredWay(settings: Settings, means: Means, part: string): Way {
  try {
    return wayOf(settings, means);
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    throw new EligdError('configuration', {
      what: `The certificates of ${part} cannot be used.`,
      why: error.message,
      next: error.next,
      cause: error,
    });
  }
}

/**
 * Returns the route to the calling service. Throws an EligdError when a certificate cannot be read.
 */
export function serviceWay({ service, folder }: Config, secrets: SecretSource): Way {
  return configuredWay(service, { owner: 'ELIGD_SERVICE', secrets, folder }, 'service.tls');
}

/** Returns the route to the office page's login provider. Throws an EligdError, as above. */
export function signOnWay({ office, folder }: Config, secrets: SecretSource): Way {
  const means = { owner: 'ELIGD_OFFICE', secrets, folder };
  return configuredWay(office?.single_sign_on ?? {}, means, 'office.single_sign_on.tls');
}

/** Returns the environment's route, for a connection without configuration. */
export function environmentWay(secrets: SecretSource): Way {
  return wayOf({}, { owner: 'ELIGD', secrets, folder: '' });
}

function connectorMeans(connector_id: string, secrets: SecretSource, folder: string): Means {
  return { owner: connectorSecretName(connector_id, '').replace(/_$/, ''), secrets, folder };
}

/** Returns the locations of the certificates that a connector names. */
export function connectorCertificates(
  { id, connector }: { id: string; connector: Connector },
  { folder }: Config,
  secrets: SecretSource,
): CertificatePlace[] {
  const means = connectorMeans(id, secrets, folder);
  return (connector.certificates?.() ?? []).map((source) =>
    source.file === undefined
      ? { of: source.of, url: source.url, way: () => wayOf(source.connection ?? {}, means) }
      : source,
  );
}

/** Returns a connector's access to the network. */
export function connectorNetwork(
  connector_id: string,
  { secrets, folder }: Pick<Means, 'secrets' | 'folder'>,
): ConnectorNetwork {
  const means = connectorMeans(connector_id, secrets, folder);
  return {
    http: (settings, limits) => createHttpAgent(() => wayOf(settings, means), limits),
    socket: async ({ host, port, proxy, tls }, timeout_ms, signal) => {
      const target = { host, port, proxy: namedProxy({ proxy }, means), tls };
      return await openSocket(target, timeout_ms, signal);
    },
  };
}

/**
 * Returns the proxy of a connection that is not HTTP, so the environment's proxy does not apply;
 * null: direct.
 */
export function namedProxy({ proxy }: Settings, means: Means): HttpProxy | null {
  const named = proxy == null ? null : URL.parse(proxy);
  return named === null ? null : proxyAt(named, means);
}

/** Returns the names of a connection's secrets for its proxy. */
function loginNames(owner: string): [username: string, password: string] {
  return [`${owner}_PROXY_USERNAME`, `${owner}_PROXY_PASSWORD`];
}

function proxiesOf({ proxy }: Settings, means: Means): Way['proxyFor'] {
  if (proxy === 'none') return () => null;
  const named = namedProxy({ proxy }, means);
  if (named !== null) return () => named;
  const find = (name: string) => means.secrets.find(name)?.secret.reveal() ?? null;
  return (url) => {
    const found = proxyOfEnvironment(url, find);
    return found === null ? null : proxyAt(found, means);
  };
}

/**
 * Returns the proxy at an address. A login in the address wins; only the environment may contain
 * one.
 */
function proxyAt(address: URL, { owner, secrets }: Means): HttpProxy {
  const is_tls = address.protocol === 'https:';
  const [username, password] = loginNames(owner);
  const reveal = (name: string) =>
    (secrets.find(name) ?? secrets.find(name.replace(owner, 'ELIGD')))?.secret.reveal() ?? null;
  const user = address.username === '' ? reveal(username) : decodeURIComponent(address.username);
  const login =
    user === null
      ? null
      : {
          username: user,
          password:
            address.username === ''
              ? (reveal(password) ?? '')
              : decodeURIComponent(address.password),
        };
  return {
    host: address.hostname.replaceAll(/^\[|\]$/g, ''),
    port: Number(address.port) || (is_tls ? 443 : 80),
    is_tls,
    login,
    login_remedy:
      address.username === ''
        ? `Correct ${username} and ${password} (config/env.example), then run "eligd check".`
        : 'Correct the login in HTTPS_PROXY or HTTP_PROXY, then run "eligd check".',
  };
}

/** Returns absolute paths. */
export function filesOf({ tls }: Settings, folder: string) {
  const path = (file: string | null | undefined) => (file == null ? null : resolve(folder, file));
  return {
    authorities: path(tls?.authorities_file),
    certificate: path(tls?.certificate_file),
    key: path(tls?.key_file),
  };
}

function certificatesOf(settings: Settings, { folder }: Means): Certificates | null {
  if (settings.tls == null) return null;
  const { authorities, certificate, key } = filesOf(settings, folder);
  return {
    authorities: authorities === null ? null : readPem(authorities, false),
    own:
      certificate === null || key === null
        ? null
        : { certificate: readPem(certificate, false), key: readPem(key, true) },
  };
}

function readPem(file: string, is_secret: boolean): Buffer {
  try {
    return readTrusted(file, { role: is_secret ? 'key file' : 'certificate', is_secret });
  } catch (error) {
    if (error instanceof EligdError)
      throw new ConnectionError('ERR_CERTIFICATES', {
        what: `${error.what} ${error.why}`,
        next: error.next,
        cause: error,
      });
    throw new ConnectionError('ERR_CERTIFICATES', {
      what: `The file ${file} cannot be read (${errorCode(error) ?? 'unknown'}).`,
      next: 'Correct the path under "tls:", or let the user that eligd runs as read it.',
      cause: error,
    });
  }
}
