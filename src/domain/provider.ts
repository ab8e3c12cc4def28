import type { AppointmentInput } from './appointment.ts';
import { taxIdDigits } from './identifiers.ts';
import type { ClinicProfile } from './policy.ts';
import type { Specialty } from './specialty.ts';

export type Provider = {
  specialty: Specialty;
  tax_id: string;
  billing_npi: string;
  rendering_npi: string;
  is_specialist: boolean;
  /** Null: the service finds it out. */
  in_network: boolean | null;
  /** Empty: unknown. */
  place_of_service: string;
};

type Treated = Pick<AppointmentInput, 'specialty' | 'provider' | 'location' | 'place_of_service'>;

/**
 * Determines the provider's details. Each value comes from the appointment, or else from the
 * provider's entry, the location's, or the clinic's.
 */
export function effectiveProvider(appointment: Treated, clinic: ClinicProfile): Provider {
  const { provider } = appointment;
  const by_provider = clinic.providers.get(provider.rendering_npi) ?? {};
  const by_location = clinic.locations.get((appointment.location ?? '').trim().toLowerCase()) ?? {};
  const tax_id = provider.tax_id || (by_provider.tax_id ?? by_location.tax_id ?? clinic.tax_id);
  return {
    specialty:
      appointment.specialty ?? by_provider.specialty ?? by_location.specialty ?? clinic.specialty,
    // Tax IDs that differ only in punctuation must not cause another need and another call.
    tax_id: taxIdDigits(tax_id) ?? tax_id,
    billing_npi:
      provider.billing_npi ||
      (by_provider.billing_npi ?? by_location.billing_npi ?? clinic.billing_npi),
    rendering_npi: provider.rendering_npi,
    is_specialist:
      provider.is_specialist ??
      by_provider.is_specialist ??
      by_location.is_specialist ??
      clinic.is_specialist,
    in_network:
      provider.in_network ?? by_provider.in_network ?? by_location.in_network ?? clinic.in_network,
    place_of_service:
      appointment.place_of_service ||
      (by_provider.place_of_service ??
        by_location.place_of_service ??
        clinic.place_of_service ??
        ''),
  };
}
