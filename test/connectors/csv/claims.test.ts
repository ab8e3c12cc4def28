import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimBatchOf } from '../../../connectors/conformance/examples.ts';
import { readCsv } from '../../support/csv-text.ts';
import { type DropFolder, dropFolder, openCsv } from './support.ts';

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

const HEADER =
  'claim_id,claim_number,date_of_service,billed_amount,procedure_codes,claim_status,coverage,' +
  'patient_id,patient_name,dob,carrier,payor_id,member_id,group_id,rendering_npi,' +
  'diagnosis_codes,specialty,place_of_service\n';
const ROW =
  '7001,ICN77,10/01/2026,"$1,180.50",99213;87880,Sent,secondary,P7,"Quill, ' +
  'Ada",02/14/1987,Aetna,60054,W123,G9,1245319599,J02.0,medical,11\n';

async function read(
  content: string,
  settings: Record<string, unknown> = {},
  name = 'claims-october.csv',
) {
  await folder.drop(name, content);
  const opened = openCsv(folder, settings);
  await opened.pull();
  return opened;
}

describe('a file claims-*.csv', () => {
  it('a file claims-*.csv becomes claims with every column', async () => {
    const { claims, appointments, batches } = await read(HEADER + ROW);
    expect(appointments).toEqual([]);
    expect(claims).toEqual([
      {
        source_id: '7001',
        status: 'open',
        claim_number: 'ICN77',
        date_of_service: '2026-10-01',
        billed_amount: '1180.50',
        patient: { id: 'P7', first_name: 'Ada', last_name: 'Quill', birth_date: '1987-02-14' },
        coverage: {
          carrier: 'Aetna',
          payor_id: '60054',
          member_id: 'W123',
          group_id: 'G9',
          subscriber: null,
        },
        coverage_rank: 2,
        provider: {
          rendering_npi: '1245319599',
          billing_npi: '',
          tax_id: '',
          is_specialist: null,
          in_network: null,
        },
        location: null,
        specialty: 'medical',
        procedure_codes: ['99213', '87880'],
        diagnosis_codes: ['J02.0'],
        place_of_service: '11',
        problems: [],
      },
    ]);
    expect(batches.map(({ source }) => source.completeness)).toEqual(['changes']);
    expect(await folder.names('processed')).toEqual(['claims-october.csv']);
  });

  it('a file has every open claim if it is configured so', async () => {
    const { batches } = await read(HEADER + ROW, { claims_export: 'full' });
    expect(batches.at(-1)?.source.completeness).toBe('full');
  });

  it('headers of practice management systems are understood', async () => {
    const { claims } = await read(
      'ClaimNum,DOS,Claim Fee,Claim Status,ADA Codes,Claim ' +
        'Type,Patient,Birthdate,SubscriberID\n5,2026-09-30,90,Received,D1110,P,Ada ' +
        'Quill,1987-02-14,W1\n',
    );
    expect(claims).toMatchObject([
      {
        source_id: '5',
        date_of_service: '2026-09-30',
        billed_amount: '90.00',
        status: 'settled',
        coverage_rank: 1,
        procedure_codes: ['D1110'],
      },
    ]);
  });

  it.each([
    ['paid', 'settled'],
    ['Written-Off', 'settled'],
    ['denied', 'open'],
    ['', 'open'],
    ['Zapped', 'open'],
  ])('the status %s reads as %s', async (word, status) => {
    const { claims } = await read(`claim_id,date_of_service,claim_status\n1,2026-10-01,${word}\n`);
    expect(claims[0]?.status).toBe(status);
    expect(claims[0]?.problems.map(({ field }) => field)).toEqual(
      word === 'Zapped' ? ['claim_status'] : [],
    );
  });

  it('configured words for a status come first', async () => {
    const { claims } = await read('claim_id,date_of_service,claim_status\n1,2026-10-01,Paid\n', {
      claim_statuses: { paid: 'open' },
    });
    expect(claims[0]?.status).toBe('open');
  });

  it('a bad row is rejected alone (G7), and a bad value is left out', async () => {
    const { claims, rejected } = await read(
      'claim_id,date_of_service,billed_amount,coverage\n1,2026-10-01,10,1\n,2026-10-01,10,1\n' +
        '3,2026-02-30,much,5th\n',
    );
    expect(
      claims.map(({ source_id, date_of_service, billed_amount, coverage_rank }) => [
        source_id,
        date_of_service,
        billed_amount,
        coverage_rank,
      ]),
    ).toEqual([
      ['1', '2026-10-01', '10.00', 1],
      ['3', null, '', 1],
    ]);
    expect(rejected.map(({ position, field }) => [position, field])).toEqual([
      ['row 3', 'claim_id'],
    ]);
    expect(claims[1]?.problems.map(({ field, value_class }) => [field, value_class])).toEqual([
      ['date_of_service', 'impossible date'],
      ['billed_amount', 'not an amount'],
      ['coverage', 'unknown word'],
    ]);
  });

  it('rows for each procedure are one claim, under its first day', async () => {
    const { claims } = await read(
      [
        'claim_id,date_of_service,procedure_codes,billed_amount,claim_status,patient_id',
        '1,2026-10-02,D1110,90.00,sent,P1',
        '1,2026-10-01,D0120,60.50,paid,P1',
        '2,2026-10-01,D2740,900,sent,P2',
        '3,2026-10-01,D2391,150,paid,P3',
        '3,2026-10-01,D2392,150,paid,P3',
        '3,2026-10-01,D9999,150,paid,P4',
        '',
      ].join('\n'),
    );
    const told = claims.map(
      ({ source_id, date_of_service, procedure_codes, billed_amount, status }) => [
        source_id,
        date_of_service,
        procedure_codes.join(' '),
        billed_amount,
        status,
      ],
    );
    expect(told).toEqual([
      ['1', '2026-10-01', 'D1110 D0120', '150.50', 'open'],
      ['2', '2026-10-01', 'D2740', '900.00', 'open'],
      // Equal amounts may be for the whole claim.
      ['3', '2026-10-01', 'D2391 D2392', '', 'settled'],
      // Another patient's row does not belong to it.
      ['3', '2026-10-01', 'D9999', '150.00', 'settled'],
    ]);
  });

  it('rows of a claim stay together wherever a batch ends', async () => {
    const rows = Array.from(
      { length: 1200 },
      (_, index) => `${Math.floor(index / 7)},2026-10-01,D${1000 + (index % 7)}`,
    );
    const { claims } = await read(`claim_id,date_of_service,procedure_codes\n${rows.join('\n')}\n`);
    expect(claims.map(({ source_id }) => source_id)).toEqual(
      Array.from({ length: 172 }, (_, index) => String(index)),
    );
    expect(
      new Set(claims.slice(0, -1).map(({ procedure_codes }) => procedure_codes.length)),
    ).toEqual(new Set([7]));
  });

  it.each([
    ['claim_number,date_of_service\nX,2026-10-01\n', 'claim_id'],
    ['claim_id,claim_number\n1,X\n', 'date_of_service'],
  ])('a file without a required column is rejected whole', async (content, field) => {
    const { rejected } = await read(content);
    expect(rejected).toMatchObject([{ position: 'file', field, value_class: 'no such column' }]);
    expect(await folder.names('rejected')).toEqual([
      'claims-october.csv',
      'claims-october.csv.reasons.csv',
    ]);
  });
});

describe('outbox/claims-<batch>.csv', () => {
  it('outbox/claims-<batch>.csv has a line per answer, with the payer’s words', async () => {
    const { connector } = openCsv(folder);
    await connector.deliverClaims!(claimBatchOf(1, [1, 2]), new AbortController().signal);
    const text = await folder.read('outbox', 'claims-claims-batch-1.csv');
    // Columns for people come first; only programs need a hash.
    expect(
      text
        .replace(/^\ufeff/, '')
        .split(',')
        .slice(0, 3),
    ).toEqual([...['date_of_service', 'patient_name', 'claim_status']]);
    const lines = readCsv(text);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      claim_id: 'C-1',
      claim_number: 'PAYER-1',
      date_of_service: '2026-10-01',
      billed_amount: '180.00',
      claim_status: 'pending',
      said_status: 'PENDING',
      payer_claim_number: 'unknown',
      received_on: '2026-10-05',
      paid_on: 'unknown',
      turnaround: '',
      inquiry_id: 'inq-c-1',
      json_file: 'records/c-1-1.json',
    });
    expect(JSON.parse(await folder.read('outbox', 'records/c-1-1.json'))).toEqual(
      claimBatchOf(1, [1]).deliveries[0]?.record,
    );
  });
});
