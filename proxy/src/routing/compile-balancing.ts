import type { Balancing } from "@svc-gateway/common/ir/balancing.ts";
import type { CompiledBalancing } from "../exchange/compiled-route.ts";
import { compileRequestTemplate } from "./request-template.ts";

/** Prepares the balancing of a route. See docs/features/load-balancing.md, "Balancing of a route". */
export function compileBalancing(balancing: Balancing): CompiledBalancing {
  if (balancing.algorithm !== "hash") return { balancing, keyOf: undefined };
  const { algorithm, key, subset } = balancing;
  return { balancing: { algorithm, subset }, keyOf: compileRequestTemplate(key) };
}
