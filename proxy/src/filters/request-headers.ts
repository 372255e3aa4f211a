import type { HeaderField, HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import type { Filter } from "../exchange/filter.ts";
import { compileHeaderModifier } from "./header-modifier.ts";

const isHost = ({ name }: HeaderField): boolean => name.toLowerCase() === "host";

/**
 * Changes the fields of the upstream request, including the proxy's forwarding fields. Host is not a field of the
 * list: setting it names the host that the upstream sees. See docs/features/request-headers.md.
 */
export function requestHeadersFilter(modifier: HeaderModifier): Filter {
  const host = modifier.set?.findLast(isHost)?.value;
  const fields = modifier.set?.filter((field) => !isHost(field));
  const apply = compileHeaderModifier({ ...modifier, set: fields });
  const { set = [], remove = [] } = modifier;
  return {
    slug: "request-headers",
    ownedFields: [...set.map(({ name }) => name), ...remove],
    onRequest(exchange) {
      apply(exchange.headers);
      if (host !== undefined) exchange.upstreamAuthority = host;
      return undefined;
    },
  };
}
