import type { ResponseHeaders } from "@svc-gateway/common/features/response-headers.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { compileHeaderModifier } from "./header-modifier.ts";
import { compileResponseRewrites } from "./response-rewrites.ts";

/** Changes the fields of every response of the route, including the proxy's own. See docs/features/response-headers.md. */
export function responseHeadersFilter(modifier: ResponseHeaders): Filter {
  const apply = compileHeaderModifier(modifier);
  const { set = [], setOverTls = [], remove = [], requestId } = modifier;
  const applyOverTls = setOverTls.length === 0 ? undefined : compileHeaderModifier({ set: setOverTls });
  const rewrite = compileResponseRewrites(modifier);
  const removesDate = remove.some((name) => name.toLowerCase() === "date");
  return {
    slug: "response-headers",
    ownedResponseFields: [
      ...[...set, ...setOverTls].map(({ name }) => name),
      ...(requestId === undefined ? [] : [requestId]),
      ...remove,
    ],
    ...(rewrite !== undefined && {
      onRequest: (exchange: Exchange) => {
        exchange.rewriteUpstreamFields = rewrite;
        return undefined;
      },
    }),
    onResponse(exchange, head) {
      if (exchange.connection.listener.secure) applyOverTls?.(head.headers);
      if (requestId !== undefined) head.headers.put([requestId, exchange.requestId]);
      apply(head.headers);
      if (removesDate) head.undated = true;
    },
  };
}
