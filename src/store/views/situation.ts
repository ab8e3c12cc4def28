/** The situation of an appointment (`domain/situation.ts`) in SQL: its only definition. */
import { sql } from 'kysely';
import { INFORMATIONAL_REASONS, type SituationWord, STAGES } from '../../domain/situation.ts';

/**
 * `plan_wait` of an appointment with a waiting coverage, while other coverages may have inquiries.
 */
const COVERAGE_WAITS = ['other_inquiry_first', 'answer_age_unproven'];

/** The stage of `l` (a row of inquiry_appointments) with `i` (its inquiry), in SQL. */
export const stageOfLink = sql<number>`case i.state
  when 'planned' then ${sql.lit(STAGES.planned)}
  when 'rejected' then ${sql.lit(STAGES.blocked)}
  when 'undecidable' then ${sql.lit(STAGES.blocked)}
  when 'answered' then coalesce((
    select case d.state
      when 'delivered' then ${sql.lit(STAGES.delivered)}
      when 'parked' then ${sql.lit(STAGES.blocked)}
      else ${sql.lit(STAGES.answered)} end
    from deliveries d where d.appointment = l.appointment and d.inquiry = l.inquiry
    order by d.id desc limit 1
  ), ${sql.lit(STAGES.answered)})
  else ${sql.lit(STAGES.asking)} end`;

/**
 * True if `i` is the newest inquiry of its appointment and coverage (`l`) that is not withdrawn.
 */
export const isCurrentLink = sql<boolean>`i.state <> 'withdrawn' and not exists (
  select 1 from inquiry_appointments newer join inquiries n on n.id = newer.inquiry
  where newer.appointment = l.appointment and newer.coverage_rank = l.coverage_rank
    and n.state <> 'withdrawn'
    and case when n.need_base = i.need_base and n.benefit_year = i.benefit_year
      then n.attempt > i.attempt else newer.inquiry > l.inquiry end)`;

const informational = sql.join(INFORMATIONAL_REASONS.map((reason) => sql.lit(reason)));

/**
 * True if the appointment has an open attention item. An item about an inquiry counts for all
 * appointments that the inquiry serves now; any other item counts for its own appointment. CROSS
 * JOIN keeps SQLite from starting with every open item, because the query concerns one appointment.
 */
const needsAttention = sql<boolean>`(exists (
  select 1 from attention t
  where t.appointment = appointments.id and t.resolved_at is null
    and t.reason not in (${informational}) and t.subject not like 'inquiry:%')
  or exists (
    select 1 from inquiry_appointments l
    cross join inquiries i on i.id = l.inquiry
    cross join attention t on t.inquiry = l.inquiry
    where l.appointment = appointments.id and i.state <> 'withdrawn' and t.resolved_at is null
      and t.reason not in (${informational}) and t.subject like 'inquiry:%'))`;

const leastAdvanced = sql`
  select min(${stageOfLink}) from inquiry_appointments l join inquiries i on i.id = l.inquiry
  where l.appointment = appointments.id and ${isCurrentLink}`;

/** The situation of a row of `appointments`, in SQL. Closed ones need no other rows. */
export function situationAt(now: number) {
  return sql<SituationWord>`case
    when appointments.closed_reason is not null then 'closed'
    when ${needsAttention} then 'attention'
    when appointments.plan_wait in (${sql.join(COVERAGE_WAITS.map((wait) => sql.lit(wait)))})
      then 'waiting'
    else case coalesce((${leastAdvanced}), ${sql.lit(STAGES.none)})
      when ${sql.lit(STAGES.none)}
        then case when appointments.plan_due_at is null then 'attention' else 'waiting' end
      when ${sql.lit(STAGES.blocked)} then 'attention'
      when ${sql.lit(STAGES.planned)}
        then case when appointments.plan_due_at <= ${now} then 'waiting' else 'planned' end
      when ${sql.lit(STAGES.asking)} then 'asking'
      when ${sql.lit(STAGES.answered)} then 'answered'
      else 'delivered' end
    end`;
}
