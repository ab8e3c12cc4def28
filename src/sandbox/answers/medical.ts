import { compact, type Json, type JsonObject } from '../json.ts';
import { type AnswerContext, asks, isInNetwork } from './context.ts';
import { maximums } from './maximums.ts';
import { fullPlan } from './plan.ts';

/** The type of service of a code, as far as payers treat types differently. */
type Service = {
  name: string;
  /** Usual copays in cents; empty where coinsurance is usual. */
  copays: readonly number[];
  prior_auth: number;
  frequency: string;
};

const VISIT: Service = {
  name: 'office visit',
  copays: [2000, 2500, 3000, 4000],
  prior_auth: 0.02,
  frequency: 'No limit',
};
const THERAPY: Service = {
  name: 'therapy',
  copays: [2500, 3500, 5000],
  prior_auth: 0.3,
  frequency: '30 visits per year',
};
const PSYCHOTHERAPY: Service = {
  name: 'psychotherapy',
  copays: [2000, 3000, 4000],
  prior_auth: 0.1,
  frequency: '1 per day',
};
const IMAGING: Service = {
  name: 'imaging',
  copays: [],
  prior_auth: 0.6,
  frequency: '1 per 12 months unless medically necessary',
};
const LABORATORY: Service = {
  name: 'laboratory test',
  copays: [],
  prior_auth: 0.05,
  frequency: 'No limit',
};
const SURGERY: Service = { name: 'surgery', copays: [], prior_auth: 0.5, frequency: 'No limit' };
const SUPPLY: Service = {
  name: 'drug or supply',
  copays: [],
  prior_auth: 0.7,
  frequency: '1 per month',
};
const REHABILITATION: Service = {
  name: 'rehabilitation',
  copays: [3000, 4500],
  prior_auth: 0.4,
  frequency: '36 sessions per lifetime',
};

/**
 * Returns the medical or mental health part of the results record. Basic plan information is always
 * included.
 */
export function medicalResults(context: AnswerContext): { [field: string]: Json | undefined } {
  const by_script = (context.request.benefits_query ?? []).length === 0;
  const money = by_script || asks(context, 'DEDUCTIBLES_AND_MAXIMUMS', 'MAXIMUMS');
  const classes = procedureClasses(context);
  return {
    plan_information: fullPlan(context),
    maximums: money ? maximums(context) : undefined,
    procedure_classes: Object.keys(classes).length > 0 ? classes : undefined,
    procedure_codes: procedureCodes(context),
  };
}

function procedureClasses(context: AnswerContext): JsonObject {
  const everything: Wanted = { benefits: true, prior_auth: true, frequencies: true };
  const classes: [string, string, Service][] = [
    ['PULMONARY_REHAB_COVERAGE', 'PULMONARY_REHABILITATION', REHABILITATION],
    ['PSYCHOTHERAPY', 'PSYCHOTHERAPY', PSYCHOTHERAPY],
    ['OFFICE_VISIT_NEW_PATIENT', 'OFFICE_VISIT_NEW_PATIENT', VISIT],
  ];
  return Object.fromEntries(
    classes
      .filter(([question]) => asks(context, question))
      .map(([, name, service]) => [name, benefitsOf(context, name, service, everything)]),
  );
}

type Wanted = { benefits: boolean; prior_auth: boolean; frequencies: boolean };

/** Returns the pairs of code and benefits; undefined if no codes were asked. */
function procedureCodes(context: AnswerContext): Json[] | undefined {
  const wanted: Wanted = {
    benefits: asks(context, 'CODE_LOOKUP_BENEFITS'),
    prior_auth: asks(context, 'CODE_LOOKUP_PRIOR_AUTH'),
    frequencies: asks(context, 'CODE_LOOKUP_FREQUENCIES'),
  };
  if (!wanted.benefits && !wanted.prior_auth && !wanted.frequencies) return undefined;
  const codes = new Set((context.request.benefits_codes ?? []).map((code) => code.toUpperCase()));
  return [...codes].map((code) => {
    const service = serviceOf(code);
    return [
      { procedure_code: code, procedure_name: service.name },
      benefitsOf(context, code, service, wanted),
    ];
  });
}

function benefitsOf(
  context: AnswerContext,
  label: string,
  service: Service,
  wanted: Wanted,
): JsonObject {
  const { policy } = context;
  if (policy.chance(`uncovered ${label}`, context.course.uncovered)) {
    return { is_covered: false, more_info: 'Excluded by the plan.' };
  }
  const needs_auth = policy.chance(`prior auth ${label}`, service.prior_auth);
  return compact({
    is_covered: true,
    ...(wanted.benefits && costOf(context, label, service)),
    ...((wanted.prior_auth || wanted.benefits) && { is_prior_auth_required: needs_auth }),
    ...(wanted.prior_auth &&
      needs_auth && { prior_auth_info: 'By phone or on the provider portal, up to 14 days.' }),
    ...(wanted.frequencies && { frequency_limitations: service.frequency }),
    ...(context.specialty === 'mental_health' &&
      wanted.benefits && {
        limitations: policy.pick(`limitations ${label}`, [
          'None.',
          'In person or by video.',
          'A treatment plan after 20 visits.',
        ]),
      }),
  });
}

/**
 * For a service, the patient pays a copay or coinsurance, rarely both; out of network, coinsurance.
 */
function costOf(context: AnswerContext, label: string, service: Service): JsonObject {
  const { policy, formats } = context;
  if (service.copays.length > 0 && isInNetwork(context)) {
    return {
      is_deductible_waived: !policy.chance(`deductible before copay ${label}`, 0.15),
      copay_amount: formats.amount(policy.pick(`copay ${service.name}`, service.copays)),
      coinsurance_percentage: '0',
    };
  }
  const coinsurance =
    policy.pick('coinsurance', [10, 20, 20, 30]) + (isInNetwork(context) ? 0 : 20);
  return { is_deductible_waived: false, coinsurance_percentage: String(coinsurance) };
}

/** Returns the type of service by the number ranges of procedure codes. */
function serviceOf(code: string): Service {
  if (/^[A-Z]/.test(code)) return SUPPLY;
  const number = Number.parseInt(code, 10);
  if (number >= 99_000) return VISIT;
  if (number >= 97_000) return THERAPY;
  if (number >= 94_625 && number <= 94_626) return REHABILITATION;
  if (number >= 90_785 && number <= 90_899) return PSYCHOTHERAPY;
  if (number >= 90_000) return { ...VISIT, name: 'medical service' };
  if (number >= 80_000) return LABORATORY;
  if (number >= 70_000) return IMAGING;
  return SURGERY;
}
