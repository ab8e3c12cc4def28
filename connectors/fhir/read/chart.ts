import type { Json, Resource } from '../element.ts';
import type { Capability } from '../server/capability.ts';
import type { FhirClient } from '../server/client.ts';
import { FhirError, unlessRefused } from '../server/failure.ts';
import { containedIn, isPatient, logicalResource, targetOf, targetType } from './references.ts';

/**
 * The server's resources in one pull: those included with the appointments, and those read one by
 * one. Each is read once, even if many others refer to it.
 */
export class Chart {
  private readonly client: FhirClient;
  private readonly capability: Capability;
  private readonly signal: AbortSignal;
  private readonly known = new Map<string, Promise<Resource | null>>();
  private readonly by_patient = new Map<string, Promise<Resource[]>>();

  constructor(client: FhirClient, capability: Capability, signal: AbortSignal) {
    this.client = client;
    this.capability = capability;
    this.signal = signal;
  }

  keep(included: ReadonlyMap<string, Resource>): void {
    for (const [url, resource] of included) {
      this.known.set(url, Promise.resolve(resource));
      if (resource.id !== undefined)
        this.known.set(`${resource.resourceType}/${resource.id}`, Promise.resolve(resource));
    }
  }

  /**
   * Returns the target of a reference of `container`; null if it is permanently unavailable
   * (absent, forbidden, on another server). For a logical reference, returns its own data. Throws a
   * FhirError on a transient failure.
   */
  async resolve(reference: unknown, container: Json, type: string): Promise<Json | null> {
    const target = targetOf(reference, this.client.base_url);
    switch (target.kind) {
      case 'contained':
        return containedIn(container, target.id);
      case 'elsewhere':
        return (await this.known.get(target.url)) ?? null;
      case 'logical':
        return logicalResource(reference, type);
      case 'local':
        return await this.read(target.type, target.id);
    }
  }

  /** Returns the type of a reference's target; empty if unknown. */
  targetType(reference: Json): string {
    return targetType(reference, this.client.base_url);
  }

  /**
   * Returns the Coverages of a patient, unordered. Throws a FhirError when they cannot be searched.
   */
  async coveragesOf(patient_id: string): Promise<Resource[]> {
    const found = this.by_patient.get(patient_id) ?? this.searchCoverages(patient_id);
    this.by_patient.set(patient_id, found);
    return await found;
  }

  private async searchCoverages(patient_id: string): Promise<Resource[]> {
    const { capability } = this;
    const by =
      capability.searchParameter('Coverage', 'patient') === false ? 'beneficiary' : 'patient';
    const query: [string, string][] = [[by, `Patient/${patient_id}`]];
    if (capability.include('Coverage', 'payor')) query.push(['_include', 'Coverage:payor']);
    const { matches, included, is_partial } = await this.client.searchAll(
      'Coverage',
      query,
      this.signal,
    );
    this.keep(included);
    // If a server ignores the parameter, its answer may contain another patient's coverage. Then
    // even a beneficiary without a reference may be anyone.
    const { base_url } = this.client;
    const possible = matches.filter(({ beneficiary }) =>
      isPatient(beneficiary, patient_id, base_url),
    );
    const own =
      possible.length === matches.length
        ? possible
        : possible.filter(({ beneficiary }) => targetOf(beneficiary, base_url).kind !== 'logical');
    // The search was incomplete, so no result does not prove that there is no coverage; the patient
    // would look like self-pay (G8).
    if (own.length === 0 && is_partial)
      throw new FhirError('refused', {
        what: 'The FHIR server could not search all that it has of Coverage.',
      });
    return own;
  }

  private async read(type: string, id: string): Promise<Resource | null> {
    const name = `${type}/${id}`;
    const found = this.known.get(name) ?? this.readOnce(type, id);
    this.known.set(name, found);
    return await found;
  }

  private async readOnce(type: string, id: string): Promise<Resource | null> {
    const resource = await unlessRefused(() => this.client.read(type, id, this.signal));
    return resource?.resourceType === type ? resource : null;
  }
}
