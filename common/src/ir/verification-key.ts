import type { PublicKey } from "./credentials.ts";

/**
 * The size limits of RSA moduli, in bits. Smaller ones can be factored, and the time of a check grows with the square
 * of the size.
 */
const minModulusBits = 2_048;
const maxModulusBits = 8_192;
/**
 * The maximum size of RSA exponents, in bits; the time of a check grows with it. The usual one is 65537, which has 17.
 */
const maxExponentBits = 32;

/** The coordinates of the largest curve (P-521) take 88 characters. */
const maxCoordinateLength = 88;
/** The length of the largest modulus in characters, with one leading zero byte, which some encoders add. */
const maxModulusLength = Math.ceil(((maxModulusBits / 8 + 1) * 4) / 3);
const maxExponentLength = 8;
const maxNameLength = 1_024;

/** The maximum number of keys with which a token is tried; each takes up to some milliseconds of processor time. */
export const maxTriedKeys = 8;

/**
 * Returns the reason why a key is not used to verify signatures, worded as the end of a sentence that begins with the
 * key; undefined if the key can be used. The limits keep one check below some milliseconds (docs/features/auth-jwt.md,
 * "Keys"). The cryptographic library checks whether the key is a point of its curve.
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

/** The bit length of an unsigned number, most significant byte first. */
function bitLength(bytes: Uint8Array): number {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first] ?? 0) + 24;
}

const isOdd = (bytes: Uint8Array): boolean => ((bytes.at(-1) ?? 0) & 1) === 1;
