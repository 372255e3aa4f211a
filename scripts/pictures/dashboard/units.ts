/** Values in the notation of Grafana, for the units that the dashboards use (scripts/monitoring/board.ts). */

type Scale = readonly { readonly from: number; readonly divisor: number; readonly suffix: string }[];

const thousands = (suffix: string): Scale => [
  { from: 1e9, divisor: 1e9, suffix: `G${suffix}` },
  { from: 1e6, divisor: 1e6, suffix: `M${suffix}` },
  { from: 1e3, divisor: 1e3, suffix: `k${suffix}` },
  { from: 0, divisor: 1, suffix },
];

const day = 86_400;

const scales: Readonly<Record<string, Scale>> = {
  short: thousands(""),
  reqps: thousands(" req/s"),
  ops: thousands(" ops/s"),
  Bps: thousands("B/s").map((step, index) => ({ ...step, suffix: index === 3 ? " B/s" : ` ${step.suffix}` })),
  bytes: [
    { from: 1024 ** 3, divisor: 1024 ** 3, suffix: " GiB" },
    { from: 1024 ** 2, divisor: 1024 ** 2, suffix: " MiB" },
    { from: 1024, divisor: 1024, suffix: " KiB" },
    { from: 0, divisor: 1, suffix: " B" },
  ],
  percentunit: [{ from: 0, divisor: 0.01, suffix: "%" }],
  s: [
    { from: 365 * day, divisor: 365 * day, suffix: " years" },
    { from: 7 * day, divisor: 7 * day, suffix: " weeks" },
    { from: day, divisor: day, suffix: " days" },
    { from: 3600, divisor: 3600, suffix: " hours" },
    { from: 60, divisor: 60, suffix: " mins" },
    { from: 1, divisor: 1, suffix: " s" },
    { from: 1e-3, divisor: 1e-3, suffix: " ms" },
    { from: 0, divisor: 1e-6, suffix: " µs" },
  ],
};

/** A value with its unit, with three digits. Throws for a unit that no dashboard uses. */
export function formatValue(unit: string, value: number): string {
  const [, ownSuffix] = /^suffix:(.*)$/.exec(unit) ?? [];
  if (ownSuffix !== undefined) return `${inThreeDigits(value)}${ownSuffix}`;
  const scale = scales[unit];
  if (scale === undefined) {
    throw new Error(
      `no scale for the unit ${unit}, expected suffix: or one of ${Object.keys(scales).join(", ")}`,
    );
  }
  const step = scale.find(({ from }) => Math.abs(value) >= from) ?? scale.at(-1);
  if (value === 0) return `0${unit === "s" ? " s" : (step?.suffix ?? "")}`;
  return `${inThreeDigits(value / (step?.divisor ?? 1))}${step?.suffix ?? ""}`;
}

const inThreeDigits = (value: number): number => Number(value.toPrecision(3));

/** Three to six round values from 0, or from the lowest value, up to one that no value exceeds. */
export function ticksOf(unit: string, low: number, high: number): readonly number[] {
  const base = unit === "bytes" ? 1024 : 10;
  const span = high > low ? high - low : 1;
  const magnitude = base ** Math.floor(Math.log(span / 4) / Math.log(base));
  const steps = unit === "bytes" ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] : [1, 2, 2.5, 5, 10];
  const step = (steps.find((one) => (one * magnitude * 4) / span >= 1) ?? base) * magnitude;
  const first = Math.floor(low / step);
  const last = Math.ceil(Math.max(high, low + span) / step - 1e-9);
  return Array.from({ length: Math.max(2, last - first + 1) }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}
