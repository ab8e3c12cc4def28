import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { EligdError } from '../../src/domain/errors.ts';
import { ANYTHING } from '../../src/domain/questions.ts';
import { type ConnectorSchema, loadConfig, parseConfig } from '../../src/ops/config.ts';
import { ConfigError } from '../../src/ops/config-problems.ts';
import { shownConfig } from '../../src/ops/config-shown.ts';
import { clinicProfile, configNotes, policyOf } from '../../src/ops/profile.ts';

const MINIMAL = readFileSync(
  resolve(import.meta.dirname, '../../config/minimal.yaml'),
  'utf8',
).replace(/^#.*\n/gm, '');
const FILE = '/clinic/eligd.yaml';

const csvOnly: ConnectorSchema = async (type) => {
  if (type === 'csv' || type === '/clinic/mine.ts')
    return {
      config: z.strictObject({
        folder: z.string(),
        encoding: z.enum(['auto', 'utf-8']).default('auto'),
      }),
      has_exports: true,
    };
  throw new EligdError('configuration', {
    what: `There is no connector "${type}".`,
    why: 'There is csv.',
    next: 'Write "csv".',
  });
};

const load = (source: string) => parseConfig(source, FILE, csvOnly);

/** The problems of a text, as `line path: next step`. */
async function problemsOf(source: string): Promise<string[]> {
  const error = await load(source).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigError)) throw error ?? new Error('The configuration was accepted.');
  return error.problems.map(({ line, path, what, next }) => `${line} ${path}: ${what} ${next}`);
}

/** The minimal file with one text replaced. */
const changed = (from: string, to: string) => {
  if (!MINIMAL.includes(from)) throw new Error(`The minimal file has no "${from}".`);
  return MINIMAL.replace(from, to);
};

describe('the minimal configuration', () => {
  test('the minimal configuration is the documented one and loads unchanged', async () => {
    const config = await load(MINIMAL);
    expect(config.service).toMatchObject({
      external_id: '{appointment}',
      settle_seconds: 300,
      timeout_seconds: 30,
    });
    expect(config.service.submission).toEqual({
      mode: 'auto',
      batch_size: 25,
      max_per_minute: 60,
      concurrency: 4,
      bulk_shape: 'auto',
    });
    expect(config.connectors).toEqual([
      {
        id: 'front-desk',
        type: 'csv',
        has_exports: true,
        expected_by: null,
        options: { folder: './dropbox', encoding: 'auto' },
      },
    ]);
    expect(config.webhook).toBeNull();
  });

  test('paths are relative to the file', async () => {
    const config = await load(`${MINIMAL}policy: { payers: ../payers.csv }\n`);
    expect(config).toMatchObject({
      file: FILE,
      folder: '/clinic',
      state: { path: '/clinic/state/eligd.db' },
    });
    expect(config.policy.payers).toBe('/payers.csv');
  });

  test('the configuration becomes the clinic and the rules for planning', async () => {
    const source = `${changed('  specialty', '  closed: [2026-12-24]\n  specialty')}
locations: { " North Office ": { tax_id: 98-7654321 } }
providers: { 1245319599: { is_specialist: true } }
questions: { dental: [
  { name: ortho, when_codes: [d8000-D8999, D0120], benefits_query: [MY_OWN] },
  { name: rest, call_script_id: s1, with_codes: false }] }
`;
    const config = await load(source);
    const profile = clinicProfile(config);
    expect(profile).toMatchObject({
      name: 'Riverside Dental',
      tax_id: '123456789',
      in_network: null,
    });
    expect(profile.closed).toEqual(new Set(['2026-12-24']));
    expect(profile.locations).toEqual(new Map([['north office', { tax_id: '987654321' }]]));
    expect(profile.providers).toEqual(new Map([['1245319599', { is_specialist: true }]]));
    const policy = policyOf(config);
    expect(policy).not.toHaveProperty('payers');
    expect(policy.questions.dental).toEqual([
      {
        ...ANYTHING,
        name: 'ortho',
        when_codes: [
          { from: 'D8000', to: 'D8999' },
          { from: 'D0120', to: 'D0120' },
        ],
        benefits_query: ['MY_OWN'],
      },
      {
        ...ANYTHING,
        name: 'rest',
        benefits_query: [],
        with_codes: false,
        call_script_id: 's1',
      },
    ]);
    expect(policy.questions.mental_health.at(-1)?.benefits_query).toEqual([
      'PLAN_INFO',
      'MAXIMUMS',
      'PSYCHOTHERAPY',
      'CODE_LOOKUP_BENEFITS',
    ]);
  });

  test('a webhook that other machines can reach without a proxy is reported', async () => {
    const notes = async (listen: string) =>
      configNotes(
        await load(
          `${MINIMAL}webhook: { listen: "${listen}", public_url: https://clinic.example/hook }\n`,
        ),
      ).map(({ event }) => event);
    expect(configNotes(await load(MINIMAL))).toEqual([]);
    expect(await notes('127.0.0.1:8686')).toEqual([]);
    expect(await notes('[::1]:8686')).toEqual([]);
    expect(await notes('0.0.0.0:8686')).toEqual(['webhook_exposed']);
  });
});

