import type { HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import type { Filter } from "../exchange/filter.ts";
import { compileHeaderModifier } from "./header-modifier.ts";

/** Changes the fields of every response of the route, including the proxy's own. See docs/features/response-headers.md. */
export function responseHeadersFilter(modifier: HeaderModifier): Filter {
  const apply = compileHeaderModifier(modifier);
  const { set = [], remove = [] } = modifier;
  const removesDate = remove.some((name) => name.toLowerCase() === "date");
  return {
    slug: "response-headers",
    ownedResponseFields: [...set.map(({ name }) => name), ...remove],
    onResponse(_exchange, head) {
      apply(head.headers);
      if (removesDate) head.undated = true;
    },
  };
}
