import { filterOrder } from "../proxy/src/filters/order.ts";

/** The page docs/filter-order.md, from the list that the proxy builds filters with. */
export function filterOrderPage(): string {
  return `# The order of filters

<!-- Written by scripts/generate-docs.ts from proxy/src/filters/order.ts and scripts/generate-docs-filters.ts; change it there. -->

What a route does to a request, besides forwarding it, is done by filters. A filter is one feature on one route, built
once when the route is applied; a route without a feature pays nothing for it. \`proxy/src/filters/order.ts\` is the one
list that says what builds them and in which order they run, with the reason of each; the compiler rejects a feature
without a place.

Two principles make the order:

- A refusal that costs little comes before one that costs much: an address is compared before a password is hashed, and a
  password before another service is asked.
- Everything that may refuse comes before everything that copies, changes or buffers the request. A mirror never sees
  what is refused.

The filters run from the top of this table to its end:

| Filter | Why it has this place |
| --- | --- |
${filterOrder.map(({ slug, why }) => `| [\`${slug}\`](features/${slug}.md) | ${why} |`).join("\n")}

Response hooks run in the same order, for answers of the proxy itself as well. What transforms the body comes last.

[Filters of a listener](features/listener-filters.md) run before a route is chosen, in the order of their list.

Filters of a backend run after those of its route, when the backend has been chosen; they cannot wait. On the way back
they come first, because they are nearer to the upstream, and the route has the last word. They see the response of the
backend as well as what the proxy answers in its place; what the proxy answers before it has chosen a backend they do not.
`;
}
