/**
 * G6 by marks: a name, a birth date, and a member ID in every field of every source, in answers,
 * and in the words of refusals. No command shows one of them without `--patients`, no page without
 * a session, and no file outside the database and the drop folders contains one.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { createContext } from '../../src/cli/context.ts';
import { allCommands } from '../../src/cli/program.ts';
import { siu } from '../connectors/hl7/messages.ts';
import { ack, Receiver } from '../connectors/hl7/peers.ts';
import { anAppointment } from '../domain/examples.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { csvText } from '../support/csv-text.ts';
import type { FhirPeer } from '../support/fhir/peer.ts';
import { resourcesOf } from '../support/fhir/records.ts';
import { startPeer } from '../support/fhir/start.ts';
import { freePort } from '../support/free-port.ts';
import { leaks } from '../support/leaks.ts';
import { Marks, startMarkedService } from './marked-service.ts';

const DAY_MS = 86_400_000;
/** After any holiday: the insurance company can be called before the visits. */
const VISIT_DAY = new Date(Date.now() + 6 * DAY_MS).toISOString().slice(0, 10);

/** All data that identifies a person; it may be only in the database and the drop folders. */
const SECRETS = [
  Marks.BEGIN,
  'QZMEMBER777',
  '07/29/1943',
  '1943-07-29',
  '07-29-1943',
  '19430729',
  'Zqxlast',
  'ZQXLAST',
  'Zqxsubscriber',
  'QZGROUP55',
  'QZMEMBER778',
  'QZMEMBER779',
  '1944-08-30',
  '08/30/1944',
];

/** An answer of the service with all fields of the specification; every text gets a mark. */
const RESULTS = {
  call_summary: 'Said.',
  plan: { is_active: true, plan_name: 'Gold', plan_type: 'PPO', referral_info: 'None' },
  maximums: { individual_deductible: '50', coverage_limit: '1000', coverage_limit_used: 'none' },
  procedure_codes: [
    [
      { procedure_code: '1110' },
      { is_covered: true, percent_covered: '80', frequency_limitations: '2 per year' },
      { waiting_period: '6 months', age_limit: 'up to 14', limitations: 'As said' },
    ],
  ],
  other: { note: 'More', list: ['one', { deep: 'two' }] },
  representative_name: 'Dana',
  reference_number: 'R1',
};

/**
 * How the test runs each command, or why it does not. A command without a row fails the test: add
 * how to run it, without `--patients` and `--full`.
 */
const RUNS: Readonly<Record<string, string[][] | string>> = {
  run: 'is the daemon, whose log is scanned',
  once: 'is run first, and its output is scanned',
  demo: 'has patients of its own, who are made up',
  sandbox: 'has patients of its own, who are made up',
  init: 'writes a new configuration',
  log: [['{folder}/eligd.log']],
  check: [[]],
  status: [[]],
  list: [[], ['--attention'], ['--situation', 'attention']],
  show: [
    ['A-payer'],
    ['appointment:1'],
    ['appointment:7'],
    ['appointment:8'],
    ['A-1'],
    ['A-2'],
    ['A-3'],
    ['A-refused'],
    ['H-1'],
    ['F-1'],
    ['inquiry:1'],
    ['inquiry:2'],
  ],
  explain: [
    ['A-payer'],
    ['appointment:7'],
    ['appointment:8'],
    ['ZQXLAS-1943072'],
    ['A-1'],
    ['A-2'],
    ['A-3'],
    ['A-refused'],
    ['H-1'],
    ['F-1'],
    ['inquiry:1'],
  ],
  'payers map': 'changes the payer map',
  payers: [[]],
  preview: [['{export}', '--connector', 'front-desk']],
  'audit show': [[], ['--patient', 'P-1']],
  'audit verify': [[]],
  cost: [[]],
  ask: [['A-1'], ['A-2']],
  retry: [['A-refused'], ['H-1']],
  hold: [['A-2']],
  done: [['A-1'], ['A-2', '--note', 'Phoned.']],
  withdraw: [['A-3']],
  release: [['A-2'], ['submission']],
  'inquiry list': [[]],
  'inquiry get': [['call-0'], ['call-1']],
  verification: [['call-0']],
  'verification list': [['call-0']],
  'subscription show': [[]],
  'subscription set': [['--url', 'https://clinic.example/w']],
  'subscription delete': [[]],
  'alert test': [[]],
  'alert failed': [[]],
  'legal-hold add': [['P-A-2', '--reason', 'Audit of 2026']],
  'legal-hold remove': [['P-A-2']],
  'legal-hold list': [[]],
  'fhir keygen': 'makes a key',
  database: 'is about the key of the database',
  backup: [['{folder}/dropbox/backup.db']],
  restore: 'puts a backup in the place of the database',
  purge: [['--dry-run'], []],
  user: 'is about users of the page',
  'config show': [[]],
  'config schema': 'is the same everywhere',
  completion: 'is the same everywhere',
};

