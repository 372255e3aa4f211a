/** Names that no longer have an effect in ingress-nginx, and names that are often written but never had one. */
import type { FormerAnnotation } from "./declare.ts";

const instead = (name: string, text: string): FormerAnnotation => ({ name, instead: text });
const family = (name: string, text: string): FormerAnnotation => ({ name, isPrefix: true, instead: text });

export const formerAnnotations: readonly FormerAnnotation[] = [
  instead("secure-backends", 'Use backend-protocol: "HTTPS".'),
  instead("grpc-backend", 'Use backend-protocol: "GRPC".'),
  instead("secure-verify-ca-secret", "Use proxy-ssl-secret and proxy-ssl-verify."),
  instead("add-base-url", "Set the base URL in the application."),
  instead("base-url-scheme", "Set the base URL in the application."),
  instead("session-cookie-hash", "Session cookies no longer depend on a hash."),
  instead("session-cookie-partitioned", "Use sessionPersistence.cookie.partitioned of a SvcBackendPolicy."),
  instead("configmap-name", "Use custom-headers."),
  instead("enable-influxdb", "Metrics are read from the proxies' /metrics."),
  family("influxdb-", "Metrics are read from the proxies' /metrics."),
  family("lua-resty-waf", "There is no web application firewall."),
  family("global-rate-limit", "Use limit-rps or limit-rpm, which count on each proxy."),
  instead("enable-opentracing", "Traces are enabled for all requests, by --tracing-endpoint."),
  instead("opentracing-trust-incoming-span", "Use --tracing-trusted-cidrs and --tracing-follow-caller."),
  instead("proxy-max-body-size", "Use proxy-body-size."),
  instead("client-max-body-size", "Use proxy-body-size."),
  instead("max-body-size", "Use proxy-body-size."),
  instead("body-size", "Use proxy-body-size."),
  instead("websocket-services", "WebSockets need no annotation."),
  instead("eventsource", "Responses are streamed without an annotation."),
  instead("server-snippets", "The name is server-snippet."),
  instead("configuration-snippets", "The name is configuration-snippet."),
  instead("rate-limit-rps", "Use limit-rps."),
  instead("ingress.class", "The class is spec.ingressClassName."),
];
