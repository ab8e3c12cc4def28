/**
 * The routes of the office page. Every route except the login, the style sheet, and the script
 * needs a session. Every form needs the role, the same site, and the token of its page. Every
 * response has the security headers. Pages are built on the server and work without JavaScript.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorCode } from '../domain/errors.ts';
import { HOUR_MS, isDate } from '../domain/time.ts';
import type { HttpRoute } from '../http/server.ts';
import { type ShownRecord, writeAccess } from '../store/bookkeeping/access-log.ts';
import { actorOf, isSameToken, type Session } from './access.ts';
import { markDone, operate, releaseAll } from './actions.ts';
import { againPage, keptText, readKept } from './again.ts';
import { SCRIPT, STYLE } from './assets.ts';
import { attentionPage } from './attention.ts';
import { callSheetPage } from './call-sheet.ts';
import { calledPage } from './called.ts';
import { configurationPage } from './configuration.ts';
import { type Answer, missing, type Notice, type Office, type Visit } from './context.ts';
import { enterByForm } from './entered.ts';
import { keptCookie, readCookie, SECURITY_HEADERS, sessionCookie, TLS_HEADERS } from './headers.ts';
import { html } from './html.ts';
import { framed } from './layout.ts';
import { LivePages, liveMark } from './live.ts';
import { type LoginTrouble, loginPage, placeOf } from './login.ts';
import { mapByForm } from './map-payer.ts';
import { formOf, isSameSite, pathOf } from './requests.ts';
import { schedulePage } from './schedule.ts';
import { serveSignOn } from './sign-on-routes.ts';
import { mayDo, type Role } from './users.ts';
import { visitPage } from './visit.ts';
import { weekPage } from './week.ts';

const FORM_BYTES_MAX = 64 * 1024;
/** A list adds a row to the access log for each of its visits, and users reopen it all day. */
const SAME_LIST_MS = HOUR_MS;
/** An open page that refreshes shows the same records; a session lasts no longer than this. */
const SAME_REFRESH_MS = 12 * HOUR_MS;
const LOOKS_REMEMBERED_MAX = 20_000;

/**
 * `shows`: the page's name in the access log, and for how long repeated views of a record count as
 * one; null: the page shows no patient.
 */
type Page = {
  path: string;
  role: Role;
  shows: null | { page: string; same_ms: number };
  show: (office: Office, visit: Visit) => Promise<Answer>;
};

const SCHEDULE: Page['shows'] = { page: 'schedule', same_ms: SAME_LIST_MS };
const ATTENTION: Page['shows'] = { page: 'attention', same_ms: SAME_LIST_MS };
const ofVisit = (page: string): Page['shows'] => ({ page, same_ms: 0 });

export const PAGES: readonly Page[] = [
  {
    path: '/',
    role: 'viewer',
    shows: SCHEDULE,
    show: (office, { now }) => schedulePage(office, null, now),
  },
  {
    path: '/day/:date',
    role: 'viewer',
    shows: SCHEDULE,
    show: async (office, { params: { date = '' }, now }) =>
      isDate(date) ? await schedulePage(office, date, now) : missing,
  },
  { path: '/visit/:id', role: 'viewer', shows: ofVisit('visit'), show: visitPage },
  { path: '/visit/:id/called', role: 'operator', shows: ofVisit('visit'), show: calledPage },
  {
    path: '/visit/:id/call-sheet',
    role: 'viewer',
    shows: ofVisit('call-sheet'),
    show: callSheetPage,
  },
  {
    path: '/attention',
    role: 'viewer',
    shows: ATTENTION,
    show: attentionPage,
  },
  { path: '/week', role: 'viewer', shows: null, show: weekPage },
  { path: '/configuration', role: 'admin', shows: null, show: configurationPage },
];

