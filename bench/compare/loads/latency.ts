import { compiled } from "../programs.ts";
import { benchHost, benchPath } from "../setup.ts";
import { numberIn, runPinned, type Load } from "./load.ts";

/**
 * `rate` requests per second on 64 connections, as an open loop: latencies are measured from the time at which a
 * request was due.
 */
export function fixedRate(rate: number): Load {
  return async ({ ports }, seconds) => {
    // The first half second does not count.
    const args = [ports.http, benchHost, benchPath, 64, rate, Math.max(seconds, 3)].map(String);
    const text = await runPinned(compiled("fixed-rate"), args);
    return {
      units: numberIn(text, /answered (\d+)/),
      errors: numberIn(text, /errors (\d+)/),
      values: {
        p50: percentile(text, "p50"),
        p99: percentile(text, "p99"),
        "p99.9": percentile(text, "p99.9"),
      },
    };
  };
}

/** A percentile in microseconds; NaN if no request was answered. */
const percentile = (text: string, name: string): number => {
  const words = text.trim().split(" ");
  return Number(words[words.indexOf(name) + 1] ?? Number.NaN);
};