type Leaf = { name: string; has_json: boolean };

/** Every command that does something, from the program itself. */
async function leaves(): Promise<Leaf[]> {
  const nobody = { write: () => {} };
  const host = { stdout: nobody, stderr: nobody, environment: {}, cwd: '/nowhere' };
  const context = createContext(host, () => undefined);
  const found: Leaf[] = [];
  const walk = (command: Command, name: string) => {
    if (command.commands.length === 0)
      found.push({ name, has_json: command.options.some(({ long }) => long === '--json') });
    for (const below of command.commands) walk(below, `${name} ${below.name()}`);
  };
  for (const { name, load } of allCommands()) {
    const command = new Command(name);
    (await load()).register(command, context);
    walk(command, name);
  }
  return found;
}

const runsOf = (name: string) => RUNS[name] ?? RUNS[name.split(' ')[0] ?? ''];

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));
}

const HEADER = [
  'appointment_id',
  'appointment_at',
  'patient_id',
  'patient_name',
  'dob',
  'carrier',
  'payor_id',
  'member_id',
  'group_id',
  'subscriber_name',
  'subscriber_dob',
  'relationship',
  'procedure_codes',
  'rendering_npi',
  'note',
];

function visit(id: string, change: Record<string, string> = {}): string[] {
  const values: Record<string, string> = {
    appointment_id: id,
    appointment_at: `${VISIT_DAY} 10:00`,
    patient_id: `P-${id}`,
    patient_name: `Zqxname${id.replaceAll('-', '')} Zqxlast`,
    dob: '1943-07-29',
    carrier: 'Delta Dental of Illinois',
    payor_id: '05030',
    member_id: `QZMEMBER777${id.replaceAll('-', '')}`,
    group_id: 'QZGROUP55',
    subscriber_name: 'Zqxsubscriber Zqxlast',
    subscriber_dob: '1944-08-30',
    relationship: 'child',
    procedure_codes: 'D1110',
    rendering_npi: '1245319599',
    note: 'Zqxname Zqxlast 1943-07-29',
    ...change,
  };
  return HEADER.map((name) => values[name] ?? '');
}

const HL7_VISIT = anAppointment({
  source_id: 'H-1',
  starts_at: `${VISIT_DAY}T16:00:00.000Z`,
  patient: { id: 'P-H', first_name: 'Zqxname', last_name: 'Zqxlast', birth_date: '1943-07-29' },
  coverages: [
    {
      carrier: 'Delta Dental',
      payor_id: '05030',
      member_id: 'QZMEMBER779',
      group_id: 'QZGROUP55',
      subscriber: null,
    },
  ],
});

const FHIR_VISIT = {
  ...HL7_VISIT,
  source_id: 'F-1',
  patient: { ...HL7_VISIT.patient, id: 'P-F' },
};

