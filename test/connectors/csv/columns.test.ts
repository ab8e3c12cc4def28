import { describe, expect, it } from 'vitest';
import {
  CANONICAL_COLUMNS,
  normalHeader,
  planColumns,
  type RowKind,
} from '../../../connectors/csv/columns.ts';
import { findLayout } from '../../../connectors/csv/layout.ts';

const AUTO = { separator: 'auto', columns: {} };

function found(headers: string[], columns = {}, kind: RowKind = 'appointments') {
  const plan = planColumns(headers, columns, kind);
  if ('claimed_twice' in plan) return plan;
  return Object.fromEntries(
    CANONICAL_COLUMNS.filter((column) => plan.index[column] !== -1).map((column) => [
      column,
      headers[plan.index[column]],
    ]),
  );
}

describe('header names', () => {
  it('header names are compared without case, spaces, and punctuation', () => {
    expect(['Appt. ID', 'appt_id', ' APPT-ID '].map(normalHeader)).toEqual([
      'apptid',
      'apptid',
      'apptid',
    ]);
    expect(normalHeader('Group #')).not.toBe(normalHeader('Group'));
  });

  it('every canonical header name is known', () => {
    for (const column of CANONICAL_COLUMNS) {
      const of_claims = found([column], {}, 'claims');
      const of_visits = found([column]);
      expect([of_claims, of_visits]).toContainEqual({ [column]: column });
    }
  });

  it('header names of Open Dental are known', () => {
    expect(
      found([
        'AptNum',
        'AptDateTime',
        'AptStatus',
        'PatNum',
        'LName',
        'FName',
        'Birthdate',
        'CarrierName',
        'ElectID',
        'SubscriberID',
        'GroupNum',
        'NationalProvID',
        'ProcCodes',
        'IsNewPatient',
      ]),
    ).toEqual({
      appointment_id: 'AptNum',
      appointment_at: 'AptDateTime',
      status: 'AptStatus',
      patient_id: 'PatNum',
      last_name: 'LName',
      first_name: 'FName',
      dob: 'Birthdate',
      carrier: 'CarrierName',
      payor_id: 'ElectID',
      member_id: 'SubscriberID',
      group_id: 'GroupNum',
      rendering_npi: 'NationalProvID',
      procedure_codes: 'ProcCodes',
    });
  });

  it('header names of a second coverage are known in several spellings', () => {
    expect(
      found(['Secondary Carrier Name', 'Subscriber ID 2', 'group_id_2', 'Primary Carrier Name']),
    ).toEqual({
      carrier_2: 'Secondary Carrier Name',
      member_id_2: 'Subscriber ID 2',
      group_id_2: 'group_id_2',
      carrier: 'Primary Carrier Name',
    });
  });

  it('a general header name counts only if there is no clearer one', () => {
    expect(found(['ID', 'Date', 'Time', 'Name'])).toEqual({
      appointment_id: 'ID',
      appointment_date: 'Date',
      appointment_time: 'Time',
      patient_name: 'Name',
    });
    expect(found(['ID', 'Appt ID'])).toEqual({ appointment_id: 'Appt ID' });
  });

  it('two headers for one column are an error unless the configuration chooses', () => {
    const headers = ['Appt ID', 'Subscriber ID', 'Policy Number'];
    expect(found(headers)).toEqual({ claimed_twice: 'member_id' });
    expect(found(headers, { member_id: 'policy number' })).toMatchObject({
      member_id: 'Policy Number',
    });
    expect(
      found(headers, { member_id: ['Card No', 'Subscriber ID', 'Policy Number'] }),
    ).toMatchObject({
      member_id: 'Subscriber ID',
    });
  });

  it('a header that the configuration assigns has no other use', () => {
    expect(found(['Appt ID', 'Location'], { patient_id: 'Location' })).toEqual({
      appointment_id: 'Appt ID',
      patient_id: 'Location',
    });
  });
});

describe('the layout of a file', () => {
  it.each([',', ';', '\t', '|'])('the layout is found with the separator %j', (separator) => {
    const layout = findLayout(
      ['Appt ID', 'Appt Date', 'Patient'].join(separator),
      AUTO,
      'appointments',
    );
    expect(layout).toMatchObject({ separator, begin: { lines: 1, rows: 1 } });
  });

  it('the layout is found below a title, and after Excel’s first line', () => {
    expect(
      findLayout(
        'Riverside Dental\nAppointments, by day\n\nAppt ID,Appt Date\n',
        AUTO,
        'appointments',
      ),
    ).toMatchObject({
      begin: { lines: 4, rows: 4 },
    });
    expect(findLayout('sep=;\nAppt ID;Appt Date\n', AUTO, 'appointments')).toMatchObject({
      separator: ';',
      begin: { lines: 2, rows: 1 },
    });
  });

  it('the layout is found when a header name has two lines', () => {
    expect(findLayout('"Appt\nID",Appt Date\n1,2\n', AUTO, 'appointments')).toMatchObject({
      begin: { lines: 2, rows: 1 },
    });
  });

  it.each([
    ['', 'file', 'empty'],
    ['1,2026-11-24 09:00,Smith\n', 'appointment_id', 'no header row found'],
    ['Patient,DOB,Appt Date\n', 'appointment_id', 'no such column'],
    ['Appt ID,Patient\n', 'appointment_at', 'no such column'],
    ['Appt ID,Appt Date,MRN,Chart #\n', 'patient_id', 'more than one column'],
  ])('the layout of %j is refused', (head, field, value_class) => {
    expect(findLayout(head, AUTO, 'appointments')).toMatchObject({ field, value_class });
  });
});
