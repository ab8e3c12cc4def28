/**
 * The conformance tests that every connector passes. A connector's test supplies a `Harness`, which
 * plays the practice management system (PMS), and calls `connectorSuite`; see
 * `test/connectors/csv.test.ts`, which has about thirty lines.
 *
 * The suite plays eligd's core: an `accept` that commits, fails, or commits and then dies; the
 * stored cursor; the clock.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AttentionEntry, ClaimBatch, DeliveryBatch } from '../contract.ts';
import {
  appointment,
  attention,
  batchOf,
  claim,
  claimBatchOf,
  claimEssence,
  essence,
} from './examples.ts';
import { Bench, expectNoPatientData, expectPlainProblems, type Harness } from './harness.ts';

/** Someone typed a name where the time belongs. */
const BROKEN = ['soon, says Quillfeather', '{"Zebulon": MEMBER00'];
/** Not a file, message, or page of any PMS. */
const GARBAGE = 'Quillfeather, Zebulon {1987-02-14';

/** The longest time a connector may take to notice a stop, in real time. */
const PROMPT_MS = 5000;

/** Defines the tests of the suite for one connector. */
export function connectorSuite<Config>(name: string, harness: Harness<Config>): void {
  describe(`${name} as a connector`, () => {
    const bench = new Bench(harness);
    beforeEach(() => bench.open());
    afterEach(() => bench.close());
    configurationTests(bench);
    receivingTests(bench);
    failureTests(bench);
    stoppingTests(bench);
    deliveryTests(bench);
    claimTests(bench);
    attentionTests(bench);
    checkTests(bench);
  });
}

function configurationTests<Config>(bench: Bench<Config>): void {
  it('refuses a configuration key that it does not know', () => {
    expect(bench.harness.type.config.safeParse(bench.pms.config).success).toBe(true);
    expect(
      bench.harness.type.config.safeParse({ ...bench.pms.config, no_such_key: 1 }).success,
    ).toBe(false);
  });

  it('pulls or listens', () => {
    const connector = bench.connect();
    expect(connector.pull ?? connector.listen).toBeDefined();
  });
}

function receivingTests<Config>(bench: Bench<Config>): void {
  it('passes on every appointment of a source and acknowledges it', async () => {
    const source = {
      name: 'monday',
      appointments: [appointment(1), appointment(2), appointment(3)],
    };
    await bench.receive(() => bench.pms.offer(source));
    expect(bench.core.summary()).toEqual(source.appointments.map(essence));
    expect(bench.core.rejected).toEqual([]);
    await bench.expectUnacknowledged(0);
  });

  it('passes on nothing when there is no source', async () => {
    await bench.receive(async () => undefined);
    expect(bench.core.summary()).toEqual([]);
    expect(bench.core.rejected).toEqual([]);
  });

  it('splits a large source into batches, and marks the last one of each source', async () => {
    const appointments = Array.from({ length: 1200 }, (_, i) => appointment(i));
    await bench.receive(() => bench.pms.offer({ name: 'large', appointments }));
    expect(bench.core.summary()).toHaveLength(1200);
    expect(
      Math.max(...bench.core.batches.map((batch) => batch.appointments.length)),
    ).toBeLessThanOrEqual(1000);
    for (const batches of bench.core.batchesBySource().values()) {
      expect(batches.map((batch) => batch.source.is_last).lastIndexOf(false)).toBeLessThan(
        batches.length - 1,
      );
      expect(batches.filter((batch) => batch.source.is_last)).toHaveLength(1);
    }
  });

  it('says when an appointment was canceled', async () => {
    await bench.receive(() =>
      bench.pms.offer({ name: 'first', appointments: [appointment(1), appointment(2)] }),
    );
    await bench.receive(() =>
      bench.pms.offer({
        name: 'second',
        appointments: [{ ...appointment(1), status: 'cancelled' }],
      }),
    );
    expect(bench.core.appointments.get('A-1')?.status).toBe('cancelled');
    expect(bench.core.appointments.get('A-2')?.status).toBe('booked');
  });

  it('passes on the later version of an appointment that two sources have', async () => {
    const moved = { ...appointment(1), starts_at: '2026-11-25T20:00:00.000Z' };
    await bench.receive(() => bench.pms.offer({ name: 'first', appointments: [appointment(1)] }));
    await bench.receive(() => bench.pms.offer({ name: 'second', appointments: [moved] }));
    expect(bench.core.summary()).toEqual([essence(moved)]);
  });

  it('says that a source is full only when it holds every appointment', async () => {
    await bench.receive(() =>
      bench.pms.offer({ name: 'all', appointments: [appointment(1), appointment(2)] }),
    );
    await bench.receive(() => bench.pms.offer({ name: 'changed', appointments: [appointment(1)] }));
    const stated = new Set(bench.core.batches.map(({ source }) => source.completeness));
    // If a source contains only changes, "full" would mark all other visits as vanished.
    if (bench.pms.holds_everything === undefined) expect([...stated]).not.toContain('full');
    else expect(stated.has('full') || stated.has('unknown')).toBe(true);
  });

  it('passes on no further appointment when the same content arrives twice', async () => {
    const appointments = [appointment(1), appointment(2)];
    await bench.receive(() => bench.pms.offer({ name: 'once', appointments }));
    await bench.receive(() => bench.pms.offer({ name: 'twice', appointments }));
    expect(bench.core.summary()).toEqual(appointments.map(essence));
    await bench.expectUnacknowledged(0);
  });
}

