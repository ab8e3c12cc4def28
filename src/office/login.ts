import { type Html, html } from './html.ts';
import { documentOf } from './layout.ts';
import { clockWords } from './times.ts';

export type LoginTrouble = { kind: 'wrong' | 'busy' | 'ended' } | { kind: 'locked'; until: number };

/** Says nothing about who exists, and keeps what was typed out of the page. */
export function loginPage(clinic: string, time_zone: string, trouble: LoginTrouble | null): string {
  const told =
    trouble === null
      ? null
      : html`<div class="notice bad" role="alert"><p>${sentence(trouble, time_zone)}</p></div>`;
  const body: Html = html`<main id="main" class="login">
<div class="panel"><h1>${clinic}</h1><p class="soft">Insurance checks by eligd</p>
${told}
<form method="post" action="/login">
<label for="name">Name</label>
<input id="name" name="name" autocomplete="username" autocapitalize="none" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button class="main">Log in</button>
</form></div></main>`;
  return documentOf('Log in', body);
}

function sentence(trouble: LoginTrouble, time_zone: string): string {
  switch (trouble.kind) {
    case 'wrong':
      return 'The name or the password is wrong.';
    case 'ended':
      return 'Your login has ended. Please log in again.';
    case 'busy':
      return 'Too many people are logging in at this moment. Try again in a minute.';
    case 'locked':
      return (
        'Too many wrong passwords. Try again after ' +
        `${clockWords(trouble.until + 59_999, time_zone)}.`
      );
  }
}
