/**
 * The inquiry service as a model: every behavior that a world drew, and the ledger of accepted
 * inquiries, which the oracle trusts. It knows about eligd only what arrives over the network.
 */
import { PayerClock } from './payer-clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, type Plan } from './plan.ts';
import { Random } from './random.ts';
import { Reports } from './reports.ts';
import type { Scheduler } from './scheduler.ts';
import { answerFor, type Stage, timelineOf } from './service-answers.ts';
import type { Story } from './story.ts';

export type ServiceRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  sent_at: number;
  /** When its client was done with it: the client had the reply, or gave up. */
  ended_at: number | null;
  /** Its client no longer exists. */
  is_stray: boolean;
  /**
   * Whether its client knows that its inquiry was accepted: it received the reply and had the time
   * to store it.
   */
  is_known: 'no' | 'perhaps' | 'surely';
  machine: string;
};

export type ServiceReply = {
  status: number;
  headers: Record<string, string>;
  body: string;
  about: string[];
};

export type Accepted = {
  id: string;
  specialty: string;
  request: Record<string, unknown>;
  external_id: string;
  accepted_at: number;
  /** The request that created it; says when its client was done with it. */
  carrier: ServiceRequest;
  visible_at: number;
  timeline: Stage[];
  machine: string;
  /** The service has forgotten it. */
  is_forgotten: boolean;
};

export class Service {
  readonly accepted = new Map<string, Accepted>();
  readonly network = {
    requests: 0,
    unsent: 0,
    lost_before: 0,
    lost_after: 0,
    late: 0,
    mutilated: 0,
  };
  readonly counts = { refused: 0, limited: 0, errors: 0, turned_away: 0, useless: 0, forgotten: 0 };
  /** Arrivals by machine within the last minute, for the rate limit (G5). */
  readonly #arrivals = new Map<string, number[]>();
  onTooMany: (machine: string, count: number) => void = () => {};
  /** The rate limit of the last minute is used up. */
  onFull: (machine: string) => void = () => {};
  onAccepted: (inquiry: Accepted) => void = () => {};
  readonly reports: Reports;
  is_calm = false;
  outage_until = 0;
  turned_away_until = 0;
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #story: Story;
  readonly #random: Random;
  readonly #tokens = new Map<string, number>();
  /** Null: payers that always answer. */
  readonly #payers: PayerClock | null;
  #last = 0;

