/** The conformance suite catches faults that the test adds to the template. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyOfTree } from '../support/tree.ts';

type Fault = { name: string; changes: [find: string, replacement: string][]; caught_by: string };

const FAULTS: Fault[] = [
  {
    name: 'acknowledges before the commit',
    changes: [['await accept(batch);', 'void accept(batch).catch(() => {});']],
    caught_by: 'keeps what was not accepted',
  },
  {
    name: 'names the same source by another key each time',
    changes: [['.update(content)', '.update(content).update(String(Math.random()))']],
    caught_by: 'keeps what was not accepted',
  },
  {
    name: 'ends the pull at a bad item',
    changes: [
      [
        'else rejected.push(rejectedItem(from + i + 1, read.error));',
        "else throw new Error('Bad.');",
      ],
    ],
    caught_by: 'does not let a bad item block its neighbors',
  },
  {
    name: 'logs a patient',
    changes: [
      [
        'deliver: async (batch, signal) => {',
        'deliver: async (batch, signal) => { env.log("template_read", { reason: ' +
          'batch.deliveries[0]?.appointment.patient.last_name ?? null });',
      ],
    ],
    caught_by: 'returns the outcome of every delivery',
  },
  {
    name: 'writes another file at each delivery',
    changes: [
      ["writeJson(join(folder, 'out', `", "writeJson(join(folder, 'out', Math.random() + `"],
    ],
    caught_by: 'leaves the PMS the same when a batch is delivered twice',
  },
  {
    name: 'quotes the value in a rejected item',
    changes: [
      [
        'else rejected.push(rejectedItem(from + i + 1, read.error));',
        'else rejected.push({ ...rejectedItem(from + i + 1, read.error), ' +
          'value_class: "not a time: " + (item as { start: string }).start });',
      ],
    ],
    caught_by: 'does not let a bad item block its neighbors',
  },
  {
    name: 'gives the words of the schema for the kind of value',
    changes: [["value_class: 'not as expected'", "value_class: error.issues[0]?.message ?? ''"]],
    caught_by: 'does not let a bad item block its neighbors',
  },
  {
    name: 'gives the words of the parser for a file that is no JSON',
    changes: [
      [
        '} catch {\n    return [null];',
        '} catch (error) {\n    return [(error as Error).message];',
      ],
      [
        'else rejected.push(rejectedItem(from + i + 1, read.error));',
        'else rejected.push({ ...rejectedItem(from + i + 1, read.error), ' +
          "remedy: typeof item === 'string' ? item : 'Correct it.' });",
      ],
    ],
    caught_by: 'rejects a source that cannot be read',
  },
  {
    name: 'says that a file of changes holds everything',
    changes: [["completeness: 'changes'", "completeness: 'full'"]],
    caught_by: 'says that a source is full only when it holds every appointment',
  },
  {
    name: 'marks each batch as the last',
    changes: [['const is_last = from + BATCH_SIZE >= items.length;', 'const is_last = true;']],
    caught_by: 'splits a large source into batches',
  },
  {
    name: 'goes on when it is stopped',
    changes: [['call.signal.throwIfAborted();', '']],
    caught_by: 'accepts nothing when it is stopped before it begins',
  },
  {
    name: 'passes over a misspelled key of its configuration',
    changes: [['z.strictObject(', 'z.object(']],
    caught_by: 'refuses a configuration key that it does not know',
  },
];

const tree = copyOfTree();
/** Names of the tests that failed, by the folder of the faulty connector. */
const failed = new Map<string, string[]>();

type Report = {
  testResults: { name: string; assertionResults: { title: string; status: string }[] }[];
};

beforeAll(async () => {
  for (const [number, { changes }] of FAULTS.entries()) plant(`fault-${number}`, changes);
  const report = join(tree.path, 'report.json');
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'test/connectors'];
  const { output } = await tree.run(process.execPath, [
    ...vitest,
    '--reporter=json',
    `--outputFile=${report}`,
  ]);
  expect(output).not.toContain('No test files found');
  const { testResults }: Report = JSON.parse(readFileSync(report, 'utf8'));
  for (const { name, assertionResults } of testResults) {
    const folder = /connectors\/([^/]+)\/suite\.test\.ts$/.exec(name)?.[1];
    // A template may have its own tests next to the suite.
    if (folder === undefined) continue;
    expect(assertionResults.length, name).toBeGreaterThan(20);
    failed.set(
      folder,
      assertionResults.filter(({ status }) => status === 'failed').map(({ title }) => title),
    );
  }
}, 120_000);

afterAll(() => tree.remove());

function plant(folder: string, changes: Fault['changes']): void {
  for (const parent of ['connectors', 'test/connectors'])
    cpSync(join(tree.path, parent, 'template'), join(tree.path, parent, folder), {
      recursive: true,
    });
  const file = join(tree.path, 'connectors', folder, 'index.ts');
  let source = readFileSync(file, 'utf8');
  for (const [find, replacement] of changes) {
    expect(source.split(find), find).toHaveLength(2);
    source = source.replace(find, () => replacement);
  }
  writeFileSync(file, source);
  const test_file = join(tree.path, 'test/connectors', folder, 'suite.test.ts');
  const text = readFileSync(test_file, 'utf8');
  writeFileSync(test_file, text.replace('connectors/template/', `connectors/${folder}/`));
}

describe('the conformance suite', () => {
  test('the conformance suite passes the template', () => {
    expect(failed.get('template')).toEqual([]);
  });

  test.each(FAULTS.map((fault, number) => ({ ...fault, number })))(
    'the conformance suite catches a connector that $name',
    ({ number, caught_by }) => {
      const titles = failed.get(`fault-${number}`) ?? [];
      expect(titles.filter((title) => title.startsWith(caught_by))).toHaveLength(1);
    },
  );
});
