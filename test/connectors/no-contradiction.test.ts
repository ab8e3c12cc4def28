/**
 * Whatever the payer answers, no output of eligd states a share, a copay, an amount, "covered", or
 * "used up" that the answer contradicts, about a procedure or a class. The test derives the truth
 * from the facts of the answer, not with the code under test.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchOf } from '../../connectors/conformance/examples.ts';
import type { Delivery } from '../../connectors/contract.ts';
import { resultCells } from '../../connectors/csv/outbox.ts';
import { scheduleCells } from '../../connectors/csv/schedule.ts';
import { eligibilityResponse } from '../../connectors/fhir/write/resources.ts';
import { hl7ConfigSchema } from '../../connectors/hl7/config.ts';
import { eligibilityOru } from '../../connectors/hl7/out/oru-r01.ts';
import type { Writing } from '../../connectors/hl7/out/outbound.ts';
import { eligibilityPin } from '../../connectors/hl7/out/pin-i07.ts';
import { answerLines } from '../../src/cli/answer-text.ts';
import { verdictText } from '../../src/cli/verdicts.ts';
import { deliveryDocument } from '../../src/records/delivery.ts';
import { dollarText, reasonsInOneLine } from '../../src/records/verdict/text.ts';
import { judge } from '../../src/records/verdict.ts';
import {
  CODES,
  type Code,
  type Facts,
  FEES,
  facts,
  isLimitUsedUp,
  isOpen,
  isPlanSurelyUnpaid,
  isSurelyUnpaid,
  isUsedUp,
  recordFor,
  VISIT,
} from './drawn-answers.ts';

const time_zone = 'America/Chicago';

/** `judged_as`: the answer that the verdict is about; another one is a planted fault. */
function deliveryOf(given: Facts, scheduled: readonly Code[], judged_as = given): Delivery {
  const [delivery] = batchOf(1, [1]).deliveries;
  if (delivery === undefined) throw new Error('There is no example.');
  const record = recordFor(given);
  const verdict = judge(recordFor(judged_as), {
    date: VISIT,
    birth_date: judged_as.is_child ? '2015-05-05' : '1970-05-05',
    procedure_codes: scheduled,
    fees: FEES,
  });
  const appointment = { ...delivery.appointment, procedure_codes: [...scheduled] };
  return { ...delivery, appointment, record, verdict, notes: [] };
}

const WRITING: Writing = {
  config: hl7ConfigSchema.parse({ listen: '127.0.0.1:1', write_back: 'none' }),
  time_zone,
  written_at: '2026-11-23T18:00:00.000Z',
};
const reference = (name: string) => ({ reference: name }) as never;
const ABOUT = {
  identifier: { system: 'urn:x', value: 'V' },
  patient: reference('Patient/1'),
  coverage: reference('Coverage/1'),
  insurer: reference('Organization/1'),
  subject: reference('Appointment/1'),
  batch_created_at: '2026-11-23T18:00:00.000Z',
  time_zone,
};

/** All output, in pieces that a reader reads at once. */
function pieces(delivery: Delivery): Record<string, string[]> {
  const { record, verdict } = delivery;
  const { procedures } = deliveryDocument({
    ...delivery,
    written_at: '',
    connector: 'x',
    starts_at: '',
  });
  const response = eligibilityResponse({ delivery, about: ABOUT }, null);
  const visit = { appointment: 'V', verdict };
  return {
    csv: resultCells(delivery, { written_at: WRITING.written_at, time_zone }).flatMap((cell) =>
      typeof cell === 'string' ? cell.split(' | ') : [],
    ),
    json: procedures.flatMap(
      ({ code, standing, plan_pays_percent, copay, patient_pays, reasons, remarks }) => [
        [
          `${code}: ${standing === 'not_payable' ? 'NOT payable' : standing}`,
          ...(plan_pays_percent === null ? [] : [`plan pays ${plan_pays_percent}%`]),
          ...(copay === null ? [] : [`copay $${copay}`]),
          ...(patient_pays === null ? [] : [`patient pays ${dollarText(patient_pays)}`]),
        ].join('; '),
        ...[...reasons.map(({ text }) => text), ...remarks].map((text) => `${code}: ${text}`),
      ],
    ),
    pin: eligibilityPin(WRITING, delivery).text.split('\r'),
    oru: eligibilityOru(WRITING, delivery).text.split('\r'),
    fhir: [
      ...(response.text?.div ?? '').split('<li>'),
      ...(response.insurance?.[0]?.item ?? []).map((item) =>
        JSON.stringify(item)
          .replaceAll(/"excluded":false/g, ': covered')
          .replaceAll(/"allowed\w+":/g, 'plan pays 1 '),
      ),
    ].filter((piece) => !piece.includes('"term"')),
    show: [...verdictText(visit, true), ...answerLines(record, [visit], time_zone)],
    list: [reasonsInOneLine(verdict)],
    schedule: scheduleCells(
      {
        ...{ source_id: 'V', starts_at: WRITING.written_at, patient_name: '', coverage_rank: 1 },
        ...{ carrier: '', member_id: '', answer: { record, verdict } },
      },
      { time_zone, as_of: '' },
    ).filter((cell) => typeof cell === 'string'),
  };
}

