import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eligibilityJsonSchema, eligibilityRecordSchema } from '../../src/records/eligibility.ts';
import { recordOf } from './answers.ts';

const PUBLISHED = new URL('../../config/schemas/eligibility.schema.json', import.meta.url);

describe('the schema of the eligibility record', () => {
  it('config/schemas has the eligibility record’s schema as the program has it', () => {
    const published: unknown = JSON.parse(readFileSync(PUBLISHED, 'utf8'));
    expect(published, 'run "npm run schemas" and commit the file').toEqual(
      JSON.parse(JSON.stringify(eligibilityJsonSchema())),
    );
  });

  it('the schema refuses an unlisted field', () => {
    expect(eligibilityRecordSchema.safeParse({ ...recordOf(null), extra: 1 }).success).toBe(false);
    expect(
      eligibilityRecordSchema.safeParse({
        ...recordOf(null),
        plan: { answered: true, actve: true },
      }).success,
    ).toBe(false);
  });

  it.each(['1500', '1,500.00', '$1500.00', '-5.00', ''])(
    'the schema refuses the amount %j',
    (amount) => {
      const maximums = { answered: true, orthodontics_coverage_limit: { amount, currency: 'USD' } };
      expect(eligibilityRecordSchema.safeParse({ ...recordOf(null), maximums }).success).toBe(
        false,
      );
    },
  );
});