function failureTests<Config>(bench: Bench<Config>): void {
  it('does not let a bad item block its neighbors (G7)', async () => {
    const appointments = [appointment(1), appointment(2), appointment(3)];
    await bench.receive(() =>
      bench.pms.offer({ name: 'mixed', appointments, broken_items: BROKEN }),
    );
    expect(bench.core.summary()).toEqual(appointments.map(essence));
    expect(bench.core.rejected.length).toBeGreaterThanOrEqual(1);
    for (const item of bench.core.rejected) {
      expect(item.position).not.toBe('');
      expectNoPatientData(item.position);
    }
    expectPlainProblems(bench.core.rejected);
    await bench.expectUnacknowledged(0);
  });

  it('rejects a source that cannot be read, and quotes nothing of it (G6)', async () => {
    const { offerGarbage } = bench.pms;
    if (offerGarbage === undefined) return;
    await bench.receive(() => offerGarbage(GARBAGE));
    expect(bench.core.rejected.length).toBeGreaterThanOrEqual(1);
    for (const item of bench.core.rejected) expectNoPatientData(item.position);
    expectPlainProblems(bench.core.rejected);
    await bench.receive(() => bench.pms.offer({ name: 'after', appointments: [appointment(1)] }));
    expect(bench.core.summary()).toEqual([essence(appointment(1))]);
    await bench.expectUnacknowledged(0);
  });

  it('keeps what was not accepted and offers it again under the same key (G3)', async () => {
    const appointments = [appointment(1), appointment(2)];
    bench.core.fate = 'refuse';
    await bench.receiveFailing(() => bench.pms.offer({ name: 'refused', appointments }));
    expect(bench.core.summary()).toEqual([]);
    if (bench.pms.unacknowledged)
      expect(await bench.pms.unacknowledged()).toBeGreaterThanOrEqual(1);
    const offered = bench.core.offered[0];
    bench.core.fate = 'commit';
    await bench.receive(() => bench.again());
    expect(bench.core.summary()).toEqual(appointments.map(essence));
    expect(bench.core.batches.map((batch) => batch.source.key)).toContain(offered);
    await bench.expectUnacknowledged(0);
  });

  it('has the same result when power fails between commit and acknowledgment (G3)', async () => {
    const appointments = [appointment(1), appointment(2)];
    bench.core.fate = 'commit and die';
    await bench.receiveFailing(() => bench.pms.offer({ name: 'interrupted', appointments }));
    bench.core.fate = 'commit';
    bench.restart();
    await bench.receive(() => bench.again());
    expect(bench.core.summary()).toEqual(appointments.map(essence));
    await bench.expectUnacknowledged(0);
  });

  it('continues with new sources after one that was refused once', async () => {
    bench.core.fate = 'refuse';
    await bench.receiveFailing(() =>
      bench.pms.offer({ name: 'first', appointments: [appointment(1)] }),
    );
    bench.core.fate = 'commit';
    await bench.receive(async () => {
      await bench.again();
      await bench.pms.offer({ name: 'second', appointments: [appointment(2)] });
    });
    expect(bench.core.summary()).toEqual([appointment(1), appointment(2)].map(essence));
  });
}

function stoppingTests<Config>(bench: Bench<Config>): void {
  it('accepts nothing when it is stopped before it begins', async () => {
    const connector = bench.connect();
    const { pull } = connector;
    if (pull === undefined) return;
    await bench.pms.offer({ name: 'late', appointments: [appointment(1)] });
    await promptly(pull(bench.core.call(connector, AbortSignal.abort())));
    expect(bench.core.summary()).toEqual([]);
    await bench.receive(async () => undefined);
    expect(bench.core.summary()).toHaveLength(1);
  });

  it('stops promptly in the middle and loses nothing', async () => {
    const connector = bench.connect();
    const { pull } = connector;
    if (pull === undefined) return;
    await bench.pms.offer({ name: 'one', appointments: [appointment(1)] });
    await bench.pms.offer({ name: 'two', appointments: [appointment(2)] });
    const stop = new AbortController();
    bench.core.onAccept = () => stop.abort();
    await promptly(pull(bench.core.call(connector, stop.signal)));
    bench.core.onAccept = () => undefined;
    await bench.receive(async () => undefined);
    expect(bench.core.summary()).toEqual([appointment(1), appointment(2)].map(essence));
    await bench.expectUnacknowledged(0);
  });

  it('stops listening promptly', async () => {
    const connector = bench.connect();
    const { listen } = connector;
    if (listen === undefined) return;
    const stop = new AbortController();
    const listening = listen(bench.core.call(connector, stop.signal));
    stop.abort();
    await promptly(listening);
  });
}