/** A FHIR server with a mark in the texts that people write, and in each of its refusals. */
async function startMarkedEhr(marks: Marks): Promise<FhirPeer> {
  const peer = await startPeer();
  const text = () => ({ status: 'additional' as const, div: `<div>${marks.next()}</div>` });
  const marked = resourcesOf(FHIR_VISIT).map((resource) =>
    resource.resourceType === 'Appointment'
      ? { ...resource, text: text(), description: marks.next(), comment: marks.next() }
      : { ...resource, text: text() },
  );
  // Another one cannot be read, because its time is words.
  const [first] = marked.filter(({ resourceType }) => resourceType === 'Appointment');
  await peer.put(...marked);
  peer.alter = ({ path }, body) =>
    path.startsWith('/Appointment') && Array.isArray(body?.entry) && first !== undefined
      ? {
          ...body,
          entry: [...body.entry, { resource: { ...first, id: 'F-2', start: marks.next() } }],
        }
      : body;
  peer.fault = ({ method }) =>
    method === 'GET'
      ? null
      : { when: 'before', action: 'status', status: 422, words: marks.next() };
  return peer;
}

/** Requested without a session: every address in the sources of the servers. */
async function leakingPages(clinic: Clinic, servers: readonly string[]): Promise<string[]> {
  const sources = ['office', 'http'].flatMap((folder) =>
    filesIn(join(import.meta.dirname, '../../src', folder)),
  );
  const paths = new Set(
    sources.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/'(\/[a-z][a-z0-9/:._-]*|\/)'/g)].map(
        ([, route = '']) => route.replace(':date', VISIT_DAY).replaceAll(/:[a-z]+/g, '1'),
      ),
    ),
  );
  expect(paths.size).toBeGreaterThan(10);
  const daemon = await clinic.daemon({}, { idle_ms: 50 });
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  const found: string[] = [];
  for (const server of servers)
    for (const path of paths) {
      const reply = await fetched(new URL(path, server));
      const shown = `${[...reply.headers].join()} ${await reply.text()}`;
      found.push(...leaks(shown, SECRETS).map((secret) => `${server}${path}: ${secret}`));
    }
  stop.abort();
  await running;
  await daemon.close();
  return found;
}

