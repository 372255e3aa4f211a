/**
 * Values of fields of the gateway's own resources and what becomes of them. The schemas, a real API server and the
 * translation are all held to these tables, so that they cannot drift apart.
 */
/**
 * `taken`: it is used as written. `refused`: the schema rejects it. `equal`: it means the same as `instead`, without a
 * finding. `ignored`: it means the same as `instead`, and a finding names the field. `off`: the resource does nothing,
 * and a finding names the field. `closed`: all clients of the resource are rejected, and a finding or a status gives
 * the reason.
 */
export type FieldVerdict = "taken" | "refused" | "equal" | "ignored" | "off" | "closed";

export type FieldCase = {
  readonly value: unknown;
  readonly verdict: FieldVerdict;
  /** The value that has the same effect; undefined if an absent field has it. */
  readonly instead?: unknown;
};

export type ResourceCases = {
  /** A spec of which every part is used. */
  readonly full: object;
  /** By the path of the field in the spec. */
  readonly fields: { readonly [path: string]: readonly FieldCase[] };
};

const of =
  (verdict: FieldVerdict) =>
  (...values: readonly unknown[]): readonly FieldCase[] =>
    values.map((value) => ({ value, verdict }));

export const taken = of("taken");
export const refused = of("refused");
export const off = of("off");
export const closed = of("closed");

export const equalTo = (instead: unknown, ...values: readonly unknown[]): readonly FieldCase[] =>
  values.map((value) => ({ value, verdict: "equal", instead }));

export const ignoredFor = (instead: unknown, ...values: readonly unknown[]): readonly FieldCase[] =>
  values.map((value) => ({ value, verdict: "ignored", instead }));

/** Null counts as absent; a field that is required refuses it. */
export const optional = equalTo(undefined, null);
export const required = refused(null, undefined);

export const badDurations = ["soon", "5", "-5s", "1h 30m", "25h", "1d", "s", "", "1\u0000s", "9".repeat(250)];
/** A duration whose bad values mean that it is absent. */
export const duration = [
  ...taken("1ms", "1.5s", "24h"),
  ...equalTo(undefined, "0", "0s"),
  ...ignoredFor(undefined, ...badDurations),
  ...refused(5, true, {}, ["1s"], "1".repeat(257)),
  ...optional,
];

export const switchable = [...taken(true, false), ...refused("true", 0, 1, {}, []), ...optional];

export const badRanges = [
  "localhost",
  "10.0.0.0/33",
  "10.0.0",
  "10.0.0.1-9",
  "",
  "10.0.0.1\u0000",
  "fe80::1%eth0",
];
export const range = "10.0.0.0/8";
export const tooMany = (count: number, value: unknown): unknown => Array.from({ length: count }, () => value);

/** Names that are not allowed in a list of headers: those that the gateway itself sets, or that frame a message. */
export const reservedHeaders = [
  "Host",
  "content-length",
  "Transfer-Encoding",
  "Connection",
  "X-SSL-Client-Cert",
];
export const wrongNames = ["", "X User", "X-Ä", "X:Y", "X\r\nY", "\u0000", "x".repeat(257)];

/** Lists of targets that the schema rejects. */
export const targets = (kind: string, sectionName?: string): readonly FieldCase[] => [
  ...refused({}, "web", [{}], [{ kind, name: "" }], [{ kind: "Pod", name: "web" }], [{ kind, name: 1 }]),
  ...refused([{ group: "apps", kind, name: "web" }], [{ kind, name: "n".repeat(254) }]),
  ...refused(
    tooMany(2, { kind, name: "web", ...(sectionName !== undefined && { sectionName }) }),
    Array.from({ length: 17 }, (_, index) => ({ name: `web-${index}` })),
  ),
];