describe('an error in the configuration', () => {
  test('an error names the line, the key, and the nearest known key', async () => {
    expect(await problemsOf(changed('  auth: oauth', '  auth: oauth\n  settle_second: 3'))).toEqual(
      ['10 service.settle_second: is not a known key. Did you mean "settle_seconds"?'],
    );
  });

  test('an error says where a misplaced key belongs', async () => {
    expect(await problemsOf(changed('  auth: oauth', '  auth: oauth\n  batch_size: 3'))).toEqual([
      '10 service.batch_size: is not a known key. It belongs under "service.submission".',
    ]);
  });

  test('an error lists the known keys if none is near', async () => {
    const [problem] = await problemsOf(`${MINIMAL}polling: { banana: 1 }\n`);
    expect(problem).toBe(
      '16 polling.banana: is not a known key. Known keys: interval_minutes, ' +
        'urgent_interval_minutes.',
    );
  });

  test('all errors are reported, including those of connectors', async () => {
    const source = changed('auth: oauth', 'auth: oath')
      .replace('folder:', 'foldr:')
      .replace('type: csv', 'type: csv\n    encoding: utf8');
    const problems = await problemsOf(source.replace('specialty: dental', 'specialty: dentl'));
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      '4 clinic.specialty',
      '9 service.auth',
      '11 connectors[0].folder',
      '13 connectors[0].encoding',
      '14 connectors[0].foldr',
    ]);
    expect(problems[1]).toBe('9 service.auth: is "oath". Write oauth or basic (probably oauth).');
  });

  test.each([
    [
      'a tax id without quotes, which has lost its leading zero',
      '"123456789"',
      '012345678',
      '5 clinic.tax_id: is not in quotes. Write "012345678", with the quotes.',
    ],
    [
      'a tax id that is too short',
      '"123456789"',
      '"12345678"',
      '5 clinic.tax_id: is not a 9-digit tax ID.',
    ],
    [
      'an NPI whose check digit is wrong',
      '"1234567893"',
      '"1234567894"',
      '6 clinic.billing_npi: is not a valid NPI',
    ],
    [
      'a misspelt time zone',
      'America/Chicago',
      'America/Chicgo',
      '3 clinic.time_zone: is not the name of a time zone. The nearest name is America/Chicago.',
    ],
    [
      'an offset as a time zone',
      'America/Chicago',
      '"-06:00"',
      '3 clinic.time_zone: is not the name of a time zone.',
    ],
    ['a missing value', 'Riverside Dental', '', '2 clinic.name: is missing'],
    [
      'a date that does not exist',
      '  specialty',
      '  closed: [2026-02-30]\n  specialty',
      '4 clinic.closed[0]: is not a date.',
    ],
    [
      'a word for a flag',
      '  auth',
      '  shared_account: yes\n  auth',
      '9 service.shared_account: is not true or false. Write true or false',
    ],
    [
      'a number that is too small',
      '  auth',
      '  settle_seconds: -1\n  auth',
      '9 service.settle_seconds: is too small. Use a number from 0, such as 300.',
    ],
    [
      'plain http to another machine',
      'http://127.0.0.1:8700',
      'http://inquiries.example',
      '8 service.base_url: is plain http to another machine',
    ],
    [
      'an address with a query',
      'http://127.0.0.1:8700',
      'https://inquiries.example/?a=1',
      '8 service.base_url: is not a web address.',
    ],
    [
      'a template without the appointment',
      '  auth',
      '  external_id: "{connector}"\n  auth',
      '9 service.external_id: does not contain {appointment}',
    ],
    [
      'a template with an unknown word',
      '  auth',
      '  external_id: "{appointment}{day}"\n  auth',
      '9 service.external_id: does not contain {appointment}, or contains a word',
    ],
    [
      'an id with a blank',
      'front-desk',
      'front desk',
      '11 connectors[0].id: may contain only letters, digits, and dashes.',
    ],
    [
      'a connector that does not exist',
      'type: csv',
      'type: cvs',
      '12 connectors[0].type: There is no connector "cvs". There is csv. Write "csv".',
    ],
  ])('an error is reported for %s', async (_, from, to, told) => {
    const problems = await problemsOf(changed(from, to));
    expect(problems.filter((problem) => problem.startsWith(told))).toHaveLength(1);
    expect(problems).toHaveLength(1);
  });

  test.each([
    ['clinic: [\n', 'is not valid YAML'],
    ['clinic: {}\nclinic: {}\n', 'Keep one of the keys with this name.'],
    ['', 'the file is empty'],
    ['hello\n', 'is not a group of keys'],
  ])('an error is reported for %j, which is not a configuration', async (source, told) => {
    expect((await problemsOf(source)).join()).toContain(told);
  });

  test('an error has the kind "configuration" and names the file', async () => {
    const error = await load('').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      kind: 'configuration',
      what: `The configuration ${FILE} has an error.`,
    });
  });

  test('a missing file is an error', async () => {
    await expect(loadConfig('/nowhere/eligd.yaml', csvOnly)).rejects.toMatchObject({
      kind: 'configuration',
      why: 'There is no such file.',
    });
  });
});

