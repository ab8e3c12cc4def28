/**
 * The three specialties of the service; each is its own path group there (docs/service.md "What the
 * service does").
 */
export const SPECIALTIES = ['dental', 'medical', 'mental_health'] as const;

export type Specialty = (typeof SPECIALTIES)[number];
