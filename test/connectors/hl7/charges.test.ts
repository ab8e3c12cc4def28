import { describe, expect, test } from 'vitest';
import { claim, claimBatchOf } from '../../../connectors/conformance/examples.ts';
import { makeSuiteEnv } from '../../../connectors/conformance/harness.ts';
import { type Hl7Config, hl7ConfigSchema } from '../../../connectors/hl7/config.ts';
import { messageReader } from '../../../connectors/hl7/in/reading.ts';
import { claimMessageFor } from '../../../connectors/hl7/out/write-back.ts';
import { parseMessage } from '../../../connectors/hl7/v2/message.ts';
import { dft, payment, whole } from './messages.ts';

const config = (over: object = {}) => hl7ConfigSchema.parse({ folder: './hl7', ...over });
const writing = (written_with: Hl7Config) => ({
  config: written_with,
  time_zone: makeSuiteEnv().env.time_zone,
  written_at: '2026-11-23T18:00:00.000Z',
});

function read(text: string, over: object = {}) {
  const message = parseMessage(text);
  if (message === null) throw new Error('The message was not understood.');
  return whole(messageReader({ ...config(over), time_zone: 'America/Chicago' })(message));
}

function claimsOf(text: string, over: object = {}) {
  const reading = read(text, over);
  return reading.kind === 'content' ? reading.content.claims : [];
}

describe('a DFT', () => {
  test.each(['P03', 'P11'])('a DFT %s becomes a claim with its charges together', (event) => {
    const given = {
      ...claim(1),
      diagnosis_codes: ['J02.0'],
      procedure_codes: ['99213', '87880'],
    };
    expect(claimsOf(dft(given, { event }))).toEqual([
      {
        source_id: 'C-1',
        status: 'open',
        claim_number: 'PAYER-1',
        date_of_service: '2026-10-01',
        billed_amount: '180.00',
        patient: given.patient,
        coverage: given.coverage,
        coverage_rank: 1,
        provider: {
          rendering_npi: '1234567893',
          billing_npi: '',
          tax_id: '',
          is_specialist: null,
          in_network: null,
        },
        location: null,
        place_of_service: '',
        specialty: null,
        procedure_codes: ['99213', '87880'],
        diagnosis_codes: ['J02.0'],
        problems: [],
      },
    ]);
  });

  test('charges are summed exactly, and the sum is empty if one has no amount', () => {
    const text = dft(claim(1)).replace('|180.00|', '|180.10|').replace('|0||', '|0.20||');
    expect(claimsOf(text)[0]?.billed_amount).toBe('180.30');
    expect(claimsOf(dft(claim(1)).replace('|180.00|', '||'))[0]?.billed_amount).toBe('');
    expect(claimsOf(dft(claim(1)).replace('|180.00|', '|much|'))[0]).toMatchObject({
      billed_amount: '',
      problems: [{ field: 'FT1-11', value_class: 'not an amount' }],
    });
  });

  test('a DFT with only payments settles the claim', () => {
    expect(claimsOf(payment(claim(1)))).toMatchObject([
      { source_id: 'C-1', status: 'settled', procedure_codes: [] },
    ]);
  });

  test.each(['CO', 'DP'])('payments at the desk alone (%s) leave the claim unchanged', (kind) => {
    expect(claimsOf(payment(claim(1)).replace('|PY|', `|${kind}|`))).toEqual([]);
  });

  test('a DFT without IN1 uses the patient’s insurance', () => {
    expect(claimsOf(dft(claim(1), { with_insurance: false }))).toMatchObject([
      { insurance: 'of_patient', coverage: { carrier: '', member_id: '' } },
    ]);
  });

  test('a DFT without a claim ID is listed, and the sender is told', () => {
    const text = dft(claim(1))
      .replaceAll('C-1', '')
      .replaceAll(/FT1\|(\d)\|T\d/g, 'FT1|$1|');
    expect(read(text)).toMatchObject({
      kind: 'faulty',
      fault: { code: 101, at: 'PV1-19' },
      content: { claims: [], rejected: [{ field: 'PV1-19', value_class: 'empty' }] },
    });
    expect(claimsOf(text, { fields: { claim_id: 'PID-3.1' } })).toMatchObject([
      { source_id: 'P-1' },
    ]);
  });

  test('a DFT of another event, or without charges, is only acknowledged', () => {
    expect(read(dft(claim(1), { event: 'P05' })).kind).toBe('ignored');
    expect(read(dft({ ...claim(1), procedure_codes: [] })).kind).toBe('ignored');
  });
});

describe('what a payer said about a claim', () => {
  const [delivery] = claimBatchOf(1, [1], 2).deliveries;
  const write = (write_back: string) =>
    claimMessageFor(writing(config({ write_back })), delivery!).text.split('\r');

  test('a claim’s answer is a PIN^I07 that the receiver can read by its code', () => {
    const lines = write('pin_i07');
    expect(lines[0]).toMatch(/PIN\^I07/);
    expect(
      lines
        .filter((line) => /\^99ELIGD/.test(line))
        .map((line) => [line.split('|')[4]?.split('^')[0], line.split('|')[3]]),
    ).toEqual(
      expect.arrayContaining([
        ['CLAIM_ID', 'C-1'],
        ['CLAIM_STATUS', 'paid'],
        ['SAID_STATUS', 'PAID'],
        ['PAID_ON', 'unknown'],
        ['INQUIRY', 'inq-c-1'],
      ]),
    );
  });

  test('a claim’s answer is an ORU^R01 in which unknown has no value (G8)', () => {
    const lines = write('oru_r01');
    expect(lines[0]).toMatch(/ORU\^R01/);
    const obx = (name: string) =>
      lines.find((line) => line.startsWith('OBX') && line.includes(`|${name}^`))?.split('|');
    expect([obx('claim_status')?.[5], obx('claim_status')?.[11]]).toEqual(['paid', 'F']);
    expect([obx('paid_on')?.[5], obx('paid_on')?.[11]]).toEqual(['', 'X']);
  });

  test('a claim’s answer has a row for each procedure', () => {
    const code = {
      code: 'D1110',
      asked: true,
      answered: true,
      paid: { amount: '80.00', currency: 'USD' },
      patient_responsibility: null,
    };
    const rest = {
      applied_to_deductible: null,
      adjustment: null,
      denial_reason: 'Late.',
      appeal_info: null,
    };
    const record = {
      ...delivery!.record,
      claim: { ...delivery!.record.claim, codes: [{ ...code, ...rest }] },
    };
    const { text } = claimMessageFor(writing(config()), { ...delivery!, record });
    expect(text.split('\r').find((line) => line.startsWith('ZCM'))).toBe(
      'ZCM|1|C-1|c-1-2|D1110|Y|80.00|U|U|Late.',
    );
  });
});
