/**
 * Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY like curl, Go and undici's EnvHttpProxyAgent: lower
 * case takes precedence; an entry of NO_PROXY is a domain including its subdomains, an address, a
 * range, or `*`, each with or without a port. As in Go, this computer's own addresses never use a
 * proxy.
 */
import { BlockList, isIP } from 'node:net';

/** Returns the value of a variable; null: it is not set. */
export type Find = (name: string) => string | null;

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Returns the proxy that the environment names for this URL; null: none. */
export function proxyOfEnvironment(url: URL, find: Find): URL | null {
  const either = (name: string) => find(name.toLowerCase()) ?? find(name);
  const named =
    (url.protocol === 'https:' ? either('HTTPS_PROXY') : null) ?? either('HTTP_PROXY') ?? '';
  const proxy = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(named) ? named : `http://${named}`);
  if (named === '' || proxy === null || !/^https?:$/.test(proxy.protocol)) return null;
  return isExcluded(url, either('NO_PROXY') ?? '') ? null : proxy;
}

function isExcluded(url: URL, no_proxy: string): boolean {
  const host = plain(url.hostname);
  const port = Number(url.port) || (PORTS[url.protocol] ?? 0);
  if (isOfThisComputer(host)) return true;
  return no_proxy
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matches(entry, host, port));
}

function isOfThisComputer(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

function matches(entry: string, host: string, port: number): boolean {
  const parts = /^(?<name>\[[^\]]+\]|[^:]+)(?::(?<port>\d+))?$/.exec(entry)?.groups;
  const name = plain(parts?.name ?? entry);
  if (parts?.port !== undefined && Number(parts.port) !== port) return false;
  if (name === '*') return true;
  if (isIP(host) !== 0) return isInRange(host, name);
  const below = name.replace(/^\*?\./, '');
  return (host === below && !name.startsWith('*')) || host.endsWith(`.${below}`);
}

function isInRange(address: string, range: string): boolean {
  const [base = '', bits] = range.split('/');
  const family = isIP(base);
  if (family === 0 || family !== isIP(address)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const length = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(base, length, type);
  return list.check(address, type);
}

function plain(host: string): string {
  return host
    .toLowerCase()
    .replaceAll(/^\[|\]$/g, '')
    .replace(/(?<=.)\.$/, '');
}
