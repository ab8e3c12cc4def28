/** The code blocks of connectors/README.md run as printed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { copyOfTree } from '../support/tree.ts';

const tree = copyOfTree();
afterAll(() => tree.remove());

const DAY_MS = 86_400_000;
/** More days than any holiday lasts: the insurance company can be called before the visit. */
const AHEAD_DAYS = 6;

function blocks(language: string): string[] {
  const page = readFileSync(join(tree.path, 'connectors/README.md'), 'utf8');
  return [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, found]) => found === language)
    .map(([, , text = '']) => text);
}

test('the page copies the template, tests it, and uses it', { timeout: 120_000 }, async () => {
  const shell = blocks('sh');
  expect(shell.join()).toContain('npm test');
  for (const block of shell) {
    const { code, output } = await tree.run('sh', ['-e', '-c', block]);
    expect(code, output).toBe(0);
  }

  const [connectors = '', ...others] = blocks('yaml');
  expect(others).toEqual([]);
  const service = await startService();
  const config = join(tree.path, 'config/eligd.yaml');
  const rest = `clinic: { name: A, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "${service.url}", auth: oauth }
state: { path: ./state/eligd.db }
`;
  writeFileSync(config, rest + connectors);
  const inbox = join(tree.path, 'config/mypms/in');
  mkdirSync(inbox, { recursive: true });
  const visit = {
    id: 'V-1',
    start: new Date(Date.now() + AHEAD_DAYS * DAY_MS).toISOString(),
    patient: { id: 'P-1', first_name: 'Zoe', last_name: 'Quill', birth_date: '1987-02-14' },
    insurance: [{ carrier: 'Delta', payor_id: '05030', group_id: '1', member_id: 'M0012345' }],
    npi: '1234567893',
    codes: ['D1110'],
  };
  writeFileSync(join(inbox, 'visits.json'), JSON.stringify([visit]));
  const secrets = { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'sandbox' };
  const { code, output } = await tree.run('bin/eligd', ['once', '--config', config], secrets);
  expect(code, output).toBe(0);
  expect((await service.ledger()).map(({ external_id }) => external_id)).toEqual(['V-1']);
});
