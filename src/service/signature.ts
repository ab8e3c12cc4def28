/**
 * The signature of a webhook message (docs/service.md "Events"): HMAC-SHA256 over the raw body, in
 * lower-case hexadecimal.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Returns the value of `X-Service-Signature` for these bytes. */
export function sign(body: Buffer, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/**
 * Returns whether one of the secrets made the signature over exactly these bytes. Accepts several
 * secrets, so that a secret can be replaced while messages under the old one are in transit. Empty
 * secrets never match. Takes the same time whichever one matches.
 */
export function verifySignature(delivery: {
  body: Buffer;
  signature: string | undefined;
  secrets: string[];
}): boolean {
  const { body, signature, secrets } = delivery;
  if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  let is_valid = false;
  for (const secret of secrets) {
    if (secret === '') continue;
    const expected = createHmac('sha256', secret).update(body).digest();
    if (timingSafeEqual(expected, given)) is_valid = true;
  }
  return is_valid;
}
