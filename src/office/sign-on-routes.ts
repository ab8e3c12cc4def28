/** `/login/group` leads to the login provider; the provider sends users back to `/login/return`. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { errorCode } from '../domain/errors.ts';
import type { Office } from './context.ts';
import { keptCookie, readKeptCookie, readTicket, sessionCookie, ticketCookie } from './headers.ts';
import { type LoginTrouble, loggedInPage, loginPage, placeOf } from './login.ts';

const QUERY_CHARS_MAX = 4_096;

export function serveSignOn(scope: FastifyInstance, office: Office): void {
  const { sign_on, env, is_secure } = office;
  if (sign_on === null) return;
  const refuse = (reply: FastifyReply, trouble: LoginTrouble) =>
    reply
      .code(403)
      .header('set-cookie', ticketCookie('', is_secure))
      .type('text/html; charset=utf-8')
      .send(loginPage(placeOf(office), trouble));
  const failed = (reply: FastifyReply, error: unknown) => {
    env.log('sign_on_failed', { reason: errorCode(error) ?? 'failed' });
    return refuse(reply, { kind: 'sign_on_failed' });
  };
  scope.get('/login/group', async (_request, reply) => {
    try {
      const { address, ticket } = await sign_on.begin();
      return reply.header('set-cookie', ticketCookie(ticket, is_secure)).redirect(address, 303);
    } catch (error) {
      return failed(reply, error);
    }
  });
  scope.get('/login/return', async (request, reply) => {
    try {
      const { search } = new URL(request.url.slice(0, QUERY_CHARS_MAX), 'http://return');
      const account = await sign_on.finish(readTicket(request.headers.cookie), search);
      const token = account === null ? null : await office.access.signOn(account);
      if (token === null) return refuse(reply, { kind: 'not_added' });
      const sealed = readKeptCookie(request.headers.cookie);
      const form = sealed === null ? null : sign_on.openForm(sealed);
      const cookies = [
        sessionCookie(token, is_secure),
        ticketCookie('', is_secure),
        ...(sealed === null ? [] : [keptCookie('', is_secure)]),
      ];
      return reply
        .header('set-cookie', cookies)
        .type('text/html; charset=utf-8')
        .send(loggedInPage(form));
    } catch (error) {
      return failed(reply, error);
    }
  });
}
