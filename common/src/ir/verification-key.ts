import type { PublicKey } from "./credentials.ts";

/** Of RSA moduli, in bits: smaller ones can be factored, and the time of a check grows with the square of the size. */
const minModulusBits = 2_048;
const maxModulusBits = 8_192;
/** Of RSA exponents, in bits; the time of a check grows with it. Usual is 65537, which has 17. */
const maxExponentBits = 32;

/** The coordinates of the largest curve (P-521) take 88 characters. */
const maxCoordinateLength = 88;
/** Characters of the largest modulus, with one leading zero byte as some encoders write it. */
const maxModulusLength = Math.ceil(((maxModulusBits / 8 + 1) * 4) / 3);
const maxExponentLength = 8;
const maxNameLength = 1_024;

/** Keys that a token is tried with: each costs up to some milliseconds of a processor. */
export const maxTriedKeys = 8;

/**
 * Why a key is not used to verify signatures, as the end of a sentence that begins with the key; undefined when it may
 * be used. The limits keep one check below some milliseconds (docs/features/auth-jwt.md, "Keys"). Whether the key is a
 * point of its curve is checked by the cryptographic library.
 */
export function refuseKey({ kty, kid, n = "", e = "", x = "", y = "" }: PublicKey): string | undefined {
  if ((kid?.length ?? 0) > maxNameLength) return `has a kid of more than ${maxNameLength} characters`;
  if (kty !== "RSA") {
    return x.length > maxCoordinateLength || y.length > maxCoordinateLength
      ? "has coordinates that are too long for its curve"
      : undefined;
  }
  if (n.length > maxModulusLength) return `has an RSA modulus of more than ${maxModulusBits} bits`;
  const modulus = Buffer.from(n, "base64url");
  const bits = bitLength(modulus);
  if (bits < minModulusBits || bits > maxModulusBits) {
    return `has an RSA modulus of ${bits} bits, not ${minModulusBits} to ${maxModulusBits}`;
  }
  if (!isOdd(modulus)) return "has an even RSA modulus";
  const exponent = Buffer.from(e, "base64url");
  if (e.length > maxExponentLength || bitLength(exponent) > maxExponentBits) {
    return `has an RSA exponent of more than ${maxExponentBits} bits`;
  }
  // With the exponent 1 anyone can sign: the signature is the padded message.
  return isOdd(exponent) && bitLength(exponent) > 1
    ? undefined
    : "has an RSA exponent that is even or below 3";
}

/** Of an unsigned number, most significant byte first. */
function bitLength(bytes: Uint8Array): number {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first] ?? 0) + 24;
}

const isOdd = (bytes: Uint8Array): boolean => ((bytes.at(-1) ?? 0) & 1) === 1;
