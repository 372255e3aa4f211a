import { arrow, box, label, linesOf, picture, width, type Shape } from "./svg.ts";

export type Step = { readonly slug: string; readonly why: string };

const before = [
  ["listener", "PROXY protocol, TLS by server name, then HTTP/1.1 or HTTP/2"],
  ["host and path", "framing and size limits; one well-formed Host; the path is normalised"],
  ["filters of the listener", "where a policy of the Gateway has some"],
  ["route", "by host, path and match; 404 when nothing serves it"],
] as const;

const after = [
  ["backend and endpoint", "a backend by weight, an endpoint by the balancer; 503 when there is none"],
  ["upstream request", "sent, retried within a budget; 502 or 504 when it fails"],
  ["response", "through the response hooks of the same filters, in the same order"],
] as const;

/** Shows the path of a request, with every filter of a route at its place; a filter with two places appears twice. */
export function requestPicture(filters: readonly Step[]): string {
  const shapes: Shape[] = [];
  let y = 10;
  const step = (name: string, why: string, isFilter: boolean): void => {
    const lines = linesOf(why, 82);
    const height = isFilter ? 26 : 34;
    if (y > 10) shapes.push(arrow({ x: 110, y: y - 10 }, { x: 110, y: y - 1 }));
    shapes.push(
      box(
        { x: isFilter ? 25 : 10, y, width: isFilter ? 170 : 200, height },
        [name],
        isFilter ? "accent" : "plain",
      ),
    );
    lines.forEach((line, index) =>
      shapes.push(
        label({ x: 225, y: y + height / 2 + 4 + index * 15 - (lines.length - 1) * 7.5 }, line, {
          soft: true,
        }),
      ),
    );
    y += height + 10;
  };
  for (const [name, why] of before) step(name, why, false);
  for (const { slug, why } of filters) step(slug, why, true);
  for (const [name, why] of after) step(name, why, false);
  const names = filters.map(({ slug }) => slug).join(", ");
  return picture(
    y,
    `A request passes the listener, host and path, filters of the listener, the route, and the filters ${names}, before a backend is chosen. Each step answers or passes it on.`,
    [`<rect width="${width}" height="${y}" fill="none"/>`, ...shapes],
  );
}
