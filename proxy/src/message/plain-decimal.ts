/** The most decimal digits that a number always represents exactly. */
const maxExactDigits = 15;
const digitZero = 0x30;

/**
 * Returns the decimal number at `start` to `end` of a text; undefined for anything else, leading zeros or over 15
 * digits.
 */
export function decimalAt(text: string, start: number, end: number): number | undefined {
  if (end === start || end - start > maxExactDigits) return undefined;
  if (text.charCodeAt(start) === digitZero && end - start > 1) return undefined;
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - digitZero;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}