describe('the hour of the export', () => {
  const example = (name: string) =>
    readFileSync(resolve(import.meta.dirname, '../../config', name), 'utf8');

  test.each(['hl7', 'fhir'])(
    'expected_by is refused for %s, which reads no exports',
    async (type) => {
      const source = example(`${type}.yaml`).replace(
        `    type: ${type}\n`,
        `    type: ${type}\n    expected_by: '07:30'\n`,
      );
      const error = await parseConfig(source, FILE).catch((reason: unknown) => reason);
      const problems = error instanceof ConfigError ? error.problems : [];
      expect(problems).toEqual([
        {
          path: 'connectors[0].expected_by',
          line: source.split('\n').findIndex((line) => line.includes('expected_by')) + 1,
          what:
            `is only for exports, and the connector "${type}" reads none: changes arrive one by ` +
            'one.',
          next: 'Leave it out.',
        },
      ]);
    },
  );

  test('config show has expected_by for connectors that read exports', async () => {
    const config = await parseConfig(
      changed('    type: csv\n', "    type: csv\n    expected_by: '07:30'\n"),
      FILE,
    );
    expect(shownConfig(config).connectors).toEqual([
      expect.objectContaining({ id: 'front-desk', expected_by: '07:30' }),
    ]);
  });
});

describe('two connectors', () => {
  const second = '  - { id: other, type: ./mine.ts, folder: ./b }\nstate:';

  test('two connectors are refused while the external ID lacks the connector', async () => {
    const [problem] = await problemsOf(changed('state:', second));
    expect(problem).toContain('service.external_id: does not contain {connector}');
    expect(problem).toContain('Set external_id: "{connector}:{appointment}".');
  });

  test('two connectors load with it, and paths become absolute', async () => {
    const config = await load(
      changed('state:', second).replace(
        '  auth',
        '  external_id: "{connector}:{appointment}"\n  auth',
      ),
    );
    expect(config.connectors.map(({ id, type }) => [id, type])).toEqual([
      ['front-desk', 'csv'],
      ['other', '/clinic/mine.ts'],
    ]);
  });

  test('two connectors with the same ID are refused', async () => {
    const source = changed('state:', second.replace('other', 'front-desk')).replace(
      '  auth',
      '  external_id: "{connector}:{appointment}"\n  auth',
    );
    expect(await problemsOf(source)).toEqual([
      '15 connectors[1].id: is also used by the connector in line 12. Give each connector its ' +
        'own id.',
    ]);
  });
});