  constructor(plan: Plan, scheduler: Scheduler, story: Story) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#story = story;
    this.#random = new Random(plan.seed, 'service');
    const { late_visits, payer_hours } = plan.config;
    this.#payers = late_visits === 'buy' ? null : new PayerClock(payer_hours);
    this.reports = new Reports(plan, scheduler, story, (one) => ({
      form: this.#readForm(one),
      stage: this.statusOf(one),
    }));
  }

  /**
   * Trouble at the worst time: the reply to a repeated call is lost, too, while the first call is
   * not listed yet.
   */
  losesAgain(about: readonly string[]): boolean {
    const calls = [...this.accepted.values()].filter(({ external_id }) =>
      about.includes(external_id),
    );
    const is_again =
      calls.length > 1 && calls.some(({ visible_at }) => visible_at > this.#scheduler.now);
    return (
      is_again &&
      calls.some(
        ({ id }) => about.includes(id) && new Random(this.#plan.seed, `again ${id}`).chance(0.5),
      )
    );
  }

  /**
   * Trouble at the worst time: a call whose reply has no ID is not listed for hours, where lists
   * may be late.
   */
  #isUselessAndLate(inquiry: Accepted): boolean {
    const { seed, service, config, withdraws_lost } = this.#plan;
    const random = new Random(seed, `useless ${inquiry.id}`);
    if (service.shown_after !== 'late' && !withdraws_lost) return false;
    if (!random.chance(withdraws_lost ? 0.3 : 0.1)) return false;
    inquiry.visible_at =
      this.#scheduler.now +
      2 * config.settle_ms +
      config.timeout_ms +
      random.int(HOUR_MS, 6 * HOUR_MS);
    return true;
  }

  revokeTokens(): void {
    this.#tokens.clear();
  }

  statusOf(inquiry: Accepted, at = this.#scheduler.now): Stage {
    return inquiry.timeline.findLast((stage) => stage.at <= at) ?? inquiry.timeline[0]!;
  }

  handle(request: ServiceRequest): ServiceReply {
    const { service } = this.#plan;
    const random = this.#random;
    this.#countArrival(request);
    const { pathname, searchParams } = new URL(request.path, 'http://service.example');
    if (!this.is_calm && random.chance(service.rate_429)) {
      this.counts.limited += 1;
      return reply(
        random.pick([429, 429, 503]),
        { detail: 'Slow down.' },
        this.#retryAfter(random.int(1, 90)),
      );
    }
    const fails = !this.is_calm && random.chance(service.error_5xx);
    const is_post = request.method === 'POST';
    if (fails && !(service.error_after_accept && is_post)) {
      this.counts.errors += 1;
      return reply(random.pick([500, 502, 503, 504]), { detail: 'Internal error.' });
    }
    const answered = this.#route(request, pathname, searchParams);
    if (fails && answered.status < 300) {
      this.counts.errors += 1;
      return {
        ...reply(random.pick([500, 502, 504, 408, 409]), { detail: 'Internal error.' }),
        about: answered.about,
      };
    }
    return answered;
  }

  #countArrival(request: ServiceRequest): void {
    const limit = this.#plan.config.max_per_minute;
    // No one can stop a request that its client has given up.
    if (limit === 0 || request.is_stray) return;
    const { now } = this.#scheduler;
    const recent = (this.#arrivals.get(request.machine) ?? []).filter((at) => at > now - MINUTE_MS);
    recent.push(now);
    this.#arrivals.set(request.machine, recent);
    if (recent.length > limit) this.onTooMany(request.machine, recent.length);
    else if (recent.length === limit) this.onFull(request.machine);
  }

  #retryAfter(seconds: number): Record<string, string> {
    const form = this.#plan.service.retry_after;
    if (form === 'none') return {};
    return {
      'retry-after':
        form === 'seconds'
          ? String(seconds)
          : new Date(this.#scheduler.now + seconds * 1000).toUTCString(),
    };
  }

  #route(request: ServiceRequest, pathname: string, query: URLSearchParams): ServiceReply {
    if (pathname === '/api/v0/auth/token') return this.#login();
    const refusal = this.#authorize(request.headers.authorization ?? '');
    if (refusal !== null) return refusal;
    if (pathname === '/api/v0/subscription/') {
      const { status, value } = this.reports.handle(request.method, request.body);
      return reply(status, value);
    }
    if (pathname === '/api/v0/verification') return this.#verify(query.get('inquiry_id') ?? '');
    const [, specialty, kind, id] =
      /^\/api\/v0\/(\w+)\/(inquiries|batch_inquiries)(?:\/(.+))?$/.exec(pathname) ?? [];
    if (specialty === undefined) return reply(404, { detail: 'Not Found' });
    if (request.method === 'GET') {
      return id === undefined
        ? this.#list(specialty, pathname, query)
        : this.#read(decodeURIComponent(id));
    }
    const { turned_away } = this.#plan.service;
    if (turned_away !== null && this.#scheduler.now < this.turned_away_until) {
      this.counts.turned_away += 1;
      return reply(turned_away, { detail: 'No.' });
    }
    return kind === 'inquiries'
      ? this.#create(request, specialty)
      : this.#createBulk(request, specialty);
  }

  #login(): ServiceReply {
    this.#last += 1;
    const token = `T${this.#last}`;
    this.#tokens.set(token, this.#scheduler.now);
    const lifetime = this.#plan.service.tells_lifetime ? { expires_in: DAY_MS / 1000 } : {};
    return reply(200, { access_token: token, token_type: 'bearer', ...lifetime });
  }

  #authorize(authorization: string): ServiceReply | null {
    if (this.#plan.config.auth === 'basic')
      return authorization.startsWith('Basic ') ? null : reply(401, { detail: 'Who?' });
    const given_at = this.#tokens.get(authorization.replace('Bearer ', ''));
    if (given_at !== undefined && given_at > this.#scheduler.now - DAY_MS) return null;
    return reply(401, { detail: 'Not authenticated' });
  }

  #faultsOf(item: Record<string, unknown>, loc: (string | number)[]): unknown[] {
    const { requires } = this.#plan.service;
    const missing =
      requires !== null && (item[requires] ?? '') === ''
        ? [{ loc: [...loc, requires], msg: 'field required', type: 'value_error.missing' }]
        : [];
    if (!String(item.member_id).startsWith('REFUSED')) return missing;
    return [
      ...missing,
      { loc: [...loc, 'member_id'], msg: 'not a member id', type: 'value_error' },
    ];
  }

  #accept(item: Record<string, unknown>, specialty: string, carrier: ServiceRequest): Accepted {
    const { service, config } = this.#plan;
    const random = this.#random;
    const { now } = this.#scheduler;
    this.#last += 1;
    const beginning = random.int(0x10000000, 0x7fffffff).toString(16);
    const id = `${beginning}-0000-4000-8000-${String(this.#last).padStart(12, '0')}`;
    const hidden_ms = {
      at_once: 0,
      seconds: random.int(0, 20_000),
      one_settle: random.int(0, config.settle_ms),
      // Often just in time for the second lookup.
      two_settles: random.int(
        random.chance(0.5) ? 0 : 1.9 * config.settle_ms,
        2 * config.settle_ms,
      ),
      late: random.chance(service.late_share)
        ? 2 * config.settle_ms + config.timeout_ms + random.int(0, 6 * HOUR_MS)
        : 0,
    }[service.shown_after];
    const inquiry: Accepted = {
      id,
      specialty,
      request: item,
      external_id: String(item.external_id ?? ''),
      accepted_at: now,
      carrier,
      visible_at: now + hidden_ms,
      timeline: timelineOf(this.#plan, random, now, this.#payers),
      machine: carrier.machine,
      is_forgotten: false,
    };
    this.accepted.set(id, inquiry);
    this.#story.tell(
      now,
      'service',
      `accepts ${id} for ${item.external_id} (${item.member_id}, ` +
        `${item.dob})${hidden_ms > 0 ? `, listed in ${Math.round(hidden_ms / 1000)} s` : ''}` +
        `${carrier.is_stray ? ', whose sender is gone' : ''}`,
      [inquiry.external_id, id],
    );
    this.onAccepted(inquiry);
    this.reports.onAccepted(inquiry);
    return inquiry;
  }

  #create(request: ServiceRequest, specialty: string): ServiceReply {
    const item = parsed(request.body) as Record<string, unknown>;
    const faults = this.#faultsOf(item, ['body']);
    if (faults.length > 0) {
      this.counts.refused += 1;
      return reply(422, { detail: faults });
    }
    const inquiry = this.#accept(item, specialty, request);
    const about = [inquiry.external_id, inquiry.id];
    if (
      !this.is_calm &&
      (this.#random.chance(this.#plan.service.useless_success) || this.#isUselessAndLate(inquiry))
    ) {
      this.counts.useless += 1;
      const useless = this.#random.pick([
        { success: true },
        { success: true, inquiry_id: '' },
        'OK',
        null,
      ]);
      return { ...reply(this.#random.pick([200, 201]), useless), about };
    }
    return { ...reply(200, { success: true, inquiry_id: inquiry.id }), about };
  }

  #createBulk(request: ServiceRequest, specialty: string): ServiceReply {
    const { service } = this.#plan;
    const absent = service.bulk === 'present' ? null : Number(service.bulk.slice('absent_'.length));
    if (absent !== null) return reply(absent, { detail: 'Not Found' });
    const body = parsed(request.body);
    const items = Array.isArray(body) ? body : (body as { inquiries?: unknown }).inquiries;
    const is_right_shape =
      service.bulk_body === 'array'
        ? Array.isArray(body)
        : !Array.isArray(body) && Array.isArray(items);
    if (!is_right_shape || !Array.isArray(items)) {
      return reply(422, {
        detail: [
          {
            loc: ['body'],
            msg: 'wrong form',
            type: service.bulk_body === 'array' ? 'list_type' : 'model_type',
          },
        ],
      });
    }
    if (items.length > service.bulk_max) {
      if (service.bulk_max_status === 413) return reply(413, { detail: 'Too large' });
      return reply(422, { detail: [{ loc: ['body'], msg: 'too many', type: 'too_long' }] });
    }
    const faults = items.map((item, index) =>
      this.#faultsOf(item as Record<string, unknown>, ['body', index]),
    );
    const is_refused = faults.some((each) => each.length > 0);
    if (is_refused && service.bulk_refusal === 'all_or_nothing') {
      this.counts.refused += 1;
      return reply(422, { detail: faults.flat() });
    }
    const made = items.map((item, index) =>
      faults[index]!.length > 0
        ? null
        : this.#accept(item as Record<string, unknown>, specialty, request),
    );
    const about = made.flatMap((one) => (one === null ? [] : [one.external_id, one.id]));
    if (is_refused && service.bulk_refusal === 'partial_422')
      return { ...reply(422, { detail: faults.flat() }), about };
    return { ...reply(200, this.#bulkReply(made, faults)), about };
  }

  #bulkReply(made: (Accepted | null)[], faults: unknown[][]): unknown {
    const form = this.#plan.service.bulk_reply;
    const response = (one: Accepted | null, index: number) =>
      one === null
        ? { success: false, detail: faults[index] }
        : { success: true, inquiry_id: one.id };
    const other = () => this.#random.shuffled(made);
    // A form without a place for a refusal falls back to a form with one.
    if (made.includes(null) && form !== 'enveloped') return made.map(response);
    switch (form) {
      case 'ids':
        return { success: true, inquiry_ids: made.map((one) => one?.id) };
      case 'ids_other_order':
        return { success: true, inquiry_ids: other().map((one) => one?.id) };
      case 'responses_other_order':
        return other().map(response);
      case 'enveloped':
        return { inquiries: made.map(response) };
      case 'read_forms':
        return made.map((one) => (one === null ? null : this.#readForm(one)));
      case 'success_only':
        return { success: true };
      default:
        return made.map(response);
    }
  }

  #read(id: string): ServiceReply {
    const inquiry = this.accepted.get(id);
    if (inquiry === undefined || this.#forgets(inquiry)) {
      switch (this.#plan.service.unknown_id) {
        case '404':
          return reply(404, { detail: 'Not Found' });
        case '422':
          return reply(422, {
            detail: [{ loc: ['path', 'id'], msg: 'unknown', type: 'value_error' }],
          });
        case 'null':
          return reply(200, null);
        default:
          return reply(200, []);
      }
    }
    const form = this.#readForm(inquiry);
    return {
      ...reply(200, this.#plan.service.read_array ? [form] : form),
      about: [id, inquiry.external_id],
    };
  }

  /** Whether it is gone for good, without an answer or an event. */
  #forgets(inquiry: Accepted): boolean {
    const { seed, service, machine } = this.#plan;
    const can_bear = machine.restore === null && machine.clone === null && !this.is_calm;
    const { now } = this.#scheduler;
    const has_ended = inquiry.timeline.some(
      ({ at, status }) => at <= now && /SUCCESS|CANCELLED/.test(status),
    );
    const random = new Random(seed, `forget ${inquiry.id} ${now}`);
    if (can_bear && !has_ended && random.chance(service.forgets)) {
      inquiry.is_forgotten = true;
      inquiry.timeline = inquiry.timeline.filter(({ at }) => at <= now);
      this.counts.forgotten += 1;
      this.#story.tell(now, 'service', `forgets ${inquiry.id}`, [inquiry.external_id, inquiry.id]);
    }
    return inquiry.is_forgotten;
  }

  /** The results of the transcript checks, an hour or so after the answer. */
  #verify(inquiry_id: string): ServiceReply {
    const { verification } = this.#plan.service;
    if (verification === 'absent') return reply(404, { detail: 'Not Found' });
    const inquiry = this.accepted.get(inquiry_id);
    const { results, at } =
      inquiry === undefined ? { results: null, at: 0 } : this.statusOf(inquiry);
    const is_there =
      verification === 'items' && results !== null && at + HOUR_MS < this.#scheduler.now;
    const item = {
      name: 'member_verified',
      description: 'x',
      status: 'MET',
      evidence: 'x',
      reasoning: 'x',
    };
    const record = {
      id: `V${inquiry_id}`,
      inquiry_id,
      call_log_id: 'C1',
      verification_items: [item],
      creation_ts: '2026-11-20T10:00:00Z',
    };
    const verifications = is_there ? [record] : [];
    return reply(200, { success: true, count: verifications.length, verifications });
  }

  /** The content of the list, before it is split into pages. */
  #listed(specialty: string, wanted: string | null): Accepted[] {
    const { service } = this.#plan;
    const { now } = this.#scheduler;
    const same = (label: string) =>
      service.list_filter === 'any_case'
        ? label.toUpperCase() === wanted?.toUpperCase()
        : label === wanted;
    const all = [...this.accepted.values()].filter(
      (one) =>
        one.specialty === specialty &&
        one.visible_at <= now &&
        !one.is_forgotten &&
        (wanted === null || service.list_filter === 'ignored' || same(one.external_id)),
    );
    if (service.list_order !== 'oldest') all.reverse();
    if (service.list_order === 'any') all.sort((a, b) => (a.id < b.id ? -1 : 1));
    return service.list_cap === null ? all : all.slice(0, service.list_cap);
  }

  /** Whether the whole list, which a reconciliation reads, shows the inquiry now. */
  lists(inquiry: Accepted): boolean {
    return this.#listed(inquiry.specialty, null).includes(inquiry);
  }

  /** Whether any list shows the inquiry now. */
  shows(inquiry: Accepted): boolean {
    const is_refused = this.#plan.service.list_filter === 'refused';
    return (is_refused ? [null] : [null, inquiry.external_id]).some((wanted) =>
      this.#listed(inquiry.specialty, wanted).includes(inquiry),
    );
  }

  #list(specialty: string, pathname: string, query: URLSearchParams): ServiceReply {
    const { service } = this.#plan;
    const wanted = query.get('external_id');
    if (service.list_filter === 'refused' && wanted !== null)
      return reply(422, { detail: [{ loc: ['query', 'external_id'], msg: 'x', type: 'x' }] });
    const shown = this.#listed(specialty, wanted);
    const forms: unknown[] = shown.map((one) => this.#readForm(one));
    if (service.unreadable_element && wanted === null && !this.is_calm)
      forms.push({ strange: true });
    return page(forms, service.list_paging, service.page_size, pathname, query);
  }

  #readForm(inquiry: Accepted): Record<string, unknown> {
    const { service } = this.#plan;
    const stage = this.statusOf(inquiry);
    const said_at = inquiry.timeline.find(({ results }) => results === stage.results)?.at ?? 0;
    return {
      id: inquiry.id,
      status: service.lower_case ? stage.status.toLowerCase() : stage.status,
      creation_ts: this.#timestamp(inquiry.accepted_at),
      summary: stage.results === null ? '' : `Called for ${inquiry.id}.`,
      results:
        stage.results === null
          ? null
          : answerFor(this.#plan, inquiry, stage.results, this.#timestamp(said_at)),
      request: service.is_echo_nameless
        ? { ...this.#echo(inquiry.request), patient_name: '' }
        : this.#echo(inquiry.request),
    };
  }

  #timestamp(at: number): string {
    const iso = new Date(at).toISOString();
    return { z: iso, offset: iso.replace('Z', '+00:00'), no_zone: `${iso.replace('Z', '')}123` }[
      this.#plan.service.timestamps
    ];
  }

  #echo(request: Record<string, unknown>): Record<string, unknown> {
    switch (this.#plan.service.echo) {
      case 'nulls':
        return {
          ...request,
          group_id: request.group_id ?? null,
          npi: null,
          claim_number: request.claim_number ?? null,
          claims_date_of_service: request.claims_date_of_service ?? null,
        };
      case 'defaults':
        return {
          ...request,
          is_specialist: false,
          diagnosis_codes: ['Z01.20'],
          desired_completion_date: '01-01-2030',
          claim_number: request.claim_number ?? '',
        };
      case 'trimmed_upper':
        return Object.fromEntries(
          Object.entries(request).map(([name, value]) => [
            name,
            typeof value === 'string' ? value.trim().toUpperCase() : value,
          ]),
        );
      default:
        return request;
    }
  }
}