/** The servers start to listen a moment after the daemon. */
async function fetched(url: URL): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await fetch(url, { redirect: 'manual' });
    } catch (error) {
      if (tries > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function scene() {
  const marks = new Marks();
  const answers = [RESULTS, marks.into(RESULTS, false), marks.into(RESULTS, true)];
  const service = await startMarkedService(answers, marks);
  onTestFinished(service.close);
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  receiver.answering = (message) => ack('AE', message, marks.next());
  const ehr = await startMarkedEhr(marks);
  const [office, monitoring] = [await freePort(), await freePort()];
  const connectors = [
    { id: 'front-desk', type: 'csv', folder: './dropbox', stable_seconds: 0 },
    {
      id: 'interface',
      type: 'hl7',
      folder: './hl7',
      send_to: `127.0.0.1:${receiver.port}`,
      stable_seconds: 0,
    },
    { id: 'ehr', type: 'fhir', base_url: ehr.url, auth: 'none', poll_minutes: 0 },
  ];
  const clinic = makeClinic({
    base_url: service.url,
    config: {
      connectors,
      office: { listen: `127.0.0.1:${office}` },
      monitoring: { listen: `127.0.0.1:${monitoring}` },
      service: {
        base_url: service.url,
        settle_seconds: 0,
        external_id: '{connector}:{appointment}',
        submission: { mode: 'single', max_per_minute: 0 },
      },
      policy: { look_ahead_days: 14, min_lead_hours: 0, late_visits: 'buy', attempts: 1 },
    },
  });
  const pages = [`http://127.0.0.1:${office}`, `http://127.0.0.1:${monitoring}`];
  return { marks, clinic, service, receiver, ehr, pages };
}

test('marked patient data is only in the database and the drop folders', {
  timeout: 120_000,
}, async () => {
  const { clinic, service, marks, receiver, ehr, pages } = await scene();
  const rows = [
    ...['A-1', 'A-2', 'A-3', 'A-4', 'A-5', 'A-refused'].map((id) => visit(id)),
    visit('A-bad', { dob: '1943-07-29 Zqxname', member_id: 'QZMEMBER778 \u0001!' }),
    visit('A-when', { appointment_at: 'Zqxname 07/29/1943' }),
    visit('A-payer', { carrier: 'Self-pay: Zqxlast, QZMEMBER777', payor_id: '' }),
    visit('ZQXLAST-19430729', { carrier: 'Zqxsubscriber family fund 1944-08-30' }),
    visit('', { patient_name: 'Zqxname Zqxlast' }),
  ];
  const text = csvText(HEADER, rows);
  clinic.drop('Zqxname Zqxlast 1943-07-29.csv', text);
  clinic.drop('Zqxlast broken.csv', 'Zqxname,"07/29/1943\nQZMEMBER777');
  clinic.drop('Zqxname.pdf', '%PDF Zqxname');
  const inbox = join(clinic.folder, 'hl7/inbox');
  mkdirSync(inbox, { recursive: true, mode: 0o700 });
  writeFileSync(join(inbox, 'Zqxname.hl7'), siu(HL7_VISIT), { mode: 0o600 });
  writeFileSync(join(inbox, 'Zqxlast.hl7'), 'MSH|Zqxname 07/29/1943', { mode: 0o600 });
  writeFileSync(join(clinic.folder, 'dropbox/preview.csv'), text, { mode: 0o600 });
  const said: string[] = [];
  /** Runs that show nothing, because the command is not used like that. */
  const misused: string[] = [];
  const scan = async (...args: string[]) => {
    const { code, stdout, stderr } = await clinic.run(...args);
    if (code === 2) misused.push(args.join(' '));
    said.push(...[stdout, stderr].map((printed) => `${args.join(' ')}\n${printed}`));
  };
  for (let rounds = 0; rounds < 3; rounds += 1) await scan('once', '--json');
  expect(service.calls.size).toBeGreaterThan(5);
  expect(receiver.messages.length).toBeGreaterThan(0);
  expect(ehr.requests.filter(({ method }) => method !== 'GET').length).toBeGreaterThan(0);
  // Checks the scan itself: there is much to find, and it would be found.
  const named = await clinic.run('list', '--attention', '--patients');
  expect(leaks(named.stdout, SECRETS).length).toBeGreaterThan(2);
  expect((await clinic.run('show', 'A-1', '--patients')).stdout).toContain(Marks.BEGIN);
  expect(marks.next()).toContain(Marks.BEGIN);

  writeFileSync(join(clinic.folder, 'eligd.log'), clinic.logged(), { mode: 0o600 });
  const unlisted: string[] = [];
  for (const { name, has_json } of await leaves()) {
    const runs = runsOf(name);
    if (runs === undefined) unlisted.push(name);
    if (runs === undefined || typeof runs === 'string') continue;
    for (const args of runs) {
      const own = args.map((arg) =>
        arg
          .replace('{folder}', clinic.folder)
          .replace('{export}', join(clinic.folder, 'dropbox/preview.csv')),
      );
      await scan(...name.split(' '), ...own);
      if (has_json) await scan(...name.split(' '), ...own, '--json');
    }
  }
  expect(unlisted).toEqual([]);
  expect(misused).toEqual([]);
  const found = said.flatMap((each) =>
    leaks(each.slice(each.indexOf('\n')), SECRETS).map(
      (secret) => `${each.split('\n')[0]}: ${secret}`,
    ),
  );
  expect([...new Set(found)]).toEqual([]);

  const outside = filesIn(clinic.folder).filter((path) => {
    const [top = ''] = relative(clinic.folder, path).split('/');
    return !['dropbox', 'hl7'].includes(top) && !/eligd\.db/.test(path);
  });
  expect(outside.length).toBeGreaterThan(1);
  const leaking = outside.filter(
    (path) =>
      leaks(path, SECRETS).length > 0 || leaks(readFileSync(path, 'latin1'), SECRETS).length > 0,
  );
  expect(leaking).toEqual([]);
  expect(COMMANDS.length).toBeGreaterThan(20);
  expect(await leakingPages(clinic, pages)).toEqual([]);
  expect(clinic.logged()).toContain('"daemon_started"');
  expect(leaks(clinic.logged(), SECRETS)).toEqual([]);
});
