import type { HeaderField } from "@svc-gateway/common/features/header-modifier.ts";
import type { RequestHeaders } from "@svc-gateway/common/features/request-headers.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { hostOf } from "../message/authority.ts";
import { compileRequestTemplate } from "../routing/request-template.ts";
import { compileHeaderModifier } from "./header-modifier.ts";

const isHost = ({ name }: Pick<HeaderField, "name">): boolean => name.toLowerCase() === "host";

/**
 * Changes the fields of the upstream request, including the proxy's forwarding fields. Host is not in the field list:
 * setting it changes the authority of the upstream request. See docs/features/request-headers.md.
 */
export function requestHeadersFilter(modifier: RequestHeaders): Filter {
  const { set = [], remove = [], templates = [] } = modifier;
  const host = set.findLast(isHost)?.value;
  const apply = compileHeaderModifier({ ...modifier, set: set.filter((field) => !isHost(field)) });
  const fills = templates.map(compileTemplate);
  return {
    slug: "request-headers",
    ownedFields: [...set.map(({ name }) => name), ...templates.map(({ name }) => name), ...remove],
    onRequest(exchange) {
      apply(exchange.headers);
      if (host !== undefined) exchange.upstreamAuthority = host;
      for (const fill of fills) fill(exchange);
      return undefined;
    },
  };
}

type Template = NonNullable<RequestHeaders["templates"]>[number];

function compileTemplate({ name, value }: Template): (exchange: Exchange) => void {
  const evaluate = compileRequestTemplate(value);
  if (isHost({ name })) {
    return (exchange) => {
      // A client can control parts of the value. One that is not a host is ignored, because the request would be
      // malformed.
      const host = evaluate(exchange);
      if (hostOf(host) !== undefined) exchange.upstreamAuthority = host;
    };
  }
  const replaced = new Set([name.toLowerCase()]);
  return (exchange) => {
    const text = evaluate(exchange).trim();
    exchange.headers.remove(replaced);
    if (text !== "") exchange.headers.append(name, text);
  };
}
