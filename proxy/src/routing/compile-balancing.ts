import type { Balancing } from "@svc-gateway/common/ir/balancing.ts";
import type { CompiledBalancing } from "../upstream/upstream.ts";
import { compileRequestTemplate } from "./request-template.ts";

/** Compiles the balancing of a route, or of a policy that hashes a template. See docs/features/load-balancing.md. */
export function compileBalancing(balancing: Balancing): CompiledBalancing {
  if (balancing.algorithm !== "hash") return { balancing, keyOf: undefined };
  const { algorithm, key, subset } = balancing;
  return { balancing: { algorithm, subset }, keyOf: compileRequestTemplate(key) };
}