const STATES_PAYMENT =
  /plan pays \d|patient pays \d+(?:\.\d+)?%|copay \$?\d|(?:^|[>:;|"] ?)covered\b/i;
const STATES_SHARE = /plan pays \d|patient pays \d+(?:\.\d+)?%|copay \$?\d/i;
const SAYS_PAYABLE = /(?<!not[ _])\bpayable\b/i;
const SAYS_COVERED = /(?:^|[>:;|"] ?)covered\b/;
const SAYS_LIMIT_USED = /limit used up|both used|all used|, used on/;
/** "The maximum is used up, and whether D1110 counts toward it is unknown." leaves it open. */
const SAYS_MAXIMUM_USED = /maximum used up|maximum is used up(?!, and)/;
const CLASSES = { PREVENTIVE: 'D1110', CROWNS: 'D2740' } as const;

/** Without the payer's own words: in quotation marks, or in their own field. */
function ownWords(piece: string, { rules }: Facts): string {
  const said = Object.values(rules).flatMap((rule) => {
    const words = [rule.prior_auth_info, rule.downgraded_info, rule.more_info].filter(
      (each) => each !== undefined,
    );
    // A PIN^I07 has them in one field.
    return [words.join(' '), ...words, rule.frequency_limitations ?? '', rule.copay_amount ?? ''];
  });
  return said
    .filter((words) => words !== '')
    .toSorted((one, other) => other.length - one.length)
    .flatMap((words) => ['"', '&quot;', '\\"', '|'].map((mark) => ({ mark, words })))
    .reduce((rest, { mark, words }) => rest.replaceAll(`${mark}${words}`, mark), piece);
}

/** The claims of a piece about a code that the answer contradicts. */
function codeFaults(given: Facts, code: Code, text: string): string[] {
  const rule = given.rules[code] ?? {};
  const is_unpaid = isSurelyUnpaid(given, code);
  const is_open = isOpen(given, code) && !is_unpaid;
  const is_sure = !is_open && given.in_network !== false;
  const faults: [fault: string, is_false: boolean][] = [
    ['a payment', is_unpaid && STATES_PAYMENT.test(text)],
    ['covered', rule.is_covered !== true && SAYS_COVERED.test(text)],
    ['not payable', !is_unpaid && /NOT payable/.test(text)],
    ['a limit used up', !isLimitUsedUp(given, code) && SAYS_LIMIT_USED.test(text)],
    ['the maximum used up', !isUsedUp(given) && SAYS_MAXIMUM_USED.test(text)],
    // The payer did not say whether or how much it pays here, so it may pay nothing.
    ['a sure payment', !is_sure && STATES_SHARE.test(text.replace(/if it pays as usual: .*/, ''))],
    ['payable', is_open && SAYS_PAYABLE.test(text)],
  ];
  for (const [, percent] of text.matchAll(/plan pays (\d+(?:\.\d+)?)%/g)) {
    const shares = [rule.coverage_percentage, 100 - Number(rule.coinsurance_percentage)];
    faults.push([`a share of ${percent}`, !shares.includes(Number(percent))]);
  }
  for (const [, copay] of text.matchAll(/copay \$?(\d+\.\d\d)/g))
    faults.push([`a copay of ${copay}`, copay !== rule.copay_amount]);
  const fee = Number(FEES[code]);
  for (const [, low, high = low] of text.matchAll(
    /patient pays \$([\d,.]+\d)(?: to \$([\d,.]+\d))?/g,
  )) {
    const [from, to] = [low, high].map((text) => Number(text?.replaceAll(',', '')));
    const is_amount = from! <= to! && (is_open ? to === fee : to! <= fee);
    faults.push([`${low} to ${high}`, !is_amount || (is_unpaid && from !== fee)]);
  }
  return faults.filter(([, is_false]) => is_false).map(([fault]) => `${code}: ${fault}`);
}

/** One line may be about several codes; each part begins with its code. */
const perCode = (piece: string) => piece.split(/ (?=D\d{4}: )/);

/** Every false statement with its place; empty if all are true. */
function faultsOf(given: Facts, scheduled: readonly Code[], found: Record<string, string[]>) {
  const total = scheduled.reduce((sum, code) => sum + Number(FEES[code]), 0);
  const is_unpaid = scheduled.length > 0 && scheduled.every((code) => isSurelyUnpaid(given, code));
  return Object.entries(found).flatMap(([form, pieces]) =>
    pieces.flatMap(perCode).flatMap((piece) => {
      const text = ownWords(piece, given);
      const sum = /Patient pays: (.*)\.(?:<|$)/.exec(text)?.[1];
      const faults = [
        ...CODES.filter((code) => text.includes(code)).flatMap((code) =>
          codeFaults(given, code, text),
        ),
        ...Object.entries(CLASSES).flatMap(([name, code]) => {
          const { is_covered } = given.rules[code] ?? {};
          if (!text.includes(name) || text.includes(code)) return [];
          const is_never = isPlanSurelyUnpaid(given) || is_covered === false;
          return [
            ...(is_never && STATES_PAYMENT.test(text) ? [`${name}: a payment`] : []),
            ...(is_covered !== true && SAYS_COVERED.test(text) ? [`${name}: covered`] : []),
          ];
        }),
        ...(given.is_active !== false && /NOT ACTIVE/.test(text) ? ['inactive'] : []),
        ...(isPlanSurelyUnpaid(given) && /plan pays \d/i.test(text) ? ['a share'] : []),
        ...(is_unpaid && sum !== undefined && sum.replaceAll(',', '') !== `$${total.toFixed(2)}`
          ? [sum]
          : []),
      ];
      return faults.map((fault) => `${form}: ${fault}: ${piece}`);
    }),
  );
}

const PLAIN: Facts = {
  specialty: 'dental',
  is_active: true,
  termination_date: undefined,
  effective_date: undefined,
  in_network: true,
  out_of_network_benefits: undefined,
  maximum: '1500',
  remaining: '500.00',
  waiting_periods: undefined,
  out_of_pocket_used: undefined,
  is_child: false,
  cleanings: 0,
  rules: Object.fromEntries(
    CODES.map((code) => [
      code,
      {
        ...{ is_covered: true, coverage_percentage: 80, is_prior_auth_required: false },
        frequency_limitations: '2 per calendar year',
      },
    ]),
  ),
};

describe('whatever the payer answers', () => {
  test('no output states something that the answer contradicts', () => {
    fc.assert(
      fc.property(facts, fc.subarray([...CODES]), (given, scheduled) => {
        expect(faultsOf(given, scheduled, pieces(deliveryOf(given, scheduled)))).toEqual([]);
      }),
      { seed: 19, numRuns: 200 },
    );
  });

  test('every output for people states the plan’s share', () => {
    const found = pieces(deliveryOf(PLAIN, ['D2740']));
    for (const form of ['csv', 'json', 'pin', 'oru', 'fhir', 'show'])
      expect(
        found[form]?.some((piece) => /D2740.*plan pays 80%/.test(piece)),
        form,
      ).toBe(true);
    expect(faultsOf(PLAIN, ['D2740'], found)).toEqual([]);
  });

  test('every output for people has the words about authorization and downgrade', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const { rules, is_active } = given;
        const { prior_auth_info, downgraded_info, is_covered } = rules.D2740 ?? {};
        fc.pre(is_active === true && is_covered !== undefined && !isPlanSurelyUnpaid(given));
        const found = pieces(deliveryOf(given, ['D2740']));
        for (const form of ['csv', 'json', 'pin', 'oru', 'fhir', 'show'])
          for (const words of [prior_auth_info, downgraded_info])
            expect([form, found[form]?.join(' ')]).toEqual([
              ...[form, expect.stringContaining(words ?? '')],
            ]);
      }),
      { seed: 19, numRuns: 50 },
    );
  });

  /** The answer is the first; the verdict is about the second, as a bug would cause. */
  const PLANTED: [fault: string, given: Partial<Facts>, judged_as: Partial<Facts>][] = [
    ['an inactive plan is paid', { is_active: false }, {}],
    ['an active plan is not', {}, { is_active: false }],
    ['a limit is used up', {}, { cleanings: 2 }],
    ['a used-up limit is not', { cleanings: 2 }, {}],
    ['the maximum is used up', {}, { remaining: '0' }],
    ['a used-up maximum is not', { remaining: '0' }, {}],
    ['out of network is paid', { in_network: false, out_of_network_benefits: 'None' }, {}],
  ];
  test.each(PLANTED)('a planted fault is found in every output: %s', (_, given, judged_as) => {
    const answer = { ...PLAIN, ...given };
    const delivery = deliveryOf(answer, ['D1110', 'D2740'], { ...PLAIN, ...judged_as });
    const found = pieces(delivery);
    const forms = Object.keys(found).filter(
      (form) => faultsOf(answer, ['D1110', 'D2740'], { [form]: found[form] ?? [] }).length > 0,
    );
    // One line of a list says why a plan does not pay, not what it pays.
    const says_shares = judged_as.is_active === undefined && Object.keys(judged_as).length === 0;
    const silent = says_shares ? ['list', 'schedule'] : [];
    expect(forms).toEqual(Object.keys(found).filter((form) => !silent.includes(form)));
  });
});
