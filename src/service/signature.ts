/**
 * The signature of a webhook (docs/service.md "Events"): lower-case hexadecimal HMAC-SHA256 over
 * the raw body.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The value of `X-Service-Signature` for these bytes. */
export function sign(body: Buffer, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/**
 * Whether one of the secrets made the signature over exactly these bytes. Several, so that a secret
 * can be replaced while deliveries under the old one are still on their way. Empty secrets never
 * match. Takes the same time whichever fits.
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
