import type { RewriteTarget } from "@svc-gateway/common/features/rewrite-target.ts";
import type { Filter } from "./filter.ts";

/** Replaces the path of the upstream request; the access log keeps the one that matched. See docs/features/rewrite-target.md. */
export const rewriteTargetFilter = ({ path }: RewriteTarget): Filter => ({
  slug: "rewrite-target",
  onRequest(exchange) {
    exchange.path = path.value;
    return undefined;
  },
});
