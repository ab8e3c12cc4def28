/** An inquiry's id as the service generated it (docs/service.md "Inquiry (read form)"). */
export type InquiryId = string & { readonly __brand: 'InquiryId' };

/** Takes a text of the wire or of the store for an inquiry's id at the service. */
export function inquiryId(text: string): InquiryId {
  return text as InquiryId;
}
