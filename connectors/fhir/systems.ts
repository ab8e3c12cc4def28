/**
 * The systems by which eligd recognizes identifiers and codes, and those that it writes. An entry
 * is the URI of a system or the code of an identifier type (HL7 v2 table 0203).
 */
export const DEFAULT_SYSTEMS = {
  npi: ['http://hl7.org/fhir/sid/us-npi', 'urn:oid:2.16.840.1.113883.4.6', 'NPI'],
  tax_id: ['urn:oid:2.16.840.1.113883.4.4', 'http://hl7.org/fhir/sid/us-ein', 'TAX', 'EN'],
  payer_id: ['urn:oid:2.16.840.1.113883.6.300', 'http://hl7.org/fhir/sid/naic', 'NIIP', 'PAYERID'],
  member_id: ['MB'],
  claim_number: ['uc'],
  group: ['group'],
  procedure: [
    'http://www.ada.org/cdt',
    'urn:oid:2.16.840.1.113883.6.13',
    'http://www.ama-assn.org/go/cpt',
    'urn:oid:2.16.840.1.113883.6.12',
    'http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets',
    'https://bluebutton.cms.gov/resources/codesystem/hcpcs',
    'urn:oid:2.16.840.1.113883.6.285',
  ],
  diagnosis: [
    'http://hl7.org/fhir/sid/icd-10-cm',
    'http://hl7.org/fhir/sid/icd-10',
    'urn:oid:2.16.840.1.113883.6.90',
  ],
};

export const CDT = 'http://www.ada.org/cdt';
export const CPT = 'http://www.ama-assn.org/go/cpt';
export const HCPCS = 'http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets';
export const X12_SERVICE_TYPES = 'https://x12.org/codes/service-type-codes';
export const BENEFIT_TYPES = 'http://terminology.hl7.org/CodeSystem/benefit-type';
export const BENEFIT_UNITS = 'http://terminology.hl7.org/CodeSystem/benefit-unit';
export const BENEFIT_TERMS = 'http://terminology.hl7.org/CodeSystem/benefit-term';
export const BENEFIT_NETWORKS = 'http://terminology.hl7.org/CodeSystem/benefit-network';
export const PROVENANCE_PARTICIPANTS =
  'http://terminology.hl7.org/CodeSystem/provenance-participant-type';
export const ADJUDICATIONS = 'http://terminology.hl7.org/CodeSystem/adjudication';
export const CLAIM_TYPES = 'http://terminology.hl7.org/CodeSystem/claim-type';
export const PAYMENT_TYPES = 'http://terminology.hl7.org/CodeSystem/ex-paymenttype';
export const LOINC = 'http://loinc.org';
