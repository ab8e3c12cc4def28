/** An inquiry's ID as the service generated it (docs/service.md "Inquiry (read form)"). */
export type InquiryId = string & { readonly __brand: 'InquiryId' };

/** Marks a text from the wire or the store as an inquiry's ID at the service. */
export function inquiryId(text: string): InquiryId {
  return text as InquiryId;
}
