/** Checks an HL7 connector for `eligd check`. Changes nothing. */
import { createServer } from 'node:net';
import { type CheckLine, ConnectorError } from '../contract.ts';
import type { Hl7Config } from './config.ts';
import type { Hl7Env } from './events.ts';
import { canUse, type DropFolder } from './folder.ts';
import { parseAddress } from './mllp/address.ts';
import { openConnection } from './mllp/client.ts';
import { cannotListen } from './mllp/server.ts';
import { serverTls } from './mllp/tls-files.ts';

export async function checkHl7(
  config: Hl7Config,
  env: Hl7Env,
  folder: DropFolder | null,
  signal: AbortSignal,
): Promise<CheckLine[]> {
  const lines: CheckLine[] = [];
  const { listen, send_to } = config;
  if (listen !== undefined) lines.push(...(await checkListen({ ...config, listen }, env)));
  if (folder !== null) lines.push(await checkFolder(folder));
  if (send_to !== undefined && config.write_back !== 'none')
    lines.push(await checkSend({ ...config, send_to }, env, signal));
  if (config.write_back === 'adt_a08') {
    const what =
      'Answers are written back as ADT^A08, which may change the registration of patients.';
    lines.push({
      ok: false,
      what,
      next: 'Use write_back: pin_i07 or oru_r01, unless the vendor of the receiver asked for A08.',
    });
  }
  return lines;
}

async function checkListen(
  config: Hl7Config & { listen: string },
  env: Hl7Env,
): Promise<CheckLine[]> {
  const { listen } = config;
  const address = parseAddress(listen);
  const lines: CheckLine[] = [];
  try {
    await serverTls(config, env);
  } catch (error) {
    if (error instanceof ConnectorError)
      lines.push({ ok: false, what: error.message, next: error.next });
    else throw error;
  }
  const failure = await new Promise<unknown>((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host: address?.host, port: address?.port }, () =>
      server.close(() => resolve(null)),
    );
  });
  if (failure === null) lines.push({ ok: true, what: `It can listen on ${listen}.` });
  else {
    const { message, next, failure: kind } = cannotListen(listen, failure);
    // Transient means in use, most likely by the running daemon.
    if (kind === 'transient')
      lines.push({ ok: true, what: `${listen} is in use. If eligd is running, this is normal.` });
    else lines.push({ ok: false, what: message, next });
  }
  return lines;
}

async function checkFolder(folder: DropFolder): Promise<CheckLine> {
  const found = await canUse(folder);
  if (found.ok)
    return { ok: true, what: 'eligd can read and write the drop folder, or create it.' };
  return {
    ok: false,
    what: `The drop folder cannot be used (${found.code}).`,
    next: 'Create the folder above it, or correct "folder:".',
  };
}

async function checkSend(
  config: Hl7Config & { send_to: string },
  env: Hl7Env,
  signal: AbortSignal,
): Promise<CheckLine> {
  try {
    const socket = await openConnection(config, env, signal);
    socket.destroy();
    return { ok: true, what: `The receiver of answers at ${config.send_to} accepts connections.` };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    return { ok: false, what: error.message, next: error.next };
  }
}
