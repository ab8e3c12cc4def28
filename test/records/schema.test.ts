import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eligibilityJsonSchema, eligibilityRecordSchema } from '../../src/records/eligibility.ts';
import { recordOf } from './answers.ts';

const PUBLISHED = new URL('../../config/schemas/eligibility.schema.json', import.meta.url);

describe('the schema of the eligibility record', () => {
  it('is published under config/schemas as it is in the program', () => {
    const published: unknown = JSON.parse(readFileSync(PUBLISHED, 'utf8'));
    expect(published, 'run "npm run schemas" and commit the file').toEqual(
      JSON.parse(JSON.stringify(eligibilityJsonSchema())),
    );
  });

  it('refuses a field that it does not list', () => {
    expect(eligibilityRecordSchema.safeParse({ ...recordOf(null), extra: 1 }).success).toBe(false);
    expect(
      eligibilityRecordSchema.safeParse({
        ...recordOf(null),
        plan: { answered: true, actve: true },
      }).success,
    ).toBe(false);
  });

  it.each(['1500', '1,500.00', '$1500.00', '-5.00', ''])('refuses the amount %j', (amount) => {
    const maximums = { answered: true, orthodontics_coverage_limit: { amount, currency: 'USD' } };
    expect(eligibilityRecordSchema.safeParse({ ...recordOf(null), maximums }).success).toBe(false);
  });
});
