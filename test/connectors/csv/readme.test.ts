import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CANONICAL_COLUMNS } from '../../../connectors/csv/columns.ts';
import { csvConfigSchema } from '../../../connectors/csv/config.ts';
import {
  ATTENTION_COLUMNS,
  CLAIM_RESULT_COLUMNS,
  RESULT_COLUMNS,
} from '../../../connectors/csv/outbox.ts';

const page = await readFile(join(import.meta.dirname, '../../../docs/csv.md'), 'utf8');
/** Without the spaces that align tables. */
const readme = page.replaceAll(/ +/g, ' ');
const [incoming = '', outgoing = ''] = readme.split('## Out');

/** The names in the first cell of every line of a section's table. */
function tableNames(section: string): string[] {
  const cells = section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|')[1] ?? '');
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ''));
}

describe('the page about the drop folder', () => {
  it('docs/csv.md has every setting with its default, and no other', () => {
    expect(tableNames(incoming)).toEqual(Object.keys(csvConfigSchema.shape));
    for (const [key, value] of Object.entries(csvConfigSchema.parse({ folder: 'x' }))) {
      if (key === 'folder') continue;
      const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
      expect(incoming).toContain(`| \`${key}\` | \`${shown}\` |`);
    }
  });

  it('docs/csv.md has every result column in order, and the attention list’s', () => {
    expect(tableNames(outgoing)).toEqual([...RESULT_COLUMNS]);
    for (const column of [...ATTENTION_COLUMNS, ...CLAIM_RESULT_COLUMNS])
      expect(outgoing).toContain(`\`${column}\``);
  });

  it('docs/csv.md has every column that is read', () => {
    for (const column of CANONICAL_COLUMNS) expect(incoming).toContain(column.replace(/_2$/, ''));
  });

  it('every setting also describes itself', () => {
    const { properties = {} } = z.toJSONSchema(csvConfigSchema, { io: 'input' });
    for (const [key, value] of Object.entries(properties))
      expect(typeof value === 'object' && value.description, key).toBeTruthy();
  });
});
