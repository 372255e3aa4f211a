import { filterOrder } from "../proxy/src/filters/order.ts";

/** Generates docs/filter-order.md from the list with which the proxy builds filters. */
export function filterOrderPage(): string {
  return `# Order of filters

<!-- Written by scripts/generate-docs.ts from proxy/src/filters/order.ts and scripts/generate-docs-filters.ts; change it there. -->

Filters do everything that a route does to a request besides forwarding it. A filter is one feature on one route, built
once when the route is applied; a feature that a route does not use costs nothing. \`proxy/src/filters/order.ts\` lists all
filters in their order, with the reason for each place; the compiler rejects a feature without a place.

The order has two principles:

- Cheap checks come before expensive ones: an address is compared before a password is hashed, and a password is hashed
  before another service is called.
- Filters that may reject a request come before filters that copy, change or buffer it. A mirror never receives rejected
  requests.

The filters run in the order of this table. A filter that is listed twice runs once, at the place that its settings choose: an
[Ingress of an ingress-nginx class](migrating-from-ingress-nginx.md) is answered with redirects and preflights before addresses, limits
and credentials are checked, because its author wrote it for that order. Such an answer discloses only what the annotation says.

![The way of a request, with every filter at its place](images/request.svg)

| Filter | Reason for its place |
| --- | --- |
${filterOrder.map(({ slug, why }) => `| [\`${slug}\`](features/${slug}.md) | ${why} |`).join("\n")}

Response hooks run in the same order, also for responses of the proxy itself. Transformations of the body come last.

[Filters of a listener](features/listener-filters.md) run before a route is chosen, in the order of their list.

Filters of a backend run after those of its route, when the backend has been selected; they cannot wait. On the response
they run first, because they are closer to the upstream, and those of the route override them. They see the responses of
the backend and those that the proxy sends in its place, but not those of the proxy before a backend is selected.
`;
}
