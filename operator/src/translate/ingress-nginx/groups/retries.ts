/** Retries on other endpoints. See docs/ingress-nginx.md, "Retries". */
import type { Retry } from "@svc-gateway/common/features/retry.ts";
import { maxDurationMs } from "@svc-gateway/common/values/duration.ts";
import {
  proxyNextUpstream,
  proxyNextUpstreamTimeout,
  proxyNextUpstreamTries,
} from "../annotations/forwarding.ts";
import type { Group } from "./group.ts";

/** nginx, which has no such limit, could repeat a request indefinitely. */
const maxTries = 32;

const conditionOf = { error: "error", timeout: "timeout", invalid_header: "invalid-response" } as const;
const conditionWords = ["error", "timeout", "invalid_header"] as const;

export const retries: Group = (read, { differs, nginx }) => {
  const words = new Set(read(proxyNextUpstream)?.split(/ +/));
  const wantedTries = read(proxyNextUpstreamTries) ?? 0;
  if (wantedTries > maxTries && read.sourceOf(proxyNextUpstreamTries) === "annotation") {
    differs(proxyNextUpstreamTries, `a request is sent at most ${maxTries} times`);
  }
  const tries = wantedTries === 0 ? maxTries : Math.min(wantedTries, maxTries);
  if (words.size === 0 || words.has("off") || tries === 1) return {};
  const withinMs = Math.min((read(proxyNextUpstreamTimeout) ?? 0) * 1000, maxDurationMs);
  const everyMethod = words.has("non_idempotent") || nginx.config.keys.retryNonIdempotent;
  const retry: Retry = {
    attempts: tries - 1,
    codes: [...words]
      .flatMap((word) => (word.startsWith("http_") ? Number(word.slice(5)) : []))
      .sort((a, b) => a - b),
    conditions: conditionWords.flatMap((word) => (words.has(word) ? conditionOf[word] : [])),
    ...(everyMethod && { everyMethod }),
    ...(withinMs > 0 && { withinMs }),
  };
  return { features: { retry } };
};