/** The forms, by the address that they are sent to. */
export const ACTIONS: readonly {
  path: string;
  role: Role;
  act: (office: Office, visit: Visit) => Promise<Answer>;
  /** The kind of page when the form is shown again; undefined: a visit's page. */
  shows?: Page['shows'];
}[] = [
  { path: '/visit/:id/called', role: 'operator', act: enterByForm },
  { path: '/visit/:id/done', role: 'operator', act: markDone('appointment') },
  { path: '/inquiry/:id/done', role: 'operator', act: markDone('inquiry') },
  { path: '/entry/:id/done', role: 'operator', act: markDone('entry') },
  { path: '/visit/:id/:operation', role: 'operator', act: operate('appointment') },
  { path: '/inquiry/:id/:operation', role: 'operator', act: operate('inquiry') },
  {
    path: '/payers/map',
    role: 'operator',
    act: (office, visit) => mapByForm(office, visit, () => attentionPage(office, visit)),
    shows: ATTENTION,
  },
  { path: '/submission/release', role: 'operator', act: releaseAll },
];

export function officeRoute(office: Office): HttpRoute {
  return (app) => {
    app.register(async (scope) => serve(scope, new Desk(office)));
  };
}

/** Shared by the routes: sessions, the notice of the last form, and the access log. */
class Desk {
  readonly office: Office;
  /** By session; in memory, because a notice is only for the next page. */
  readonly #notices = new Map<string, Notice>();
  readonly #seen = new Map<string, number>();

  constructor(office: Office) {
    this.office = office;
  }

  /** Returns the session. An automatic refresh does not count as a click. */
  async session(request: FastifyRequest, is_click = !isRefresh(request)): Promise<Session | null> {
    const token = readCookie(request.headers.cookie, this.office.is_secure);
    return token === null ? null : await this.office.access.session(token, is_click);
  }

