/** Faults in what the practice delivers: exports, files of the office, the drop folder. */
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Fault } from './fault.ts';
import { csv, type SimulatedClinic } from './simulated-clinic.ts';

const PAYERS = 'pms_name,pms_id,carrier,payor_id,action\nCigna Dental,62308,CIGNA,62308,call\n';

/** They begin with the next morning's export, and end with the one after it. */
const EXPORT = { lasts_hours: 26, compared_after_hours: 25, watched_hours: 24 };

const whole: SimulatedClinic['exports'] = (_day, visits) => csv(visits);

function exporting(exports: SimulatedClinic['exports']): Fault['begin'] {
  return (clinic) => {
    clinic.exports = exports;
  };
}

function away(folder: string): Fault['begin'] {
  return (clinic) => {
    renameSync(clinic.path(folder), clinic.path(`${folder}.away`));
    writeFileSync(clinic.path(folder), 'not a folder');
  };
}

function back(folder: string): Fault['end'] {
  return (clinic) => {
    rmSync(clinic.path(folder));
    renameSync(clinic.path(`${folder}.away`), clinic.path(folder));
  };
}

export const OFFICE_FAULTS: readonly Fault[] = [
  {
    name: 'the export is missing at its usual hour',
    alert: 'export_missing',
    no: ['export'],
    ...EXPORT,
    begin: exporting(() => null),
    end: exporting(whole),
  },
  {
    name: 'the export is missing at the hour of the configuration',
    alert: 'export_missing',
    no: ['export'],
    ...EXPORT,
    settings: () => ({ front_desk: { expected_by: '08:00' } }),
    begin: exporting(() => null),
    end: exporting(whole),
  },
  {
    name: 'the export is empty',
    alert: 'export_empty',
    no: ['export'],
    ...EXPORT,
    begin: exporting(() => csv([])),
    end: exporting(whole),
  },
  {
    name: 'the export has fewer than half of the usual rows',
    alert: 'export_small',
    no: ['export'],
    ...EXPORT,
    begin: exporting((_day, visits) => csv(visits.slice(0, 8))),
    end: exporting(whole),
  },
  {
    name: 'the export is rejected',
    alert: 'export_rejected',
    ...EXPORT,
    begin: exporting(() => 'this,is\r\nno,export\r\n'),
    end: (clinic) => {
      clinic.exports = whole;
      clinic.exportNow();
      const rejected = clinic.path('dropbox/rejected');
      for (const name of readdirSync(rejected)) rmSync(`${rejected}/${name}`);
    },
  },
  {
    name: 'the drop folder is away',
    alert: 'connector_cannot_read',
    no: ['export'],
    begin: away('dropbox'),
    end: (clinic) => {
      back('dropbox')(clinic);
      clinic.exportNow();
    },
  },
  {
    name: 'results cannot be written',
    alert: 'connector_cannot_write',
    no: ['results'],
    begin: away('dropbox/outbox'),
    end: back('dropbox/outbox'),
  },
  {
    name: 'payers.csv has an error',
    alert: 'payers_unreadable',
    prepare: (clinic) => writeFileSync(clinic.path('payers.csv'), PAYERS),
    begin: (clinic) =>
      writeFileSync(clinic.path('payers.csv'), 'pms_name,nonsense\nCigna Dental,1\n'),
    end: (clinic) => writeFileSync(clinic.path('payers.csv'), PAYERS),
  },
  {
    name: 'fees.csv has an error',
    alert: 'fees_unreadable',
    prepare: (clinic) => writeFileSync(clinic.path('fees.csv'), 'code,payer,fee\nD0120,*,60.00\n'),
    begin: (clinic) =>
      writeFileSync(clinic.path('fees.csv'), 'code,payer,fee\nD0120,*,no number\n'),
    end: (clinic) => writeFileSync(clinic.path('fees.csv'), 'code,payer,fee\nD0120,*,61.00\n'),
  },
  {
    name: 'thirty visits come without their member IDs',
    alert: 'attention_growing',
    ...EXPORT,
    begin: exporting((_day, visits) =>
      csv(
        [...visits, ...visits.slice(0, 15), ...visits.slice(0, 15)].map((visit, index) =>
          index < visits.length
            ? visit
            : {
                ...visit,
                appointment_id: `9${visit.appointment_id}${index}`,
                patient_id: `X${index}`,
                member_id: '',
              },
        ),
      ),
    ),
    end: exporting(whole),
  },
];