function page(
  forms: unknown[],
  paging: Plan['service']['list_paging'],
  size: number,
  pathname: string,
  query: URLSearchParams,
): ServiceReply {
  if (paging === 'none') return reply(200, forms);
  if (paging === 'limit') return reply(200, forms.slice(0, Number(query.get('limit') ?? size)));
  if (paging === 'offset') {
    const offset = Number(query.get('offset') ?? 0);
    return reply(
      200,
      forms.slice(offset, offset + Math.min(size, Number(query.get('limit') ?? size))),
    );
  }
  if (paging === 'page') {
    const number = Number(query.get('page') ?? 1);
    return reply(200, forms.slice((number - 1) * size, number * size));
  }
  const from = Number(query.get('from') ?? query.get('offset') ?? 0);
  const part = forms.slice(from, from + size);
  if (paging === 'envelope') return reply(200, { items: part, total: forms.length });
  const onward = new URLSearchParams(query);
  onward.set('from', String(from + size));
  const links = [
    `<${pathname}>; rel="first"`,
    ...(from + size < forms.length ? [`<${pathname}?${onward}>; rel="next"`] : []),
  ];
  return reply(200, part, { link: links.join(', ') });
}

function parsed(text: string): unknown {
  return JSON.parse(text) as unknown;
}

function reply(status: number, value: unknown, headers: Record<string, string> = {}): ServiceReply {
  return { status, headers, body: value === undefined ? '' : JSON.stringify(value), about: [] };
}
