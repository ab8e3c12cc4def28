/** An inquiry's id as the service generated it (specification, "Inquiry (read form)"). */
export type InquiryId = string & { readonly __brand: 'InquiryId' };

/** Takes a text of the wire or of the store for an inquiry's id at the service. */
export function inquiryId(text: string): InquiryId {
  return text as InquiryId;
}

/** A row of `inquiries`: one need, asked at most once. Not the service's id. */
export type NeedId = number & { readonly __brand: 'NeedId' };

export function needId(row: number): NeedId {
  return row as NeedId;
}

/** A row of `appointments`. Not the PMS's id. */
export type AppointmentId = number & { readonly __brand: 'AppointmentId' };

export function appointmentId(row: number): AppointmentId {
  return row as AppointmentId;
}
