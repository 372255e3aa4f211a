/**
 * The treatment of a value. `taken`: it is used as written. `taken in part`: the rest is reported in a warning.
 * `malformed`: it does not have the form, so that the policy rejects it if the annotation has one, and so does the
 * parser. `senseless`: it has the form, but the parser rejects it. `malformed in part`: the policy rejects it, but the
 * parser uses the rest of it.
 */
export type Verdict = "taken" | "taken in part" | "malformed" | "senseless" | "malformed in part";

export type AnnotationCase = readonly [value: string, verdict: Verdict];

export const booleans: readonly AnnotationCase[] = [
  ["true", "taken"],
  ["false", "taken"],
  [" TRUE\n", "taken"],
  ["False", "taken"],
  ["yes", "malformed"],
  ["1", "malformed"],
  ["true false", "malformed"],
  ["truefalse", "malformed"],
  ["", "malformed"],
];

export const durations: readonly AnnotationCase[] = [
  ["30s", "taken"],
  ["1h30m", "taken"],
  ["1.5s", "taken"],
  [".5s", "taken"],
  ["1.s", "taken"],
  ["100us", "taken"],
  ["1ns", "taken"],
  ["0", "taken"],
  ["0s", "taken"],
  [" 15s ", "taken"],
  ["24h", "taken"],
  ["24h1ns", "senseless"],
  ["999999h", "senseless"],
  ["30", "malformed"],
  ["-5s", "malformed"],
  ["+5s", "malformed"],
  ["5 s", "malformed"],
  ["1h 30m", "malformed"],
  ["1d", "malformed"],
  ["5S", "malformed"],
  ["s", "malformed"],
  [".s", "malformed"],
  ["1e3s", "malformed"],
  ["soon", "malformed"],
  ["", "malformed"],
];

export const references: readonly AnnotationCase[] = [
  ["shop/one", "taken"],
  [" shop/one ", "taken"],
  ["a/b.c-d.e", "taken"],
  [`${"n".repeat(63)}/${"o".repeat(253)}`, "taken"],
  [`shop/${"o".repeat(254)}`, "senseless"],
  [`${"n".repeat(64)}/one`, "malformed"],
  ["one", "malformed"],
  ["shop/", "malformed"],
  ["/one", "malformed"],
  ["shop/one/two", "malformed"],
  ["Shop/one", "malformed"],
  ["shop/one two", "malformed"],
  ["shop/-one", "malformed"],
  ["shop/one..two", "malformed"],
  ["sh.op/one", "malformed"],
  ["", "malformed"],
];

export const redirectStatuses: readonly AnnotationCase[] = [
  ["301", "taken"],
  ["302", "taken"],
  ["307", "taken"],
  [" 308 ", "taken"],
  ["303", "malformed"],
  ["300", "malformed"],
  ["200", "malformed"],
  ["0301", "malformed"],
  ["permanent", "malformed"],
  ["", "malformed"],
];

export const fieldLines: readonly AnnotationCase[] = [
  ["X-A: 1", "taken"],
  ["X-A: 1\nX-B: a, b: c\r\nX-C:", "taken"],
  ["\n X-A:1 \n\n", "taken"],
  ["X-A: é", "taken"],
  ["X-A: 1\nConnection: close", "taken in part"],
  ["X-SSL-Client-Cert: x", "taken in part"],
  ["X-A", "malformed"],
  ["X A: 1", "malformed"],
  [": 1", "malformed"],
  ["X-A: 1\rX-B: 2", "malformed"],
  ["X-A: \u0000", "malformed"],
  ["X-Ä: 1", "malformed"],
  ["X-A: 1\nX-B", "malformed"],
  ["", "malformed"],
];

export const fieldNames: readonly AnnotationCase[] = [
  ["X-A", "taken"],
  ["X-A, x-b ,,X_C", "taken"],
  ["X-A, Transfer-Encoding", "taken in part"],
  ["X A", "malformed"],
  ["X-A: 1", "malformed"],
  ["X-A\r\nX-B", "malformed"],
  ["", "malformed"],
  [" , ,", "malformed"],
];

export const corsNames: readonly AnnotationCase[] = [
  ["X-A", "taken"],
  [" Content-Type , x-api-key,, ", "taken"],
  ["*", "taken"],
  [Array.from({ length: 64 }, (_, at) => `X-${at}`).join(","), "taken"],
  [Array.from({ length: 65 }, (_, at) => `X-${at}`).join(","), "malformed"],
  ["X A", "malformed"],
  ["X-A: 1", "malformed"],
  ["X-A\r\nX-B: c", "malformed"],
  ["X-Ä", "malformed"],
  [",", "malformed"],
  ["", "malformed"],
];
