import type { Reference } from '@medplum/fhirtypes';
import type { CoverageInput } from '../../../src/domain/appointment.ts';
import { lettersAndDigits } from '../../../src/domain/matching.ts';
import type { FhirConfig } from '../config.ts';
import { identifierOf, type Json, listAt, type Resource, textAt } from '../element.ts';
import { Chart } from '../read/chart.ts';
import { targetOf } from '../read/references.ts';
import type { Capability } from '../server/capability.ts';
import type { FhirClient } from '../server/client.ts';
import { unlessRefused } from '../server/failure.ts';

type Insurance = { coverage: Reference<never>; insurer: Reference<never> };

/**
 * Finds the Coverage of an answer, and its payer. If none is found, the references contain the
 * known data as text, because both elements are required.
 */
export class Insurances {
  private readonly client: FhirClient;
  private readonly config: FhirConfig;
  private readonly signal: AbortSignal;
  private readonly chart: Chart;

  constructor(client: FhirClient, config: FhirConfig, capability: Capability, signal: AbortSignal) {
    this.client = client;
    this.config = config;
    this.signal = signal;
    this.chart = new Chart(client, capability, signal);
  }

  async find(patient_id: string | null, input: CoverageInput): Promise<Insurance> {
    const coverage = await this.read(patient_id, input);
    const { carrier, member_id } = input;
    const display = carrier || 'The insurance company';
    if (coverage === null) {
      const identifier = member_id === '' ? {} : { identifier: { value: member_id } };
      return { coverage: { ...identifier, display }, insurer: { display } };
    }
    return {
      coverage: { reference: `Coverage/${coverage.id}` },
      insurer: this.payor(coverage) ?? { display },
    };
  }

  private async read(
    patient_id: string | null,
    { id, member_id }: CoverageInput,
  ): Promise<Resource | null> {
    if (id !== undefined)
      return await unlessRefused(() => this.client.read('Coverage', id, this.signal));
    if (patient_id === null || member_id === '') return null;
    const found = await unlessRefused(() => this.chart.coveragesOf(patient_id));
    const wanted = lettersAndDigits(member_id);
    return (
      found?.find(
        (coverage) =>
          coverage.id !== undefined && lettersAndDigits(this.memberId(coverage)) === wanted,
      ) ?? null
    );
  }

  private memberId(coverage: Resource): string {
    return (
      identifierOf(coverage, this.config.systems.member_id, '') || textAt(coverage, 'subscriberId')
    );
  }

  private payor(coverage: Resource): Reference<never> | null {
    for (const reference of listAt(coverage, 'payor')) {
      const target = targetOf(reference, this.client.base_url);
      if (target.kind === 'local' && target.type === 'Organization')
        return { reference: `Organization/${target.id}`, ...displayOf(reference) };
    }
    return null;
  }
}

function displayOf(reference: Json): { display?: string } {
  const display = textAt(reference, 'display');
  return display === '' ? {} : { display };
}
