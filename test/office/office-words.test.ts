/** Sentences of commands in the words of the page. */
import { expect, test } from 'vitest';
import { notAskedAbout, refuseAsking } from '../../src/domain/ask-again.ts';
import { CLOSED_WORDS, holdWords, waitWords } from '../../src/domain/explanation.ts';
import { KEPT_HOLD } from '../../src/domain/inquiry.ts';
import { holdInquiry, OPERATOR_HOLD, retryInquiry } from '../../src/domain/operator.ts';
import { INQUIRY_STATES } from '../../src/domain/states.ts';
import { moneyWords, officeWords } from '../../src/office/office-words.ts';

test('no sentence about a visit sends a user of the page to a terminal', () => {
  const rows = INQUIRY_STATES.map((state) => ({
    ...{ id: 7, state, service_status: 'UNSUCCESSFUL' },
    hold_reason: state === 'planned' ? OPERATOR_HOLD : null,
  }));
  const said = [
    ...rows.flatMap((row) => [
      retryInquiry(row).done?.what ?? '',
      holdInquiry(row).done?.what ?? '',
      refuseAsking(row)?.what ?? '',
    ]),
    notAskedAbout(['D2740'], '9001').next,
    holdWords(OPERATOR_HOLD),
    holdWords(KEPT_HOLD),
    waitWords('claim_too_young'),
    ...Object.values(CLOSED_WORDS),
    'Ask the calling service to correct its answer, then run "eligd retry" with the ID of the ' +
      'appointment. If the visit is close, call the insurance company yourself.',
    'Call Aetna yourself: "eligd list --attention --patients" shows the IDs. Ask: (1) …',
    'Fix the cause, then run "eligd release submission".',
  ];
  const naming = said.map(officeWords).filter((each) => /"eligd|\(eligd |policy\./.test(each));
  expect(naming).toEqual([]);
  expect(officeWords(notAskedAbout(['D2740'], '9001').next)).toBe(
    'Call the insurance company yourself, or order a call here.',
  );
});

test('a step that only IT can do names IT', () => {
  expect(officeWords('Run "eligd check". eligd tries again automatically.')).toBe(
    'Ask IT to run "eligd check". eligd tries again automatically.',
  );
  const asks_it = 'Ask IT to run "eligd payers": it shows the closest known names.';
  expect(officeWords(asks_it)).toBe(asks_it);
  const has_it = 'Have IT run "eligd doctor".';
  expect(officeWords(has_it)).toBe(has_it);
});

test('dollars have one form', () => {
  expect(moneyWords('The payer said $1,50 or $1,5000.')).toBe('The payer said $1,50 or $1,5000.');
  const said = 'It is $1200.00, $1,400 or $45.50; $0.00 of $12.00, and $10,000.00.';
  expect(moneyWords(said)).toBe('It is $1,200, $1,400 or $45.50; $0 of $12, and $10,000.');
});
