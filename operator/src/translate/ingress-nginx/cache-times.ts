/** How long nginx caches responses by their status (`proxy_cache_valid`). */
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { quote } from "../text.ts";

type Times = NonNullable<UrlCheck["cache"]>["times"];

const msPerUnit: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 },
  // Months and years as nginx counts them.
  ...{ M: 2_592_000_000, y: 31_536_000_000 },
};

/** The longest time for which an answer is kept. */
const maxMs = 31_536_000_000;

/** Reads entries such as `200 202 5m`. A time alone applies to 200, 301 and 302; `any` applies to every status. */
export function readCacheTimes(entries: readonly string[]): Result<Times> {
  const times: Times[number][] = [];
  for (const entry of entries) {
    const words = entry.split(/\s+/);
    const ms = readTime(words.pop() ?? "");
    const isValid = words.every((word) => word === "any" || /^[1-5]\d\d$/.test(word));
    if (ms === undefined || !isValid) {
      return problem(`${quote(entry)} is not known`, 'statuses and a time, such as "200 202 401 5m"');
    }
    if (words.includes("any")) times.push({ ms });
    else times.push({ statuses: words.length === 0 ? [200, 301, 302] : words.map(Number), ms });
  }
  return ok(times);
}

/** A time of nginx in milliseconds, such as `90`, `5m` or `1h30m`. */
function readTime(text: string): number | undefined {
  if (!/^(?:\d{1,10}(?:ms|[smhdwMy])?)+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, digits = "", unit = "s"] of text.matchAll(/(\d+)(ms|[smhdwMy])?/g)) {
    ms += Number(digits) * (msPerUnit[unit] ?? 0);
  }
  return Math.min(ms, maxMs);
}
