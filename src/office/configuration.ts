/** Shows the effective values, read-only. It names secrets; their values are not loaded. */
import { stringify } from 'yaml';
import { shownConfig } from '../ops/config-shown.ts';
import type { Answer, Office } from './context.ts';
import { html } from './html.ts';

/** `GET /configuration` */
export async function configurationPage(office: Office): Promise<Answer> {
  const { config } = office;
  const text = stringify(shownConfig(config), { lineWidth: 0, aliasDuplicateObjects: false });
  const body = html`<div class="head"><h1>Configuration</h1></div>
<p>The values in effect, from ${config.file} and the defaults. To change them, edit that file.</p>
<section class="panel"><h2>Secrets</h2><ul>${office
    .secrets()
    .map(({ name, state }) => html`<li>${name}: ${state}</li>`)}</ul></section>
<section class="panel"><h2>Values</h2><pre tabindex="0">${text}</pre></section>`;
  return { kind: 'page', title: 'Configuration', active: '/configuration', body };
}
