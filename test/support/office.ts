/** A clinic with its office page on a real port, and a browser that only knows HTTP. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { Env } from '../../src/domain/env.ts';
import { hashPassword, type Role, UserFile } from '../../src/office/users.ts';
import { type Clinic, makeClinic, OAUTH_SECRETS, type Overrides } from './clinic.ts';
import { freePort } from './free-port.ts';
import { type Service, startService } from './service.ts';

export const PASSWORD = 'correct horse battery';

export type Page = { status: number; headers: Headers; text: string };

export type OfficeClinic = {
  clinic: Clinic;
  service: Service;
  url: string;
  users: UserFile;
  daemon: Awaited<ReturnType<Clinic['daemon']>>;
  /** A browser without a session. */
  browser: () => Browser;
  /** A browser in which a user with this role is logged in. */
  login: (role: Role) => Promise<Browser>;
  close: () => Promise<void>;
};

const started: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of started.splice(0)) await close();
});

/**
 * Users `viewer`, `operator`, and `admin`, all with `PASSWORD`. `fill` runs before the daemon.
 * `base_url` is the test's own calling service; `office` adds to that section of the configuration;
 * `secrets` adds secrets.
 */
export async function startOffice(
  options: {
    config?: Overrides;
    env?: Partial<Env>;
    fill?: (clinic: Clinic, service: Service) => Promise<void>;
    base_url?: string;
    office?: object;
    secrets?: Record<string, string>;
  } = {},
): Promise<OfficeClinic> {
  const service = await startService();
  const port = await freePort();
  const listen = `127.0.0.1:${port}`;
  const clinic = makeClinic({
    base_url: options.base_url ?? service.url,
    config: { office: { listen, ...options.office }, ...options.config },
    secrets: { ...OAUTH_SECRETS, ...options.secrets },
  });
  await options.fill?.(clinic, service);
  const users = new UserFile(join(clinic.state, 'office-users'));
  const daemon = await clinic.daemon(options.env ?? {}, { idle_ms: 50 });
  const hash = await hashPassword(PASSWORD);
  users.write(
    (['viewer', 'operator', 'admin'] as const).map((role) => ({ name: role, role, hash })),
  );
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  const url = `http://${listen}`;
  let is_closed = false;
  const close = async () => {
    if (is_closed) return;
    is_closed = true;
    stop.abort();
    await running;
    await daemon.close();
  };
  started.push(close);
  await untilServed(url);
  const login = async (role: Role) => {
    const browser = new Browser(url);
    const { status } = await browser.post('/login', { name: role, password: PASSWORD });
    if (status !== 303) throw new Error(`The login answered ${status}.`);
    return browser;
  };
  return { clinic, service, url, users, daemon, browser: () => new Browser(url), login, close };
}

async function untilServed(url: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await fetch(`${url}/login`);
      return;
    } catch (error) {
      if (tries > 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

/** Keeps its cookie, and follows no redirect. */
export class Browser {
  readonly #url: string;
  cookie = '';

  constructor(url: string) {
    this.#url = url;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Page> {
    return await this.#send('GET', path, { headers });
  }

  async post(
    path: string,
    form: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    return await this.#send('POST', path, {
      body: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  }

  async send(method: string, path: string): Promise<Page> {
    return await this.#send(method, path, { headers: {} });
  }

  /** The token of the forms of a page. */
  async csrf(path = '/'): Promise<string> {
    const { text } = await this.get(path);
    return /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  }

  async #send(
    method: string,
    path: string,
    { headers, body }: { headers: Record<string, string>; body?: string },
  ): Promise<Page> {
    const response = await fetch(this.#url + path, {
      method,
      redirect: 'manual',
      headers: { ...(this.cookie === '' ? {} : { cookie: this.cookie }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const set = response.headers.get('set-cookie');
    if (set !== null) this.cookie = set.includes('Max-Age=0') ? '' : (set.split(';')[0] ?? '');
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

/** `makeClinic` checks the log of the clinic's daemon; this checks its users file. */
export const usersText = ({ users }: OfficeClinic) => readFileSync(users.path, 'utf8');