  keepNotice({ token }: Session, notice: Notice): void {
    if (this.#notices.size > 1_000) this.#notices.clear();
    this.#notices.set(token, notice);
  }

  takeNotice({ token }: Session): Notice | null {
    const notice = this.#notices.get(token) ?? null;
    this.#notices.delete(token);
    return notice;
  }

  /** Called before the page is sent, so that nobody sees a record without a log entry. */
  async noteLook(
    session: Session,
    { page, same_ms }: NonNullable<Page['shows']>,
    records: readonly ShownRecord[],
  ): Promise<void> {
    const { store, env } = this.office;
    const at = env.clock.now();
    const actor = actorOf(session);
    const keyOf = (record: ShownRecord) =>
      JSON.stringify([actor, page, record.connector, record.source_id]);
    const fresh = records.filter(
      (each) => at - (this.#seen.get(keyOf(each)) ?? Number.NEGATIVE_INFINITY) >= same_ms,
    );
    if (fresh.length === 0) return;
    await store.write((tx) => writeAccess(tx, { at, actor, page }, fresh));
    if (this.#seen.size > LOOKS_REMEMBERED_MAX) this.#seen.clear();
    for (const record of fresh) this.#seen.set(keyOf(record), at);
  }
}

function serve(scope: FastifyInstance, desk: Desk): void {
  const { office } = desk;
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    (_request, body, done) => done(null, body),
  );
  scope.addHook('onRequest', async (_request, reply) => {
    reply.headers(SECURITY_HEADERS);
    if (office.is_secure) reply.headers(TLS_HEADERS);
  });
  scope.setErrorHandler(async (error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500)
      office.env.log('http_failed', {
        error_name: error.name,
        error_code: errorCode(error),
        http_status: status,
      });
    return reply.code(status).type('text/plain; charset=utf-8').send(failedText(status));
  });
  scope.get('/office.css', async (_request, reply) => reply.type('text/css').send(STYLE));
  scope.get('/office.js', async (_request, reply) => reply.type('text/javascript').send(SCRIPT));
  serveLogin(scope, desk);
  serveSignOn(scope, office);
  const live = new LivePages(office);
  scope.get('/events', async (request, reply) => {
    const isLoggedIn = async () => (await desk.session(request, false)) !== null;
    if (!(await isLoggedIn())) return toLogin(desk, request, reply);
    live.serve(request, reply, isLoggedIn);
  });
  for (const page of PAGES)
    scope.get(page.path, async (request, reply) => await showPage(desk, page, request, reply));
  for (const action of ACTIONS)
    scope.post(action.path, async (request, reply) => await takeForm(desk, action, request, reply));
  scope.all('/*', async (request, reply) => {
    const session = await desk.session(request);
    return session === null
      ? toLogin(desk, request, reply)
      : await sendPage(desk, reply, visitOf(desk, request, session), missing);
  });
}

const failedText = (status: number) =>
  status >= 500
    ? 'This page could not be shown because of a bug in eligd. The log has the cause.'
    : 'This request could not be read.';

function serveLogin(scope: FastifyInstance, desk: Desk): void {
  const { office } = desk;
  const show = (
    reply: FastifyReply,
    status: number,
    trouble: LoginTrouble | null,
    again: string | null = null,
  ) =>
    reply
      .code(status)
      .type('text/html; charset=utf-8')
      .send(loginPage(placeOf(office), trouble, again));
  scope.get('/login', async (request, reply) => {
    if ((await desk.session(request)) !== null) return reply.redirect('/', 303);
    return show(reply, 200, null);
  });
  scope.post('/login', async (request, reply) => {
    const form = formOf(request);
    if (!isSameSite(request)) return show(reply, 403, { kind: 'ended' });
    const result = await office.access.login(form.get('name') ?? '', form.get('password') ?? '');
    const kept = readKept(form.get('again'));
    if (result.kind !== 'in') {
      const again = kept === null ? null : keptText(kept.path, kept.form);
      return show(reply, { wrong: 401, locked: 429, busy: 503 }[result.kind], result, again);
    }
    reply.header('set-cookie', sessionCookie(result.token, office.is_secure));
    const session = kept === null ? null : await office.access.session(result.token, true);
    if (kept === null || session === null) return reply.redirect('/', 303);
    const visit = visitOf(desk, request, session);
    return await sendPage(desk, reply, visit, await againPage(office, kept, visit));
  });
  // Restores a kept form after a login with the group's account.
  scope.post('/login/again', async (request, reply) => {
    const kept = isSameSite(request) ? readKept(formOf(request).get('again')) : null;
    const session = await desk.session(request);
    if (kept === null) return reply.redirect('/', 303);
    if (session === null)
      return show(reply, 401, { kind: 'ended' }, keptText(kept.path, kept.form));
    const visit = visitOf(desk, request, session);
    return await sendPage(desk, reply, visit, await againPage(office, kept, visit));
  });
  scope.post('/logout', async (request, reply) => {
    const session = await desk.session(request);
    // Another site must not be able to log a user out.
    if (session !== null && !isGenuine(request, session)) return reply.redirect('/', 303);
    if (session !== null) await office.access.logout(session.token);
    return reply
      .header('set-cookie', sessionCookie('', office.is_secure))
      .header('clear-site-data', '"cache", "storage"')
      .redirect('/login', 303);
  });
}

async function showPage(
  desk: Desk,
  page: Page,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await desk.session(request);
  if (session === null) return toLogin(desk, request, reply);
  if (!mayDo(session.user.role, page.role)) return await refuseRole(desk, reply, session);
  const visit = visitOf(desk, request, session);
  // Read before the page is built, so that the next refresh shows changes made meanwhile.
  const mark = await liveMark(desk.office);
  const answer = await page.show(desk.office, visit);
  const is_refresh = isRefresh(request);
  const shows = is_refresh && page.shows !== null ? refreshOf(page.shows) : page.shows;
  return await sendPage(desk, reply, { ...visit, is_refresh, shows, mark }, answer);
}

async function takeForm(
  desk: Desk,
  { role, act, shows = ofVisit('visit') }: (typeof ACTIONS)[number],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await desk.session(request);
  if (session === null) return toLogin(desk, request, reply);
  if (!mayDo(session.user.role, role)) return await refuseRole(desk, reply, session);
  const visit = visitOf(desk, request, session);
  if (isGenuine(request, session))
    return await sendPage(desk, reply, { ...visit, shows }, await act(desk.office, visit));
  // The form may come from a page of an earlier login, such as in another tab.
  const kept = isSameSite(request) ? readKept(keptText(pathOf(request), visit.form)) : null;
  if (kept !== null)
    return await sendPage(desk, reply.code(403), visit, await againPage(desk.office, kept, visit));
  const lines = ['That form did not come from this page. Nothing was done.'];
  return await sendNotice(desk, reply, session, { status: 403, lines });
}

const refuseRole = (desk: Desk, reply: FastifyReply, session: Session) =>
  sendNotice(desk, reply, session, {
    status: 403,
    lines: [`Your role is ${session.user.role}, which does not include this. Nothing was done.`],
  });

function visitOf({ office }: Desk, request: FastifyRequest, session: Session): Visit {
  const params = request.params as Record<string, string>;
  return { session, now: office.env.clock.now(), params, form: formOf(request) };
}

async function sendPage(
  desk: Desk,
  reply: FastifyReply,
  visit: Visit & { is_refresh?: boolean; shows?: Page['shows']; mark?: string },
  answer: Answer,
): Promise<FastifyReply> {
  const { session, now, is_refresh = false, shows = ofVisit('visit'), mark = null } = visit;
  if (answer.kind === 'done') {
    desk.keepNotice(session, answer.notice);
    return reply.redirect(answer.to, 303);
  }
  if (answer.kind === 'missing')
    return await sendNotice(desk, reply, session, {
      status: 404,
      lines: ['This page does not exist.'],
    });
  if (shows !== null) await desk.noteLook(session, shows, answer.shows ?? []);
  // A refresh leaves the notice for the next page that a user opens.
  const notice = answer.notice ?? (is_refresh ? null : desk.takeNotice(session));
  const report = await desk.office.health();
  const { title, active, body } = answer;
  const page = { title, active, body, session, notice, report, now, mark };
  return reply.type('text/html; charset=utf-8').send(framed(desk.office, page));
}

async function sendNotice(
  desk: Desk,
  reply: FastifyReply,
  session: Session,
  { status, lines }: { status: number; lines: string[] },
): Promise<FastifyReply> {
  const now = desk.office.env.clock.now();
  const page = {
    title: 'Not done',
    active: '',
    body: html`<p><a href="/">Go to the schedule</a></p>`,
    session,
    notice: { is_bad: true, lines },
    report: await desk.office.health(),
    now,
    mark: null,
  };
  return reply.code(status).type('text/html; charset=utf-8').send(framed(desk.office, page));
}

/** A script's refresh of a page does not count as a click. */
const refreshOf = (shows: NonNullable<Page['shows']>) => ({ ...shows, same_ms: SAME_REFRESH_MS });
const isRefresh = ({ headers }: FastifyRequest) => headers['x-refresh'] !== undefined;

/**
 * Redirects a page to the login. A form gets an error status, so that it does not look done, and
 * its content is kept, so that the user need not type it again.
 */
function toLogin({ office }: Desk, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (request.method === 'GET') return reply.redirect('/login', 303);
  const again = isSameSite(request) ? keptText(pathOf(request), formOf(request)) : null;
  // A login with the group's account leaves this site, so the browser keeps the form, sealed.
  const sealed = again === null ? null : (office.sign_on?.sealForm(again) ?? null);
  if (sealed !== null) reply.header('set-cookie', keptCookie(sealed, office.is_secure));
  const place = { ...placeOf(office), is_kept_for_group: sealed !== null };
  return reply
    .code(401)
    .type('text/html; charset=utf-8')
    .send(loginPage(place, { kind: 'ended' }, again));
}

/** Returns whether the form came from a page that this session was given. */
function isGenuine(request: FastifyRequest, session: Session): boolean {
  return isSameSite(request) && isSameToken(formOf(request).get('csrf') ?? '', session.csrf);
}
