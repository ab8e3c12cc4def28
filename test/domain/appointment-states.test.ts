import { describe, expect, test } from 'vitest';
import { appointmentStateReader } from '../../src/domain/appointment-states.ts';

const read = appointmentStateReader({});

describe('the state of an appointment', () => {
  test.each([
    // HL7 table 0278 and FHIR R4's AppointmentStatus.
    ['Pending', 'booked'],
    ['Waitlist', 'cancelled'],
    ['Booked', 'booked'],
    ['Started', 'booked'],
    ['Complete', 'completed'],
    ['Cancelled', 'cancelled'],
    ['Dc', 'cancelled'],
    ['Deleted', 'cancelled'],
    ['Blocked', 'cancelled'],
    ['Overbook', 'booked'],
    ['Overbooked', 'booked'],
    ['Noshow', 'cancelled'],
    ['proposed', 'booked'],
    ['arrived', 'booked'],
    ['fulfilled', 'completed'],
    ['entered-in-error', 'cancelled'],
    ['checked-in', 'booked'],
    ['waitlist', 'cancelled'],
    // Words of practice management systems.
    ['FIRM', 'booked'],
    ['Checked Out', 'completed'],
    ['No-Show', 'cancelled'],
    ['CANCELED', 'cancelled'],
    ['UnschedList', 'cancelled'],
    ['Rescheduled', 'cancelled'],
    ['R/S', 'cancelled'],
    ['Blocked Time', 'cancelled'],
    ['Deceased', 'cancelled'],
    ['Wait List', 'cancelled'],
  ])('%s is %s', (word, status) => {
    expect(read(word)).toBe(status);
  });

  test('an unknown word, or no word, is an unknown state', () => {
    expect(read('Frobnicated')).toBeNull();
    expect(read('')).toBeNull();
    expect(read()).toBeNull();
  });

  test('the configuration overrides the state of a word', () => {
    const configured = appointmentStateReader({ 'Left Message': 'cancelled', waitlist: 'booked' });
    expect(configured('left-message')).toBe('cancelled');
    expect(configured('Wait List')).toBe('booked');
    expect(configured('Booked', 'WAITLIST')).toBe('booked');
  });

  test('of several words, the one that stops a call counts', () => {
    expect(read('NS', 'No Show', 'Booked')).toBe('cancelled');
    expect(read('Booked', 'Complete')).toBe('completed');
  });
});
