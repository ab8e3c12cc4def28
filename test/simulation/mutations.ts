/**
 * Bugs that someone might introduce into eligd, as changes of its source text. `npm run simulate --
 * --mutations` runs worlds with each, and the oracle must catch every one. The simulation changes
 * the text while it loads a module, in its own process, so `src/` contains nothing about it. If the
 * code has changed and the text is missing, that is an error, not a missed mutation.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

type Change = { file: string; find: string; put: string };

export type Mutation = { what: string; changes: readonly Change[] };

const one = (what: string, file: string, find: string, put: string): Mutation => ({
  what,
  changes: [{ file, find, put }],
});

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  resend_without_lookup: one(
    'eligd takes an ambiguous reply as unsent and does not look it up.',
    'src/stages/submit/outcome.ts',
    "if (failure.class === 'ambiguous') {",
    "if (failure.class === 'ambiguous' && failure.accepted) {",
  ),
  needless_call_made: one(
    'A further call is made although its visit was canceled, or no longer has the codes.',
    'src/stages/plan/reuse.ts',
    'if (before === null || isAttemptLeft(before, context)) return latest;',
    'if (before !== undefined) return latest;',
  ),
  older_database_trusted: one(
    'The list is not compared after an older database was put in the place of this one.',
    'src/stages/submit/earlier-comparison.ts',
    '(await countedSends(store.db)) === sends.read()',
    '(await countedSends(store.db)) >= 0',
  ),
  snapshot_trusted: one(
    'The list is not compared after the machine was rolled back to a snapshot.',
    'src/stages/submit/earlier-comparison.ts',
    'differs_ms <= ELAPSED_DIFFERS_MS',
    'true',
  ),
  intent_after_send: {
    what: 'eligd commits the intent after it sends the request.',
    changes: [
      {
        file: 'src/stages/submit/send.ts',
        find: 'const moved = await moveInquiries(tx, ids, SENDING, now);',
        put: 'const moved = ids;',
      },
      {
        file: 'src/stages/submit/send.ts',
        find: 'await intendCalls(tx, intents.map(',
        put: '(async (..._given: unknown[]) => {})(tx, intents.map(',
      },
      {
        file: 'src/stages/submit/send-singly.ts',
        find: "import { GroupCommit } from '../../store/engine/group-commit.ts';",
        put:
          "import { moveInquiries } from '../../store/calls/inquiries.ts';\n" +
          "import { GroupCommit } from '../../store/engine/group-commit.ts';",
      },
      {
        file: 'src/stages/submit/send-singly.ts',
        find: 'const accepted = replies.flatMap(',
        put:
          'for (const { intent } of replies) await moveInquiries(context.tx, [intent.row.id], ' +
          "{ from: 'planned', to: 'sending', reason: '' }, context.now);\n  " +
          'const accepted = replies.flatMap(',
      },
      {
        file: 'src/stages/submit/send.ts',
        find: '    const context = { tx, deps, now };\n    await learnFromBulk(',
        put:
          '    await moveInquiries(tx, ids, ' +
          "{ from: 'planned', to: 'sending', reason: '' }, now);\n    " +
          'const context = { tx, deps, now };\n    ' +
          'await learnFromBulk(',
      },
    ],
  },
  intent_forgotten: {
    what: 'eligd takes a row that a dead process left in sending as unsent.',
    changes: [
      {
        file: 'src/stages/submit/index.ts',
        find: "import { makeUncertain } from './outcome.ts';",
        put: "import { backToPlanned } from './outcome.ts';",
      },
      {
        file: 'src/stages/submit/index.ts',
        find: 'makeUncertain({ tx, deps, now }, ids, why)',
        put: 'backToPlanned({ tx, deps, now }, ids, { ...why, due_at: now })',
      },
    ],
  },
  empty_lookup_believed: one(
    'A lookup that found nothing counts, whatever the list left out or did with the filter.',
    'src/stages/submit/lookup.ts',
    "if (is_filter_trusted) return { kind: 'absent' };",
    "return { kind: 'absent' };",
  ),
  one_lookup: one(
    'One lookup proves an absence.',
    'src/stages/submit/lookup.ts',
    'LOOKUPS_FOR_ABSENCE = 2',
    'LOOKUPS_FOR_ABSENCE = 1',
  ),
  no_settle_time: one(
    'eligd looks a lost reply up at once.',
    'src/stages/submit/outcome.ts',
    'const listed_by = (why.ended_by ?? now) + deps.settings.settle_ms;',
    'const listed_by = why.ended_by ?? now;',
  ),
  equality_for_match: one(
    'The returned request must equal the request as sent.',
    'src/stages/submit/seen.ts',
    "match_key: matchKeyOfEcho(inquiry.request) ?? '',",
    'match_key: JSON.stringify(inquiry.request),',
  ),
  accepted_sent_again: one(
    'A reply that says success without an id goes back to planned like any other.',
    'src/stages/submit/lookup.ts',
    '} else if (current.was_accepted === 1) {',
    '} else if (current.was_accepted === 2) {',
  ),
  bulk_ids_unread: one(
    'eligd uses the IDs of a batch reply without reading their inquiries.',
    'src/stages/collect/poll/reply.ts',
    'if (!isOwn(row, inquiry)) {',
    'if (false) {',
  ),
  acknowledged_before_commit: one(
    'A batch is acknowledged before its commit.',
    'src/stages/pull/index.ts',
    'accept: async (batch) =>\n      reportAccepted(\n        deps,\n        await store.write(' +
      '(tx) => acceptBatch(tx, connector_id, batch, env.clock.now())),\n      ),',
    'accept: async (batch) => {\n      void store.write((tx) => ' +
      'acceptBatch(tx, connector_id, batch, env.clock.now())).catch(() => {});\n    },',
  ),
  delivered_before_written: one(
    'A delivery is marked before it is written.',
    'src/stages/deliver/index.ts',
    '    outcomes = await write(deps, batch, signal);',
    '    await store.write((tx) => settleDeliveries(tx, batch.deliveries, ' +
      "{ to: 'delivered', reason: '', due_at: 0 }, env.clock.now()));\n    " +
      'outcomes = await write(deps, batch, signal);',
  ),
  limit_in_memory: one(
    'The slots of the rate limit are lost with the process.',
    'src/store/calls/rate-limit.ts',
    "await tx.updateTable('rate_slots').set({ ended_at: now }).returning('id').execute()",
    "(await tx.deleteFrom('rate_slots').execute()) && []",
  ),
  limit_by_wall_clock: one(
    "The rate limit trusts the machine's clock alone.",
    'src/domain/rate-limit.ts',
    'held: this.#heldNow(),',
    'held: [],',
  ),
  reconciliation_left_out: one(
    "The service's list is not compared before the first send.",
    'src/stages/submit/reconcile.ts',
    '  const { env, store, client, memory } = deps;\n  const last =',
    '  const { env, store, client, memory } = deps;\n  if (specialty) return true;\n  const last =',
  ),
  unclaimed_not_taken: one(
    'eligd does not check the service’s inquiries before a call.',
    'src/domain/attribution.ts',
    'fit: fits.toSorted((a, b) => rankOf(a) - rankOf(b))[0], doubtful',
    'fit: undefined, doubtful',
  ),
  late_find_ignored: one(
    'eligd does not report a duplicate call that is listed late.',
    'src/stages/submit/attribute.ts',
    'if (each.owner === null) await report(context, row, found);',
    '',
  ),
  delivery_named_by_row: one(
    'A delivery is named after rows of this database.',
    'src/store/answers/deliveries.ts',
    '        answer.revision,\n        answer.content_hash,\n',
    '        record,\n',
  ),
  stale_answer_delivered: one(
    'eligd writes an answer although its coverage has changed.',
    'src/stages/plan/keep.ts',
    '  await parkDeliveriesOf(tx, { appointment: appointment.id, inquiry: id }, reason, now);',
    '',
  ),
  changed_not_awaited: {
    what:
      'Deliveries do not wait until planning has seen what has changed, which takes it a ' +
      'while.',
    changes: [
      {
        file: 'src/store/answers/deliveries.ts',
        find: "    where('appointments.plan_due_at', 'is distinct from', CHANGED),",
        put: "    where('appointments.id', '>', 0),",
      },
      {
        file: 'src/daemon/steps.ts',
        find: 'onAccepted: () => wakers.plan.wake(),',
        put: 'onAccepted: () => void env.clock.sleep(1_200_000).then(() => wakers.plan.wake()),',
      },
    ],
  },
  poison_blocks: one(
    'A record that makes the connector fail delays its whole batch.',
    'src/stages/deliver/index.ts',
    'if (others.length > 0) await splitBatch(tx, batch, connector_id);',
    'if (others.length > 0) await postponeBatch(tx, batch.id, env.clock.now() + 60_000);',
  ),
  parked_unsaid: one(
    'A record that eligd gave up is on no list.',
    'src/stages/deliver/index.ts',
    '  await raiseAttention(\n    tx,\n    {',
    '  (async () => {})(\n    tx,\n    {',
  ),
  refused_unsaid: one(
    'An inquiry that the service refused is on no list.',
    'src/stages/submit/outcome.ts',
    '  await raiseForInquiry(\n    tx,',
    '  (async () => {})(\n    tx,',
  ),
  unknown_is_no: one(
    'A missing answer of the payer reads as no.',
    'src/records/benefits.ts',
    "is_covered: fields.read('is_covered', readFlag(COVERED_WORDS)),",
    "is_covered: fields.read('is_covered', readFlag(COVERED_WORDS)) ?? false,",
  ),
  patient_in_log: one(
    'A log line names the patient.',
    'src/stages/submit/attribute.ts',
    'deps.env.log(event, { inquiry: row.id, service_id });',
    'deps.env.log(event, { inquiry: row.id, service_id, reason: row.draft });',
  ),
  second_daemon_let_in: one(
    'A second daemon may work on the same database.',
    'src/store/engine/instance-lock.ts',
    "raw.pragma('locking_mode = EXCLUSIVE');",
    '',
  ),
  damage_overlooked: one(
    'A damaged database is opened.',
    'src/store/engine/database.ts',
    'if (!isSound(raw)) throw damaged(path);',
    '',
  ),
  strangers_ignored: one(
    'eligd does not notice a second installation on the account.',
    'src/stages/submit/attribute.ts',
    "if (verdict?.is === 'stranger' && !is_known) strangers += 1;",
    "if (verdict?.is === 'stranger') strangers += 0;",
  ),
  clock_trusted_for_lookups: {
    what:
      'Lookups are timed by a clock that was set meanwhile, and what is due by it is looked for ' +
      'often.',
    changes: [
      {
        file: 'src/stages/submit/notice-clock.ts',
        find:
          'if (is_restarted) await restartLookups(tx, now + settings.timeout_ms + ' +
          'settings.settle_ms);',
        put: '',
      },
      {
        file: 'src/stages/submit/index.ts',
        find: 'earlier(earlier(next_try, retry), await nextSubmissionDue(store.db, now)) };',
        put:
          '((at) => (at === null ? next_try : Math.min(at, now + 30_000)))(await ' +
          'nextSubmissionDue(store.db, now)) };',
      },
    ],
  },
  dedupe_for_minutes: one(
    'eligd remembers the hashes of events for ten minutes.',
    'src/store/answers/inbox.ts',
    'const rows = await ADD_MESSAGES(',
    "await tx.deleteFrom('inbox').where('received_at', '<', " +
      'Number(messages[0]?.received_at) - 600_000).execute();\n  ' +
      'const rows = await ADD_MESSAGES(',
  ),
  report_acknowledged_early: one(
    'eligd acknowledges an event before its commit.',
    'src/http/webhook.ts',
    'outcome = await options.inbox.accept({ message_hash, body, received_at: ' +
      'options.env.clock.now() });',
    "outcome = 'stored'; void options.inbox.accept({ message_hash, body, received_at: " +
      'options.env.clock.now() }).catch(() => {});',
  ),
  forged_report_believed: one(
    'eligd accepts an event whatever its signature.',
    'src/http/webhook.ts',
    'if (!verifySignature({ body, signature, secrets }))',
    'if (!verifySignature({ body, signature, secrets }) && secrets.length > 9)',
  ),
  report_ignored: one(
    'An event does not lead to a GET.',
    'src/stages/collect/inbox/index.ts',
    'drained.hastened.push(row.id);',
    '',
  ),
  half_report_believed: one(
    'eligd takes an event with a part of the answer as the answer.',
    'src/records/reported.ts',
    "completeness === 'complete'",
    "completeness !== 'none'",
  ),
  late_find_forgotten: one(
    'eligd forgets that a call was absent when its successor is lost, too.',
    'src/stages/submit/outcome.ts',
    "  await settleCalls(tx, ids, 'lost', why.was_accepted);",
    "  await tx.deleteFrom('calls').where('inquiry', 'in', ids).where('fate', '=', 'absent')" +
      ".execute();\n  await settleCalls(tx, ids, 'lost', why.was_accepted);",
  ),
  twins_mixed_up: one(
    "A twin's inquiry serves the other one after the database was lost.",
    'src/domain/attribution.ts',
    "(each.given_name === need.given_name || (each.given_name === '' && isLabelled(each))),",
    'true,',
  ),
  lead_by_wall_clock: one(
    'The lead time before a visit is counted in hours of the clock.',
    'src/domain/payer-hours.ts',
    'const least = beforePayerHours(starts_at, rules.min_lead_hours, hours);',
    'const least = starts_at - rules.min_lead_hours * HOUR_MS;',
  ),
  list_late: {
    what: 'A visit that is too near for a call is listed an hour before it.',
    changes: [
      {
        file: 'src/stages/plan/visit.ts',
        find: 'attention.push(...late.map((coverage) => coverage.late));',
        put:
          'if (appointment.starts_at - now <= 3_600_000) ' +
          'attention.push(...late.map((coverage) => coverage.late));',
      },
      {
        file: 'src/stages/plan/visit.ts',
        find: '...late.map(({ late_changes_at }) => late_changes_at),',
        put: '...late.map(() => appointment.starts_at - 3_600_000),',
      },
    ],
  },
  date_on_weekend: one(
    'The completion date may be a day on which no payer answers the phone.',
    'src/domain/business-days.ts',
    'return nextBusinessDay(date > today ? date : today, closed);',
    'return date > today ? date : today;',
  ),
  attention_expires_early: {
    what: 'An entry leaves the list with the first of the visits that it is about.',
    changes: [
      {
        file: 'src/store/bookkeeping/attention.ts',
        find: ".where('a.starts_at', '>=', before),",
        put: ".where('a.starts_at', '>=', before).where('a.id', '<', 0),",
      },
      // Otherwise, an entry moves on to the next visit before it could leave with the first one.
      {
        file: 'src/store/bookkeeping/attention.ts',
        find: 'and a.closed_reason is null\n          order by',
        put: 'and a.closed_reason is null and a.id < 0\n          order by',
      },
    ],
  },
  merged_needs_stay: one(
    'The needs of a merged record stay under its old ID.',
    'src/store/intake/patients.ts',
    'await mergeNeeds(tx, { connector, from_id, into_id: into.id }, now);',
    '',
  ),
  merged_id_forgotten: one(
    'A visit that comes late under a merged ID belongs to the old record.',
    'src/store/intake/aliases.ts',
    'if (id === undefined) return each;',
    'if (id !== null) return each;',
  ),
  merged_answer_written_again: {
    what: 'An answer gets another key when two records are merged.',
    changes: [
      {
        file: 'src/store/answers/deliveries.ts',
        find: 'const key = planned?.key ?? (await deliveryKey(tx, delivery));',
        put: 'void planned; const key = await deliveryKey(tx, delivery);',
      },
      {
        file: 'src/store/answers/deliveries.ts',
        find: ".select(['connector', 'kind', 'source_id'])",
        put: ".select(['connector', 'kind', 'source_id', 'patient_key'])",
      },
      {
        file: 'src/store/answers/deliveries.ts',
        find: '        visit.source_id,',
        put: '        visit.source_id, visit.patient_key,',
      },
    ],
  },
  claim_asked_at_once: one(
    'eligd asks about an undecided claim again as soon as it has the answer.',
    'src/stages/plan/claims.ts',
    'if (decided === null && again_at > now) return { ...rest, at: again_at };',
    '',
  ),
  claim_asked_after_decision: one(
    'eligd asks again about a claim that the payer has denied.',
    'src/stages/plan/claims.ts',
    'if (decided !== null && !is_changed) return',
    'if (decided !== null && !is_changed && latest.attempt > 1000) return',
  ),
  claim_calls_unlimited: one(
    'The number of calls about a claim has no limit.',
    'src/stages/plan/claims.ts',
    'if (latest.attempt >= policy.claims.max_calls)',
    'if (latest.attempt >= 1000)',
  ),
  claim_fault_unlisted: one(
    'A claim that gets no call, because a field is missing, is on no list.',
    'src/stages/plan/claims.ts',
    "const entries = decision.kind === 'raise' ? decision.attention : [];",
    'const entries: Attention[] = [];',
  ),
  claim_answer_unwritten: {
    what: 'The answer about a claim is not written.',
    changes: [
      {
        file: 'src/stages/collect/conclude/index.ts',
        find: 'await planDelivery(tx, { ...delivery, notes: all_notes, coordination }, now);',
        put:
          "if (kind !== 'claim') await planDelivery(" +
          'tx, { ...delivery, notes: all_notes }, now);',
      },
      {
        file: 'src/stages/plan/claims.ts',
        find: 'await deliverLatest(tx, latest, row, now);',
        put: 'void deliverLatest;',
      },
    ],
  },
  claim_settled_asked: one(
    'eligd asks about a claim that the practice has settled.',
    'src/domain/claim-planning.ts',
    "if (claim.status === 'settled' || is_missing) return",
    'if (is_missing) return',
  ),
  stop_waits_for_replies: one(
    'A stop waits for replies that do not arrive.',
    'src/daemon/index.ts',
    '        client.cut();',
    '',
  ),
};

const ROOT = resolve(import.meta.dirname, '../..');

/** Finds `find` regardless of formatting: white space and trailing commas do not count. */
function pattern(find: string): RegExp {
  const tokens = find.match(/\w+|[^\w\s]/g) ?? [];
  const escaped = tokens.map((token) => token.replace(/[^\w\s]/, '\\$&'));
  return new RegExp(
    escaped.map((token) => (/^\\[)\]}]$/.test(token) ? `,?\\s*${token}` : token)).join('\\s*'),
    'g',
  );
}

/**
 * Whether every text that a mutation changes occurs exactly once; otherwise the first that does
 * not.
 */
export function missingText(): string | null {
  for (const [name, { changes }] of Object.entries(MUTATIONS)) {
    for (const { file, find } of changes) {
      const count = readFileSync(resolve(ROOT, file), 'utf8').match(pattern(find))?.length ?? 0;
      if (count !== 1) return `${name}: in ${file} this is found ${count} times: ${find}`;
    }
  }
  return null;
}

/** Changes the modules that are loaded from now on. */
export function applyMutation(name: string): void {
  const mutation = MUTATIONS[name];
  if (mutation === undefined) throw new Error(`There is no mutation ${name}.`);
  const by_url = Map.groupBy(
    mutation.changes,
    ({ file }) => pathToFileURL(resolve(ROOT, file)).href,
  );
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      const changes = by_url.get(url);
      if (changes === undefined) return loaded;
      let text = String(loaded.source);
      for (const { find, put } of changes) {
        if (text.match(pattern(find))?.length !== 1)
          throw new Error(`The mutation ${name} does not fit ${url}.`);
        text = text.replace(pattern(find), () => put);
      }
      return { ...loaded, source: text };
    },
  });
}
