/**
 * A made-up year of a practice, drawn from a seed: its patients, their employers' plans, its
 * visits, and a payer's answers about a plan on a day. It contains no rule of eligd.
 */
import { Dice } from '../../src/sandbox/dice.ts';

export const YEAR = 2030;
const GROUPS = 40;
/** Insured visits of a chair on a business day. */
const VISITS_A_CHAIR = 2;
const BUSINESS_DAYS = 250;
const DAY_MS = 86_400_000;
const START_MS = Date.parse(`${YEAR}-01-07T15:00:00Z`);

export type Plan = {
  name: string;
  type: string;
  is_calendar: boolean;
  deductible: number;
  maximum: number;
  in_network: boolean;
  /** Random numbers for what it pays; another term of the plan has its own. */
  terms: Dice;
};

export type Patient = {
  id: string;
  birth_date: string;
  carrier: string;
  /** Empty: the practice has entered a name that no payer map knows. */
  payor_id: string;
  group_id: string;
  member_id: string;
  is_returning: boolean;
  group: Group;
  option: number;
};

type Group = { key: Dice; carrier: string; payor_id: string; id: string; options: number };

export type Visit = {
  id: string;
  patient: Patient;
  at: number;
  booked_at: number;
  codes: string[];
};

const CARRIERS = [
  ['Delta Dental of Illinois', '05030'],
  ['MetLife', '65978'],
  ['Cigna', '62308'],
  ['Aetna', '60054'],
  ['Guardian', '64246'],
  ['United Concordia', 'CX007'],
] as const;

const RECALL = ['D0120', 'D1110', 'D0274', 'D1206', 'D0330'];
const TREATMENT = ['D2391', 'D2392', 'D2740', 'D2950', 'D3330', 'D4341', 'D7140', 'D0140', 'D9110'];

/** The practice of a seed, the same on every machine. */
export function practice(seed: number, chairs: number): Visit[] {
  const dice = new Dice('practice', seed);
  const groups = Array.from({ length: GROUPS }, (_, index) => groupOf(dice.of('group', index)));
  const wanted = chairs * VISITS_A_CHAIR * BUSINESS_DAYS;
  const visits: Visit[] = [];
  for (let number = 0; visits.length < wanted; number += 1)
    visits.push(...visitsOf(patientOf(dice.of('patient', number), number, groups)));
  return visits.slice(0, wanted).toSorted((a, b) => a.booked_at - b.booked_at);
}

function groupOf(key: Dice): Group {
  const [carrier, payor_id] = key.pick('carrier', CARRIERS);
  const options = key.chance('two options', 0.3) ? 2 : 1;
  return { key, carrier, payor_id, id: `G${key.integer('number', 10_000, 99_999)}`, options };
}

function patientOf(dice: Dice, number: number, groups: readonly Group[]): Patient {
  // One in ten has a plan of their own, outside any group.
  const is_single = dice.chance('single', 0.1);
  const own = { ...groupOf(dice.of('own')), id: '', options: 1 };
  const among = Math.floor(groups.length * dice.fraction('group') ** 1.6);
  const group = is_single ? own : (groups[among] ?? own);
  const born = dice.chance('child', 0.15) ? [2014, 2026] : [1945, 2008];
  const is_unknown = dice.chance('unknown payer', 0.02);
  const month = String(dice.integer('month', 1, 12)).padStart(2, '0');
  return {
    id: `P${number}`,
    birth_date: `${dice.integer('born', born[0] ?? 0, born[1] ?? 0)}-${month}-15`,
    ...(is_unknown
      ? { carrier: 'Lakeside Benefit Office', payor_id: '' }
      : { carrier: group.carrier, payor_id: group.payor_id }),
    group_id: group.id,
    member_id: `W${100_000 + number}`,
    // A returning patient has two or three visits a year, a new one usually one.
    is_returning: dice.chance('returning', 0.49),
    group,
    option: dice.integer('option', 0, group.options - 1),
  };
}

function visitsOf(patient: Patient): Visit[] {
  const dice = new Dice('visits', patient.member_id);
  const first = dice.integer('first', 0, patient.is_returning ? 170 : 340);
  const days = [first];
  if (patient.is_returning) days.push(first + dice.integer('recall', 165, 185));
  if (dice.chance('treatment', patient.is_returning ? 0.2 : 0.15))
    days.push(first + dice.integer('after', 12, 45));
  return days
    .filter((day) => day < 345)
    .map((day, index) => {
      const at = weekday(START_MS + day * DAY_MS) + dice.integer(`hour ${index}`, 0, 8) * 3_600_000;
      // Six of a hundred visits are booked a day before or on the same day.
      const ahead = dice.chance(`late ${index}`, 0.06)
        ? dice.integer(`hours ${index}`, 2, 20) * 3_600_000
        : dice.integer(`ahead ${index}`, 10, 60) * DAY_MS;
      const codes = new Set(index === 2 || (index === 1 && !patient.is_returning) ? [] : ['D1110']);
      for (let each = dice.integer(`codes ${index}`, 1, 3); each > 0; each -= 1)
        codes.add(dice.pick(`code ${index} ${each}`, each === 1 ? RECALL : TREATMENT));
      return {
        id: `${patient.id}-${index}`,
        patient,
        at,
        booked_at: at - ahead,
        codes: [...codes],
      };
    });
}

