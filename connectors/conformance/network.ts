import { createHttpAgent } from '../../src/network/http.ts';
import { openSocket } from '../../src/network/socket.ts';
import { DIRECT } from '../../src/network/way.ts';
import type { ConnectorNetwork } from '../contract.ts';

/** A network without proxies, through which a connector reaches the PMS of its harness. */
export const DIRECT_NETWORK: ConnectorNetwork = {
  http: (_settings, limits) => createHttpAgent(() => DIRECT, limits),
  socket: ({ host, port, tls }, timeout_ms, signal) =>
    openSocket({ host, port, proxy: null, tls }, timeout_ms, signal),
};
