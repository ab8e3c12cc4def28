import { created, matchesSearchRequest, type SearchRequest } from '@medplum/core';
import { MemoryRepository } from '@medplum/fhir-router';
import type { Bundle, OperationOutcome, Resource } from '@medplum/fhirtypes';

type Stored<Type extends Resource> = Type & { id: string };

/**
 * The MemoryRepository with an index of patients and identifiers, because it scans every resource
 * of a type in each search, which takes seconds with hundreds of patients. @medplum/core still
 * decides which resources match.
 */
export class IndexedRepository extends MemoryRepository {
  private readonly index = new Map<string, Map<string, Resource>>();

  override async createResource<Type extends Resource>(
    resource: Type,
    ...rest: [object?, boolean?]
  ): Promise<Stored<Type>> {
    const stored = (await super.createResource(resource, ...rest)) as Stored<Type>;
    for (const held of this.index.values()) held.delete(`${stored.resourceType}/${stored.id}`);
    for (const key of keysOf(stored)) {
      const held = this.index.get(key) ?? new Map<string, Resource>();
      this.index.set(key, held.set(`${stored.resourceType}/${stored.id}`, structuredClone(stored)));
    }
    return stored;
  }

  override async search<Type extends Resource>(
    request: SearchRequest<Type>,
  ): Promise<Bundle<Stored<Type>>> {
    const candidates = this.candidates(request);
    if (candidates === null) return await super.search(request);
    const matches = candidates.filter((resource) => matchesSearchRequest(resource, request));
    const page = matches.slice(
      request.offset ?? 0,
      (request.offset ?? 0) + (request.count ?? matches.length),
    );
    const entry = page.map((resource) => ({
      search: { mode: 'match' as const },
      resource: structuredClone(resource) as Stored<Type>,
    }));
    return {
      resourceType: 'Bundle',
      type: 'searchset',
      total: matches.length,
      ...(entry.length === 0 ? {} : { entry }),
    };
  }

  override async conditionalCreate<Type extends Resource>(
    resource: Type,
    search: SearchRequest<Type>,
    options?: object,
  ): Promise<{ resource: Stored<Type>; outcome: OperationOutcome }> {
    const candidates = this.candidates(search);
    const found = candidates?.filter((one) => matchesSearchRequest(one, search));
    if (found === undefined || found.length > 0)
      return await super.conditionalCreate(resource, search, options);
    // No await between the search and the create, so that no other create comes between.
    const stored = await this.createResource(resource, options);
    return { resource: stored, outcome: created };
  }

  override async deleteResource(type: string, id: string, options?: object): Promise<void> {
    await super.deleteResource(type, id, options);
    for (const held of this.index.values()) held.delete(`${type}/${id}`);
  }

  /** Null: the whole type must be searched. */
  private candidates({
    resourceType,
    filters = [],
    include,
    revInclude,
    sortRules,
  }: SearchRequest): Resource[] | null {
    if (include !== undefined || revInclude !== undefined || sortRules !== undefined) return null;
    const filter = filters.find(({ code }) => code === 'patient' || code === 'identifier');
    if (filter === undefined || filter.value.includes(',')) return null;
    return [...(this.index.get(`${resourceType} ${filter.value}`)?.values() ?? [])];
  }
}

function keysOf(resource: Resource): string[] {
  const { resourceType, identifier, patient, beneficiary } = resource as Resource & {
    identifier?: { system?: string; value?: string }[];
    patient?: { reference?: string };
    beneficiary?: { reference?: string };
  };
  const identifiers = Array.isArray(identifier)
    ? identifier.map(({ system, value }) => `${system}|${value}`)
    : [];
  const people = [patient?.reference, beneficiary?.reference].filter(
    (reference) => reference !== undefined,
  );
  return [...identifiers, ...people].map((value) => `${resourceType} ${value}`);
}
