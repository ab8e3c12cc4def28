/** Sends an alert: by e-mail, to a program, as a POST, or to a file. */
import { spawn } from 'node:child_process';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConnectionError, EligdError, errorCode } from '../domain/errors.ts';
import { createHttpAgent } from '../network/http.ts';
import { openSocket } from '../network/socket.ts';
import { secureContextOf } from '../network/way.ts';
import type { AlertText } from './alert-text.ts';
import type { AlertTarget } from './config-schema.ts';
import { namedProxy, wayOf } from './network.ts';
import { requireSecrets, type SecretSource } from './secrets.ts';

/** Resolves once the target has accepted the message. Throws an EligdError otherwise. */
type SendAlert = (text: AlertText) => Promise<void>;

export type AlertSender = { id: string; level: AlertTarget['level']; send: SendAlert };

const TIMEOUT_MS = 30_000;

/** `ELIGD_ALERT_IT_MAIL_PASSWORD` for the target `it-mail`. */
function alertSecretName(target_id: string, last_part: string): string {
  return `ELIGD_ALERT_${target_id}_${last_part}`.replaceAll('-', '_').toUpperCase();
}

/** Returns the prefix of the target's secret names. */
const ownerOf = (target_id: string) => alertSecretName(target_id, '').replace(/_$/, '');

/** Creates the senders. Relative paths start at `folder`. A missing secret fails on first use. */
export function alertSenders(
  targets: readonly AlertTarget[],
  { secrets, folder }: { secrets: SecretSource; folder: string },
): AlertSender[] {
  return targets.map((target) => ({
    id: target.id,
    level: target.level,
    send: async (text) => {
      try {
        await sendTo(target, text, { secrets, folder });
      } catch (error) {
        throw error instanceof EligdError ? error : unsent(target, error);
      }
    },
  }));
}

type Means = { secrets: SecretSource; folder: string };

async function sendTo(target: AlertTarget, text: AlertText, means: Means): Promise<void> {
  switch (target.type) {
    case 'email':
      return await sendMail(target, text, means);
    case 'command':
      return await runCommand(target, text);
    case 'webhook':
      return await post(target, text, means);
    case 'file': {
      const path = resolve(means.folder, target.path);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      return await appendFile(path, `${JSON.stringify(text.document)}\n`, { mode: 0o640 });
    }
  }
}

type TargetOf<Type extends AlertTarget['type']> = Extract<AlertTarget, { type: Type }>;

async function sendMail(
  target: TargetOf<'email'>,
  { subject, body }: AlertText,
  means: Means,
): Promise<void> {
  const { id, to, from, host, port, security, login } = target;
  const { secrets } = means;
  const { createTransport } = await import('nodemailer');
  const auth =
    login === null
      ? {}
      : { auth: { user: login, pass: secretOf(secrets, id, 'PASSWORD').reveal() } };
  const way = { ...means, owner: ownerOf(id) };
  const { certificates } = wayOf(target, way);
  const proxy = namedProxy(target, way);
  const transport = createTransport({
    host,
    port,
    getSocket: (_options: unknown, done: (error: Error | null, made?: object) => void) => {
      openSocket({ host, port, proxy, tls: null }, TIMEOUT_MS).then(
        (connection) => done(null, { connection }),
        (error) => done(error),
      );
    },
    ...(certificates === null ? {} : { tls: { secureContext: secureContextOf(certificates) } }),
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...auth,
  });
  try {
    await transport.sendMail({ from, to: [...to], subject, text: body });
  } finally {
    transport.close();
  }
}

/**
 * Runs the program with PATH as its only environment variable, so that it gets no secret of eligd.
 */
async function runCommand({ command }: TargetOf<'command'>, text: AlertText): Promise<void> {
  const [program = '', ...args] = command;
  const { promise, resolve: done, reject } = Promise.withResolvers<void>();
  const child = spawn(program, args, {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', ELIGD_ALERT_SUBJECT: text.subject },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  child.once('error', reject);
  child.once('close', (code, signal) => {
    if (code === 0) done();
    else reject(new Error(signal === null ? `It ended with ${code}` : `It was ended (${signal})`));
  });
  // The program may ignore its input.
  child.stdin.on('error', () => {});
  child.stdin.end(`${text.subject}\n\n${text.body}`);
  await promise;
}

async function post(
  target: TargetOf<'webhook'>,
  { document }: AlertText,
  { secrets, folder }: Means,
): Promise<void> {
  const { id, url } = target;
  const token = secrets.find(alertSecretName(id, 'TOKEN'))?.secret.reveal();
  const address = new URL(url ?? secretOf(secrets, id, 'URL').reveal());
  const agent = createHttpAgent(() => wayOf(target, { owner: ownerOf(id), secrets, folder }), {
    connections: 1,
    timeout_ms: TIMEOUT_MS,
  });
  try {
    const response = await agent.request({
      origin: address.origin,
      path: `${address.pathname}${address.search}`,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(document),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { statusCode: status } = response;
    if (status < 200 || status > 299) throw new Error(`It answered ${status}`);
  } finally {
    await agent.destroy();
  }
}

function secretOf(secrets: SecretSource, target_id: string, last_part: string) {
  const name = alertSecretName(target_id, last_part);
  const [secret] = requireSecrets(secrets, [name] as const, `alerts go to "${target_id}"`);
  return secret;
}

function unsent({ id, type }: AlertTarget, error: unknown): EligdError {
  const what = `The alert could not be sent to "${id}" (${type}).`;
  if (error instanceof ConnectionError)
    return new EligdError('temporary', { what, why: error.message, next: error.next });
  return new EligdError('temporary', {
    what,
    why: `${reasonOf(error)}.`,
    next: 'Correct the target (alerts.targets) in the configuration; then run "eligd alert test".',
  });
}

/** Returns our own words or an error code: a mail server's text may contain anything. */
function reasonOf(error: unknown): string {
  const code = errorCode(error) ?? errorCode((error as { cause?: unknown } | null)?.cause);
  if (code !== null) return `The system reported ${code}`;
  if (error instanceof Error && error.name === 'TimeoutError') return 'It did not answer in time';
  return error instanceof Error && error.constructor === Error ? error.message : 'It failed';
}