function deliveryTests<Config>(bench: Bench<Config>): void {
  const deliver = (batch: DeliveryBatch) =>
    bench.connector().deliver(batch, new AbortController().signal);

  it('returns the outcome of every delivery', async () => {
    const outcomes = await deliver(batchOf(1, [1, 2, 3]));
    expect(outcomes.map(({ key }) => key).sort()).toEqual(['d-1-1', 'd-2-1', 'd-3-1']);
    expect(outcomes.every(({ outcome }) => outcome === 'delivered')).toBe(true);
    expect(await bench.pms.written()).not.toEqual(await bench.emptyPms());
  });

  it('leaves the PMS the same when a batch is delivered twice (G4)', async () => {
    await deliver(batchOf(1, [1, 2]));
    const once = await bench.pms.written();
    expect(await deliver(batchOf(1, [1, 2]))).toHaveLength(2);
    expect(await bench.pms.written()).toEqual(once);
    bench.restart();
    await deliver(batchOf(1, [1, 2]));
    expect(await bench.pms.written()).toEqual(once);
  });

  it('leaves the PMS the same when a delivery was interrupted and is made again (G4)', async () => {
    const stop = new AbortController();
    const interrupted = bench.connector().deliver(batchOf(1, [1, 2, 3]), stop.signal);
    stop.abort();
    await promptly(interrupted);
    bench.restart();
    await deliver(batchOf(1, [1, 2, 3]));
    expect(await bench.pms.written()).toEqual(
      await bench.elsewhere((other) =>
        other.deliver(batchOf(1, [1, 2, 3]), new AbortController().signal),
      ),
    );
  });

  it('writes a later revision as well', async () => {
    await deliver(batchOf(1, [1]));
    const first = await bench.pms.written();
    const outcomes = await deliver(batchOf(2, [1], 2));
    expect(outcomes).toEqual([{ key: 'd-1-2', outcome: 'delivered' }]);
    expect(await bench.pms.written()).not.toEqual(first);
  });

  it('accepts a batch without deliveries', async () => {
    expect(await deliver(batchOf(1, []))).toEqual([]);
  });
}

/** Tests a connector that supports claims; others pass. */
function claimTests<Config>(bench: Bench<Config>): void {
  it('passes on and acknowledges claims, if the PMS has them, and can answer them', async () => {
    const { offerClaims } = bench.pms;
    if (offerClaims === undefined) return;
    expect(bench.connector().deliverClaims).toBeDefined();
    const claims = [claim(1), claim(2)];
    await bench.receive(() => offerClaims({ name: 'claims', claims }));
    expect(bench.core.claimSummary()).toEqual(claims.map(claimEssence));
    await bench.expectUnacknowledged(0);
  });

  it('leaves the PMS the same when a claim’s answer is written twice (G4)', async () => {
    const deliver = async (batch: ClaimBatch) =>
      await bench.connector().deliverClaims?.(batch, new AbortController().signal);
    const outcomes = await deliver(claimBatchOf(1, [1, 2]));
    if (outcomes === undefined) return;
    expect(outcomes.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['c-1-1', 'delivered'],
      ['c-2-1', 'delivered'],
    ]);
    const once = await bench.pms.written();
    bench.restart();
    await deliver(claimBatchOf(1, [1, 2]));
    expect(await bench.pms.written()).toEqual(once);
    await deliver(claimBatchOf(2, [1], 2));
    expect(await bench.pms.written()).not.toEqual(once);
    expect(await deliver(claimBatchOf(3, []))).toEqual([]);
  });
}

function attentionTests<Config>(bench: Bench<Config>): void {
  it('replaces the attention list as a whole, repeatably', async () => {
    const { publishAttention } = bench.connector();
    if (publishAttention === undefined) return;
    const publish = (entries: AttentionEntry[]) =>
      publishAttention(entries, new AbortController().signal, '2026-11-23T18:00:00.000Z');
    await publish([]);
    const empty = await bench.pms.written();
    await publish([attention(1), attention(2)]);
    const two = await bench.pms.written();
    expect(two).not.toEqual(empty);
    await publish([attention(1), attention(2)]);
    expect(await bench.pms.written()).toEqual(two);
    await publish([]);
    expect(await bench.pms.written()).toEqual(empty);
  });
}

function checkTests<Config>(bench: Bench<Config>): void {
  it('checks without changing anything', async () => {
    if (bench.connect().pull !== undefined)
      await bench.pms.offer({ name: 'waiting', appointments: [appointment(1)] });
    const before = {
      written: await bench.pms.written(),
      unacknowledged: await bench.pms.unacknowledged?.(),
    };
    const lines = await bench.connector().check(new AbortController().signal);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line.ok, line.what).toBe(true);
      expect(line.what).not.toBe('');
    }
    expect({
      written: await bench.pms.written(),
      unacknowledged: await bench.pms.unacknowledged?.(),
    }).toEqual(before);
    expect(bench.core.offered).toEqual([]);
  });
}

/** Waits for work that must settle in time, also with an error: a stop may reject. */
async function promptly(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), PROMPT_MS);
  });
  const settled = work.then(
    () => 'settled' as const,
    () => 'settled' as const,
  );
  expect(await Promise.race([settled, late])).toBe('settled');
  clearTimeout(timer);
}
