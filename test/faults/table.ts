import { CONNECTOR_FAULTS } from './connector-faults.ts';
import type { Fault } from './fault.ts';
import { MACHINE_FAULTS } from './machine-faults.ts';
import { OFFICE_FAULTS } from './office-faults.ts';
import { SERVICE_FAULTS } from './service-faults.ts';

export const FAULTS: readonly Fault[] = [
  ...SERVICE_FAULTS,
  ...OFFICE_FAULTS,
  ...MACHINE_FAULTS,
  ...CONNECTOR_FAULTS,
];
