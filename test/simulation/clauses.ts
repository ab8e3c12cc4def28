/**
 * Each clause of `src/domain/attribution.ts` as a change of its text. `test/domain/attribution`
 * shows that a case fails without the clause. If no case needs a clause, delete it.
 */
type Clause = { find: string; put: string };

const without = (find: string, put = ''): Clause => ({ find, put });

export const CLAUSES: Readonly<Record<string, Clause>> = {
  same_match_key: without('    asked.match_key === listed.match_key &&\n'),
  same_label: without('    asked.external_id === listed.external_id &&\n'),
  same_name: without('asked.given_name === listed.given_name)', 'true)'),
  name_left_out: without("(listed.given_name === '' || ", '('),
  name_not_kept: without("asked.given_name === '' || "),
  shown_before_is_another: without('call.id < each.id && '),
  shown_before_is_not_too_old: without('(isOwn(each) || isFresh(each, clock))', 'true'),
  shown_before_serves: without('(isOwn(each) || isFresh(each, clock))', 'isOwn(each)'),
  wrong_clock_however_old: without('(isOwn(each) || isFresh(each, clock))', 'isFresh(each, clock)'),
  shown_before_the_lost_request: without('inquiry === need.inquiry && !is_absent', '!is_absent'),
  shown_before_not_an_absent_one: without(
    'inquiry === need.inquiry && !is_absent',
    'inquiry === need.inquiry',
  ),
  own_is_shown_later: without('made !== undefined && made.id < each.id', 'made !== undefined'),
  explained_otherwise: without('reasonOf(each) === undefined && isAlike', 'isAlike'),
  until_it_can_arrive_no_more: without('created_at === null || created_at <= latest', 'true'),
  no_time_is_in_time: without(
    'created_at === null || created_at <= latest',
    'created_at !== null && created_at <= latest',
  ),
  not_before_it_was_sent: without(
    'created_at === null || created_at >= sent_at - CLOCKS_DIFFER_MS',
    'true',
  ),
  no_time_is_not_before: without(
    'created_at === null || created_at >= sent_at - CLOCKS_DIFFER_MS',
    'created_at !== null && created_at >= sent_at - CLOCKS_DIFFER_MS',
  ),
  one_id_for_a_call: without('unused.delete(own)', 'void own'),
  calls_in_their_order: without('      .toSorted((a, b) => a.id - b.id)\n'),
  calls_of_one_inquiry: without('call.inquiry === first?.inquiry && ', 'first !== undefined && '),
  sought_before_absent: without(
    "is_absent ? (stage_of.get(inquiry) === 'over' ? 2 : 1) : 0",
    "stage_of.get(inquiry) === 'over' ? 2 : 1",
  ),
  needed_before_not_needed: without("stage_of.get(inquiry) === 'over' ? 2 : 1", '1'),
  absent_calls_alike: without('alike.some((call) => call.is_absent)', 'likeliest.is_absent'),
  out_is_undecided: without("  if (stage === 'out') return { is: 'undecided' };\n"),
  served_has_duplicates: without("stage === 'served' || is_second", 'is_second'),
  one_serves: without("stage === 'served' || is_second", "stage === 'served'"),
  over_is_kept: without("if (stage !== 'over') return", 'return'),
  unneeded_only_if_absent: without('why?.is_absent === true', 'why !== undefined'),
  unneeded_is_kept_apart: without('why?.is_absent === true', 'why === undefined'),
  unneeded_may_serve: without("new Set(['unclaimed', 'unneeded'])", "new Set(['unclaimed'])"),
  wrong_clock: without('is_found || need.stage', 'true || need.stage'),
  wrong_clock_once: without('.slice(0, 1), ...', ', ...'),
  own_question_first: without('each.match_key === need.match_key && (is_made', '(is_made'),
  own_question_however_old: without(
    '(is_made || isFresh(each, clock));\n    return',
    'isFresh(each, clock);\n    return',
  ),
  own_question_not_too_old: without(
    ' && (is_made || isFresh(each, clock));\n    return',
    ';\n    return',
  ),
  own_call_first: without(' + (is_made ? 0 : 1)', ''),
  one_of_each_question_is_kept: without(
    "is_served ||= need.stage !== 'over';",
    'is_served = true;',
  ),
  kept_once: without('is_served || kept.has(match_key)', 'is_served'),
  wrong_clock_although_a_former_one_is_found: without(
    'own.some((each) => each.match_key === need.match_key)',
    'own.length > 0',
  ),
  former_one_is_a_duplicate: without(', ...by_rank]', ']'),
  claimed_stays: without('let is_served = isServed(need, verdicts);', 'let is_served = false;'),
  duplicate_is_no_call: without("each.owner?.role === 'duplicate'", 'each.owner !== null'),
  duplicate_of_this_need: without(
    '(each.owner.inquiry === inquiry && isFresh(each, clock))',
    'isFresh(each, clock)',
  ),
  duplicate_of_earlier: without('earlier.includes(each.owner.inquiry) ||', 'false ||'),
  duplicate_of_its_own: without('(each.owner.inquiry === inquiry && isFresh', '(false && isFresh'),
  own_duplicate_is_fresh: without('=== inquiry && isFresh(each, clock)', '=== inquiry'),
  duplicate_of_this_patient: without("      ['', given_name].includes(each.given_name) &&\n"),
  duplicate_not_cancelled: without("finalOutcome(each.status) !== 'cancelled'", 'true'),
  duplicate_serves_next: without('duplicateFor(need, by_age, clock) ?? '),
  only_unclaimed: without('KEPT.has(verdicts.get(each.service_id)?.is) && '),
  unclaimed_asks_the_same: without('({ match_key }) => match_key === need.match_key', '() => true'),
  unclaimed_names_the_patient: without(
    "each.given_name === need.given_name || (each.given_name === '' && isLabelled(each));",
    'true;',
  ),
  unclaimed_without_name: without(" || (each.given_name === '' && isLabelled(each))"),
  unclaimed_without_name_labelled: without(
    "(each.given_name === '' && isLabelled(each))",
    "each.given_name === ''",
  ),
  unclaimed_is_fresh: without('?.is) && isFresh(each, clock)', '?.is)'),
  unclaimed_of_no_time: without(
    'created_at === null || created_at > now',
    'created_at !== null && created_at > now',
  ),
  unnumbered_claim_has_its_label: without(' && (!need.is_unnumbered_claim || isLabelled(each))'),
  others_keep_their_label: without('!awaited.has(each) && (!need', '(!need'),
  planned_keeps_one: without("need.stage === 'planned' ? 1 : 0", '0'),
  only_planned_keeps_one: without("need.stage === 'planned' ? 1 : 0", '1'),
  each_keeps_another: without('!awaited.has(each) && isAlike(need', 'isAlike(need'),
  keeps_what_has_its_label: without(
    '!awaited.has(each) && isAlike(need, each)',
    '!awaited.has(each)',
  ),
  out_keeps_all: without('isOut(need) ? alike : alike.slice(0, count)', 'alike.slice(0, count)'),
  own_label_first: without('fits.find(isLabelled) ?? fits[0]', 'fits[0]'),
  doubtful_only_if_none_fits: without(
    '    else\n      for (const { service_id } of',
    '    for (const { service_id } of',
  ),
  doubtful_may_bring_an_answer: without(
    "(finalOutcome(each.status) ?? 'successful') === 'successful'",
    'true',
  ),
  doubtful_going_on: without(
    "(finalOutcome(each.status) ?? 'successful') === 'successful'",
    "finalOutcome(each.status) === 'successful'",
  ),
  doubtful_without_name: without("each.given_name === '' || need.given_name === ''", 'false'),
  doubtful_without_own_name: without(" || need.given_name === ''"),
  doubtful_names_nobody_else: without("each.given_name === '' || need.given_name === ''", 'true'),
  doubtful_if_unreadable: without(
    'mayBeEchoOf(need.match_key, each.match_key) && isLabelled(each)',
    'false',
  ),
  doubtful_if_partly_unreadable: without(
    'mayBeEchoOf(need.match_key, each.match_key) && isLabelled(each)',
    "each.match_key === '' && isLabelled(each)",
  ),
  doubtful_if_it_may_be_the_echo: without(
    'mayBeEchoOf(need.match_key, each.match_key) && isLabelled(each)',
    'isLabelled(each)',
  ),
  doubtful_if_labelled: without(
    'mayBeEchoOf(need.match_key, each.match_key) && isLabelled(each)',
    'mayBeEchoOf(need.match_key, each.match_key)',
  ),
  oldest_first: without('(a.created_at ?? 0) - (b.created_at ?? 0) || '),
  stranger_is_new: without('    is_new &&\n'),
  stranger_only_after_a_comparison: without('    compared_at !== null &&\n'),
  stranger_was_made_since: without(
    '(created_at === null || created_at > compared_at - CLOCKS_DIFFER_MS)',
    'true',
  ),
  stranger_of_no_time: without(
    '(created_at === null || created_at > compared_at - CLOCKS_DIFFER_MS)',
    '(created_at !== null && created_at > compared_at - CLOCKS_DIFFER_MS)',
  ),
  waiting_label_is_no_stranger: without('isOut(need) && isAlike(need, listed)', 'false'),
  waiting_label_out_or_sought: without("stage === 'out' || stage === 'sought'", "stage === 'out'"),
  waiting_label_sought_or_out: without(
    "stage === 'out' || stage === 'sought'",
    "stage === 'sought'",
  ),
  may_be_sought: without(
    'mayBeCallOf(call, listed) && isInTime(call.sent_at, listed, clock)',
    'false',
  ),
  may_be_sought_if_it_leaves_out: without('mayBeCallOf(call, listed) && isInTime', 'isInTime'),
  may_be_sought_in_time: without(' && isInTime(call.sent_at, listed, clock)'),
  whole_list_or_label: without('account.is_whole\n', 'true\n'),
  label_or_whole_list: without('account.is_whole\n', 'false\n'),
  label_with_time: without('created_at !== null && isUsedInstead', 'isUsedInstead'),
  label_without_open_calls: without(
    '!calls.some((call) => isLabelled(call) && mayBeEchoOf(call.match_key, listed.match_key)) &&',
    '',
  ),
  label_of_open_call: without('isLabelled(call) && mayBeEchoOf', 'mayBeEchoOf'),
  label_open_call_may_be_it: without(
    'isLabelled(call) && mayBeEchoOf(call.match_key, listed.match_key)',
    'isLabelled(call)',
  ),
  label_open_call_leaves_out: without(
    'mayBeEchoOf(call.match_key, listed.match_key)',
    'call.match_key === listed.match_key',
  ),
  label_planned: without("need.stage === 'planned' && isLabelled", 'isLabelled'),
  label_is_the_need: without("'planned' && isLabelled(need)", "'planned'"),
  label_asks_the_same: without(' && need.match_key === listed.match_key'),
  sought_label_tells: without(
    'listed.external_id === external_id\n      ? listed.match_key !== match_key',
    'false\n      ? listed.match_key !== match_key',
  ),
  sought_question_is_partial: without('? listed.match_key !== match_key', '? true'),
  sought_label_left_out: without("listed.external_id === '' &&\n", ''),
  sought_unreadable: without("(listed.match_key === '' || ['', given_name]", "(['', given_name]"),
  sought_names_the_patient: without(
    " || ['', given_name].includes(listed.given_name))",
    ' || true)',
  ),
  sought_name_left_out: without("['', given_name].includes(listed", '[given_name].includes(listed'),
  sought_may_be_the_echo: without('    mayBeEchoOf(match_key, listed.match_key) &&\n'),
  sought_since: without('(created_at === null || created_at >= since)', 'true'),
  sought_of_no_time: without(
    '(created_at === null || created_at >= since)',
    '(created_at !== null && created_at >= since)',
  ),
  sought_clocks_differ: without('NEGATIVE_INFINITY) - CLOCKS_DIFFER_MS', 'NEGATIVE_INFINITY)'),
};
