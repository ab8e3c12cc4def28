/**
 * Returns whether a text is an NPI: ten digits with the Luhn check digit over "80840" and the
 * number (45 CFR 162.406; ISO/IEC 7812).
 */
export function isNpi(text: string): boolean {
  if (!/^\d{10}$/.test(text)) return false;
  let sum = 24; // what the prefix 80840 contributes
  for (let index = 0; index < 10; index += 1) {
    const digit = Number(text[index]);
    const doubled = index % 2 === 0 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Returns the nine digits of a tax ID, however it is punctuated; null when it is not one. */
export function taxIdDigits(text: string): string | null {
  const digits = text.replaceAll(/[\s-]/g, '');
  return /^\d{9}$/.test(digits) ? digits : null;
}
