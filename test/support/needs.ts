import { expect } from 'vitest';
import type { Clinic } from './clinic.ts';
import type { LedgerEntry } from './service.ts';
import type { Visit } from './visits.ts';

/** One coverage of one appointment that needs a call, before coverages are joined into needs. */
export type Question = {
  appointment_id: string;
  rank: number;
  patient_id: string;
  dob: string;
  payer: string;
  member_id: string;
};

/**
 * A need as docs/design.md defines it, computed without eligd's code; the clinic has one tax ID and
 * one question set.
 */
export type Need = {
  key: string;
  appointment_ids: string[];
  dob: string;
  payer: string;
  member_id: string;
};

export function questionsOf(visits: readonly Visit[]): Question[] {
  return visits.map(({ appointment_id, patient_id, dob, payor_id, carrier, member_id }) => ({
    appointment_id,
    rank: 1,
    patient_id,
    dob,
    payer: payor_id || carrier,
    member_id,
  }));
}

export function needsOf(questions: readonly Question[]): Need[] {
  const needs = new Map<string, Need>();
  for (const { appointment_id, patient_id, dob, payer, member_id } of questions) {
    const key = [patient_id, dob, payer, member_id].join('|');
    const need = needs.get(key) ?? { key, appointment_ids: [], dob, payer, member_id };
    if (!need.appointment_ids.includes(appointment_id)) need.appointment_ids.push(appointment_id);
    needs.set(key, need);
  }
  return [...needs.values()];
}

/** The paid calls for each need, oldest first; calls for no need are under "nobody". */
export function callsByNeed(
  ledger: readonly LedgerEntry[],
  needs: readonly Need[],
): Map<string, LedgerEntry[]> {
  const calls = new Map<string, LedgerEntry[]>(needs.map(({ key }) => [key, []]));
  for (const entry of ledger) {
    const need = needs.find(
      (each) =>
        each.appointment_ids.includes(entry.external_id ?? '') &&
        each.member_id === entry.request.member_id &&
        each.dob === isoDate(entry.request.dob) &&
        [undefined, each.payer].includes(entry.request.insurance_payor_id),
    );
    const key = need?.key ?? 'nobody';
    calls.set(key, [...(calls.get(key) ?? []), entry]);
  }
  return calls;
}

/**
 * G1, and nothing is forgotten: one call for each need, under the ID of one of its appointments,
 * and no other calls.
 */
export function expectOneCallEach(ledger: readonly LedgerEntry[], needs: readonly Need[]): void {
  const counts = [...callsByNeed(ledger, needs)].map(([key, calls]) => [key, calls.length]);
  expect(counts).toEqual(needs.map(({ key }) => [key, 1]));
}

/**
 * The same, with a second attempt after an unsuccessful call if one of the need's appointments is
 * `late` enough for it.
 */
export function expectOneCallPerAttempt(
  ledger: readonly LedgerEntry[],
  needs: readonly Need[],
  isLate: (appointment_id: string) => boolean,
): void {
  const calls = callsByNeed(ledger, needs);
  expect(calls.has('nobody')).toBe(false);
  for (const { key, appointment_ids } of needs) {
    const made = calls.get(key) ?? [];
    const expected = made[0]?.status === 'UNSUCCESSFUL' && appointment_ids.some(isLate) ? 2 : 1;
    expect([key, made.length]).toEqual([key, expected]);
  }
}

/** Every line that was written back answers a question about its own person and policy. */
export function expectOwnAnswers(clinic: Clinic, ledger: readonly LedgerEntry[]): void {
  const by_id = new Map(ledger.map((entry) => [entry.id, entry.request]));
  for (const line of clinic.written()) {
    const asked = by_id.get(line.inquiry_id ?? '');
    expect({
      line: line.appointment_id,
      member_id: asked?.member_id,
      dob: isoDate(asked?.dob ?? ''),
    }).toEqual({
      line: line.appointment_id,
      member_id: line.member_id,
      dob: line.dob,
    });
    expect(line.record.inquiry_id).toBe(line.inquiry_id);
  }
}

/** The coverages with an answer in the outbox: `9001/1`. */
export function writtenFor(clinic: Clinic): Set<string> {
  return new Set(clinic.written().map((line) => `${line.appointment_id}/${line.coverage}`));
}

export function placesOf(questions: readonly Question[]): Set<string> {
  return new Set(questions.map(({ appointment_id, rank }) => `${appointment_id}/${rank}`));
}

/** `01-31-2030` as `2030-01-31`. */
export function isoDate(wire: string): string {
  return wire.replace(/^(\d\d)-(\d\d)-(\d{4})$/, '$3-$1-$2');
}
