/**
 * Parses `host:port` of the configuration, with IPv6 in brackets; null for any other form. With
 * port 0, the system chooses one.
 */
export function parseAddress(text: string): { host: string; port: number } | null {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  const host = found?.[1] ?? found?.[2];
  return host === undefined || port > 65_535 ? null : { host, port };
}
