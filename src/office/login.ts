import type { Office } from './context.ts';
import { type Html, html } from './html.ts';
import { documentOf } from './layout.ts';
import { clockWords } from './times.ts';

export type LoginTrouble =
  | { kind: 'wrong' | 'busy' | 'ended' | 'sign_on_failed' | 'not_added' }
  | { kind: 'locked'; until: number };

/**
 * `has_sign_on`: whether users may also log in with the account of their group;
 * `is_kept_for_group`: whether typed values survive such a login.
 */
type LoginPlace = {
  clinic: string;
  time_zone: string;
  has_sign_on: boolean;
  is_kept_for_group?: boolean;
};

export const placeOf = ({ config, sign_on }: Office): LoginPlace => ({
  clinic: config.clinic.name,
  time_zone: config.clinic.time_zone,
  has_sign_on: sign_on !== null,
});

/**
 * Does not reveal which users exist, and keeps name and password out of the page. `again`: a form
 * whose login had ended, which the page carries along.
 */
export function loginPage(
  place: LoginPlace,
  trouble: LoginTrouble | null,
  again: string | null = null,
): string {
  const { clinic, time_zone, has_sign_on, is_kept_for_group = true } = place;
  const told =
    trouble === null
      ? null
      : html`<div class="notice bad" role="alert"><p>${sentence(trouble, time_zone)}</p></div>`;
  const body: Html = html`<main id="main" class="login">
<div class="panel"><h1>${clinic}</h1><p class="soft">Insurance checks by eligd</p>
${told}
${again === null ? null : html`<p>What you typed is kept until you are logged in.</p>`}
<form method="post" action="/login">${
    again === null ? null : html`<input type="hidden" name="again" value="${again}">`
  }
<label for="name">Name</label>
<input id="name" name="name" autocomplete="username" autocapitalize="none" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button class="main">Log in</button>
</form>${
    has_sign_on
      ? html`<p><a class="button" href="/login/group">Log in with the group’s account</a></p>
${again === null || is_kept_for_group ? null : html`<p>${TOO_LONG}</p>`}`
      : null
  }</div></main>`;
  return documentOf('Log in', body);
}

const TOO_LONG =
  'What you typed is too long to come back after a login with the group’s account: use a ' +
  'password, or go back and copy it first.';

function sentence(trouble: LoginTrouble, time_zone: string): string {
  switch (trouble.kind) {
    case 'wrong':
      return 'The name or the password is wrong.';
    case 'ended':
      return 'Your login has ended, and nothing was done. Please log in again.';
    case 'busy':
      return 'Too many people are logging in right now. Try again in a minute.';
    case 'sign_on_failed':
      return (
        'The login with the group’s account did not work. Try again, or ask your IT ' +
        'contractor: the log of eligd has the cause.'
      );
    case 'not_added':
      return (
        'That account may not see this page yet. Ask your IT contractor to add it with ' +
        '“eligd user add NAME --sign-on ACCOUNT”.'
      );
    case 'locked':
      return (
        'Too many wrong passwords. Try again after ' +
        `${clockWords(trouble.until + 59_999, time_zone)}.`
      );
  }
}

/**
 * Builds the page after the return from the provider. It leads on, because a browser sends the
 * session cookie (SameSite=Strict) only with a request that this site started. `again`: a form
 * whose login had ended.
 */
export function loggedInPage(again: string | null): string {
  const body = html`<main id="main" class="login"><div class="panel"><h1>You are logged in</h1>
${
  again === null
    ? null
    : html`<form method="post" action="/login/again">
<input type="hidden" name="again" value="${again}">
<button class="main">Show what I typed</button></form>`
}<p><a class="button" href="/">Go to the schedule</a></p></div></main>`;
  return documentOf('Logged in', body);
}