/** The practice is closed on Saturdays and Sundays. */
function weekday(at: number): number {
  const day = new Date(at).getUTCDay();
  return at + (day === 6 ? 2 : day === 0 ? 1 : 0) * DAY_MS;
}

/** The patient's plan on a day (epoch milliseconds). */
export function planOn({ group, option, member_id }: Patient, at: number): Plan {
  const key = group.id === '' ? group.key.of(member_id) : group.key.of('option', option);
  const is_calendar = !key.chance('other year', 0.2);
  const date = new Date(at);
  const renewal = key.pick('renewal', [3, 6, 9]);
  const term = is_calendar
    ? date.getUTCFullYear()
    : date.getUTCFullYear() - (date.getUTCMonth() < renewal ? 1 : 0);
  // One employer in twelve changes the plan in the middle of its year.
  const is_new = key.chance('changes', 0.08) && date.getUTCMonth() >= 6;
  const terms = key.of('terms', term, is_new ? 'new' : 'old');
  return {
    name: `${key.pick('name', ['Choice', 'Premier', 'Select'])} ${option}${is_new ? ' Plus' : ''}`,
    type: key.pick('type', ['PPO', 'PPO', 'DHMO']),
    is_calendar,
    deductible: terms.pick('deductible', [0, 50, 50, 100]),
    maximum: terms.pick('maximum', [1000, 1500, 2000]),
    in_network: key.chance('in network', 0.75),
    terms,
  };
}

export type Term = { is_covered: boolean; coverage_percentage?: number; frequency?: string };

/** The plan's terms for a code. */
export function termOf({ terms }: Plan, code: string): Term {
  const dice = terms.of(code);
  if (dice.chance('uncovered', 0.06)) return { is_covered: false };
  const tier = code < 'D2000' ? [100, 100, 80] : code < 'D2700' ? [80, 80, 70] : [50, 50, 60];
  return {
    is_covered: true,
    coverage_percentage: dice.pick('share', tier),
    frequency: dice.pick('frequency', ['2 per calendar year', '1 per 12 months', 'No limit']),
  };
}

type Asked = { id: string; benefits_query: readonly string[]; benefits_codes: readonly string[] };

/** The payer's answer on the phone; sometimes a representative leaves something out. */
export function answerOf(patient: Patient, asked: Asked, at: number): Record<string, unknown> {
  const plan = planOn(patient, at);
  const call = new Dice('call', asked.id, patient.member_id);
  const says = (name: string) => !call.chance(`leaves out ${name}`, 0.02);
  const used = call.integer('used', 0, 20) * 50;
  return {
    call_details: [
      {
        representative_name: call.pick('name', ['Ana', 'Ben', 'Cem']),
        reference_number: `R${call.integer('reference', 10_000, 99_999)}`,
        call_end_time: new Date(at).toISOString(),
      },
    ],
    plan_information: {
      is_active: true,
      ...(says('name') ? { plan_name: plan.name } : {}),
      plan_type: plan.type,
      ...(says('year') ? { is_calendar_year_plan: plan.is_calendar } : {}),
      ...(says('network') ? { is_provider_in_network: plan.in_network } : {}),
    },
    maximums: {
      individual_deductible: String(plan.deductible),
      individual_deductible_used: '0',
      coverage_limit: String(plan.maximum),
      coverage_limit_remaining: String(Math.max(0, plan.maximum - used)),
    },
    ...(asked.benefits_query.includes('TREATMENT_HISTORY') ? { treatment_history: {} } : {}),
    ...(asked.benefits_codes.length === 0
      ? {}
      : {
          procedure_codes: asked.benefits_codes
            .filter((code) => says(code))
            .map((procedure_code) => {
              const { frequency, ...term } = termOf(plan, procedure_code);
              return [{ procedure_code }, { ...term, frequency_limitations: frequency }];
            }),
        }),
    ...(asked.benefits_query.includes('STANDARD')
      ? { extra_info: { waiting_periods: 'None.' } }
      : {}),
  };
}
