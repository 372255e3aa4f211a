import type { Board } from "../board.ts";
import { names } from "../metric-names.ts";
import { rateBy, select, shownQuantile } from "../promql.ts";

const { proxy } = names;

const chosen = 'route=~"$route"';

/** For owners of routes: how their routes are answered, and what their Services do. */
export const routesBoard: Board = {
  uid: "svc-gateway-routes",
  title: "svc-gateway / Routes",
  description: "How routes are answered and what their Services do, for their owners.",
  variables: [
    { name: "route", label: "Route", values: `label_values(${proxy.requests}, route)` },
    {
      name: "upstream",
      label: "Service",
      values: `label_values(${proxy.activeUpstreams}, upstream)`,
    },
  ],
  rows: [
    {
      title: "Requests",
      panels: [
        {
          title: "Requests",
          description: "By route.",
          unit: "reqps",
          queries: [{ expr: rateBy("route", proxy.requests, chosen), legend: "{{route}}" }],
        },
        {
          title: "Statuses",
          description: "Requests by status.",
          unit: "reqps",
          queries: [{ expr: rateBy("status_code", proxy.requests, chosen), legend: "{{status_code}}" }],
        },
        {
          title: "Share of 5xx",
          description: "By route; 5xx of the backends and of the proxy.",
          unit: "percentunit",
          limits: [
            { from: null, colour: "transparent" },
            { from: 0.05, colour: "red" },
          ],
          queries: [
            {
              expr: `${rateBy("route", proxy.requests, `${chosen}, status_code=~"5.."`)} / ${rateBy("route", proxy.requests, chosen)}`,
              legend: "{{route}}",
            },
          ],
        },
        {
          title: "Bytes",
          description: "Bodies by route, from clients and to them; counted when a request ends.",
          unit: "Bps",
          queries: [
            { expr: rateBy("route", proxy.requestBytes, chosen), legend: "{{route}} received" },
            { expr: rateBy("route", proxy.responseBytes, chosen), legend: "{{route}} sent" },
          ],
        },
        {
          title: "First byte of backends, 95th percentile",
          description:
            "From the start of an attempt to the head of its response. The rest of a request's duration is proxy and client.",
          unit: "s",
          queries: [
            { expr: shownQuantile(0.95, "route", proxy.upstreamFirstByte, chosen), legend: "{{route}}" },
          ],
        },
        {
          title: "Duration of requests, 95th percentile",
          description: "From the head of a request to the end of its response.",
          unit: "s",
          queries: [
            { expr: shownQuantile(0.95, "route", proxy.requestDuration, chosen), legend: "{{route}}" },
          ],
        },
      ],
    },
    {
      title: "Services",
      panels: [
        {
          title: "Usable endpoints",
          description: "The fewest that any proxy sees. At 0 requests are answered 503.",
          unit: "short",
          queries: [
            {
              expr: `min by (upstream) (${select(proxy.activeUpstreams, 'upstream=~"$upstream"')})`,
              legend: "{{upstream}}",
            },
          ],
        },
        {
          title: "Errors",
          description: "Attempts that failed, by Service and cause.",
          unit: "ops",
          queries: [
            {
              expr: rateBy("upstream, error_type", proxy.upstreamErrors, chosen),
              legend: "{{upstream}} {{error_type}}",
            },
          ],
        },
        {
          title: "Retries",
          description: "By Service and condition.",
          unit: "ops",
          queries: [
            {
              expr: rateBy("upstream, condition", proxy.upstreamRetries, chosen),
              legend: "{{upstream}} {{condition}}",
            },
          ],
        },
        {
          title: "Open circuit breakers",
          description: "Endpoints that get no requests of a route.",
          unit: "short",
          queries: [
            {
              expr: `max by (route, upstream) (${select(proxy.circuitBreakerState, chosen)} == bool 1)`,
              legend: "{{route}} {{upstream}}",
            },
          ],
        },
      ],
    },
  ],
};
