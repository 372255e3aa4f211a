/** More digits than this may not be exact as a number. */
const maxExactDigits = 15;
const digitZero = 0x30;

/** The number whose decimal digits are all that is at `start` to `end` of a text, written in the shortest way. */
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