describe('question rules', () => {
  test.each([
    [
      'that leave codes out',
      '[{ name: a, when_codes: [D0120], benefits_query: [X] }]',
      'Add a last rule without conditions (when_…).',
    ],
    [
      'that hide others',
      '[{ name: a, benefits_query: [X] }, { name: b, benefits_query: [X] }]',
      'matches every appointment',
    ],
    ['that ask nothing', '[{ name: a }]', 'asks nothing'],
    [
      'of one name',
      '[{ name: a, when_codes: [D1], benefits_query: [X] }, { name: a, benefits_query: [X] }]',
      'is used by an earlier rule',
    ],
    [
      'with a range that is upside down',
      '[{ name: a, when_codes: [D9-D1], benefits_query: [X] }, { name: b, benefits_query: [X] }]',
      'is neither a procedure code',
    ],
    ['that are not there', '[]', 'is an empty list'],
  ])('question rules with %s are refused', async (_, rules, told) => {
    const problems = await problemsOf(`${MINIMAL}questions: { dental: ${rules} }\n`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(told);
  });
});

describe('the time of the reconciliation', () => {
  test.each([
    '0 5 * * *',
    '*/15 * * * *',
    '0,30 8-17 * 1-6 1-5',
    '0 5 * * MON-FRI',
    '0 5 1 jan *',
    '0 22-3 * * *',
  ])('the time of the reconciliation may be %s', async (line) => {
    const config = await load(`${MINIMAL}schedule: { reconciliation_cron: "${line}" }\n`);
    expect(config.schedule.reconciliation_cron).toBe(line);
  });

  test.each([
    ...['0 5 * *', '60 5 * * *', '*/0 * * * *', 'daily', '@daily', '0 0 5 * * *'],
    // The daemon's scheduler refuses these.
    ...['5/2 * * * *', '0 5 31 2 *'],
  ])('the time of the reconciliation may not be %s', async (line) => {
    expect(
      (await problemsOf(`${MINIMAL}schedule: { reconciliation_cron: "${line}" }\n`)).join(),
    ).toContain('is not a time in the form of cron');
  });
});

describe('a secret in the configuration', () => {
  test.each([
    ['password: hunter2', 'ELIGD_SERVICE_PASSWORD=…'],
    ['api_key: hunter2', 'ELIGD_SERVICE_API_KEY=…'],
    ['ELIGD_SERVICE_USERNAME: hunter2', 'ELIGD_SERVICE_USERNAME=…'],
    ['client_secret: hunter2', 'write it into the file .env'],
    ['access-token: hunter2', 'write it into the file .env'],
  ])(
    'a secret in %s is refused, with where to put it and without its value',
    async (line, told) => {
      const error = await load(changed('  auth', `  ${line}\n  auth`)).catch(
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(ConfigError);
      expect((error as ConfigError).problems).toHaveLength(1);
      expect(String((error as ConfigError).message)).toContain(told);
      expect(String((error as ConfigError).message)).not.toContain('hunter2');
    },
  );

  test('a secret in an address or in a connector is refused, too', async () => {
    const source = changed('http://127', 'http://me:hunter2@127').replace(
      '    folder',
      '    token: hunter2\n    folder',
    );
    const problems = await problemsOf(source);
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      '8 service.base_url',
      '13 connectors[0].token',
    ]);
    expect(problems.join()).not.toContain('hunter2');
  });

  test('a key that names a file or an address is not taken for a secret', async () => {
    expect((await problemsOf(changed('  auth', '  token_url: a\n  auth'))).join()).toContain(
      'token_url: is not a known key',
    );
  });
});
