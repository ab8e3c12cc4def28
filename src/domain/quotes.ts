/**
 * Returns `text` without the part between its first and last quotation mark: sentences about an
 * answer quote the payer there, who may have named a patient (G6).
 */
export function unquoted(text: string): string {
  const first = text.indexOf('"');
  if (first === -1) return text;
  const last = text.lastIndexOf('"');
  return `${text.slice(0, first)}"…"${last === first ? '' : text.slice(last + 1)}`;
}
