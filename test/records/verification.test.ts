import { describe, expect, it } from 'vitest';
import { eligibilityRecordSchema } from '../../src/records/eligibility.ts';
import { normalizeEligibility } from '../../src/records/normalize.ts';
import { summarizeEligibility } from '../../src/records/summary.ts';
import { inputOf } from './answers.ts';

const item = (name: string, status: unknown, more: object = {}) => ({
  name,
  description: 'd',
  status,
  evidence: 'e',
  reasoning: 'r',
  ...more,
});

const call = (...items: unknown[]) => ({
  id: 'v-1',
  inquiry_id: 'i-1',
  call_log_id: 'call-1',
  verification_items: items,
  creation_ts: '2026-11-20T16:00:00Z',
});

function recordWith(verifications: unknown) {
  const record = normalizeEligibility({ ...inputOf({}), verifications });
  eligibilityRecordSchema.parse(record);
  return record;
}

describe('the verification of a record', () => {
  it.each([[undefined], [null], [[]], ['']])(
    'without checks (%j), verification is null and confidence is empty',
    (nothing) => {
      const record = recordWith(nothing);
      expect(record.verification).toBeNull();
      expect(record).not.toHaveProperty('confidence');
      expect(record.unparsed).toEqual([]);
    },
  );

  it('verification keeps every field of a check, with its call', () => {
    const record = recordWith([
      call(item('payer_reached', 'MET', { validation: { is_validated: true } })),
    ]);
    expect(record.verification).toEqual({
      checks: [
        {
          name: 'payer_reached',
          description: 'd',
          status: 'MET',
          is_met: true,
          evidence: 'e',
          reasoning: 'r',
          validation: { is_validated: true },
          call_log_id: 'call-1',
          checked_at: '2026-11-20T16:00:00.000Z',
        },
      ],
    });
    expect(record.confidence).toBe('high');
  });

  it.each(['NOT_MET', 'UNCLEAR', 'not met', '', null, 7])(
    'the status %j lowers the confidence',
    (status) => {
      const record = recordWith([call(item('a', 'MET'), item('b', status))]);
      expect(record.confidence).toBe('low');
      expect(summarizeEligibility(record)).toMatchObject({ confidence: 'low' });
      expect(summarizeEligibility(record).notes.join(' ')).toContain('The call failed a check: b');
    },
  );

  it('the newest call with the check counts, which comes first', () => {
    const earlier = (...items: unknown[]) => ({ ...call(...items), call_log_id: 'call-0' });
    expect(recordWith([call(item('a', 'MET')), earlier(item('a', 'NOT_MET'))]).confidence).toBe(
      'high',
    );
    expect(recordWith([call(item('a', 'NOT_MET')), earlier(item('a', 'MET'))]).confidence).toBe(
      'low',
    );
    expect(recordWith([call(item('a', 'MET')), earlier(item('b', 'NOT_MET'))]).confidence).toBe(
      'low',
    );
  });

  it('checks with the same name or no name are not mixed up', () => {
    expect(recordWith([call(item('a', 'MET'), item('a', 'NOT_MET'))]).confidence).toBe('low');
    const unnamed = (status: string) => ({ ...item('', status), name: null });
    expect(recordWith([call(unnamed('MET'), unnamed('NOT_MET'))]).confidence).toBe('low');
  });

  it('unknown fields stay under unparsed, and the rest is read', () => {
    const record = recordWith([{ ...call(item('a', 'MET', { score: 3 })), model: 'm' }, 'odd']);
    expect(record.confidence).toBe('high');
    expect(record.unparsed.map(({ path, why }) => [path, why])).toEqual([
      ['verifications[0].model', 'unknown field'],
      ['verifications[0].verification_items[0].score', 'unknown field'],
      ['verifications[1]', 'not an object'],
    ]);
  });
});
