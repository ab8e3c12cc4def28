/**
 * The service's three specialties; each has its own path group (docs/service.md "What the service
 * does").
 */
export const SPECIALTIES = ['dental', 'medical', 'mental_health'] as const;

export type Specialty = (typeof SPECIALTIES)[number];
