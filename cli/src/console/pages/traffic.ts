import { html } from "../html.ts";
import type { Page } from "../layout.ts";
import { badge, card, countOf, linkTo, paged, pager, stat, table } from "../parts.ts";
import type { Traffic } from "../traffic.ts";
import { createFilter, pageOf, textOf, type View } from "../view.ts";

/** Requests and errors by route, if this process serves requests. */
export function trafficPage(view: View, traffic: Traffic | undefined): Page {
  const path = "/traffic";
  if (traffic === undefined) {
    return {
      title: "Traffic",
      path,
      body: card(
        "No data",
        html`<p class="note">
          A controller does not see requests: proxies count them, and Prometheus collects the counts from
          each. Ask for <code>sum by (route) (rate(svc_proxy_requests_total[5m]))</code> there. See
          docs/reference/metrics.md.
        </p>`,
      ),
    };
  }
  const query = textOf(view, "q");
  const holds = createFilter(query);
  const shown = paged(
    traffic.rows.filter(({ route }) => holds(route)),
    pageOf(view),
  );
  const total = sumOf(traffic, "requests");
  const errors = sumOf(traffic, "errors");
  const rate = decimal(traffic.rows.reduce((sum, row) => sum + row.rate, 0));
  const span = Math.round(traffic.spanMs / 1000);
  return {
    title: "Traffic",
    lead: `Counts since the start of the process; rates over the last ${countOf(span, "second")}. Load the page again for the present.`,
    path,
    query,
    body: html`<div class="stats">
        ${stat(rate, "requests per second", path)} ${stat(total, "requests", path)}
        ${stat(errors, "answered 5xx", path, errors > 0 ? "warn" : "plain")}
      </div>
      ${card(
        "By route",
        html`${table(
          [
            { name: "Route" },
            { name: "Per second", isNumber: true },
            { name: "Requests", isNumber: true },
            { name: "5xx", isNumber: true },
          ],
          shown.rows.map(({ route, rate: ofRoute, requests, errors: ofErrors }) => [
            route === ""
              ? html`<span class="soft">no route</span>`
              : html`<a href="${linkTo("/routes", { q: route })}"><code>${route}</code></a>`,
            decimal(ofRoute),
            requests,
            ofErrors === 0 ? "0" : badge(String(ofErrors), "bad"),
          ]),
          "No request has been served yet.",
        )}${pager(path, { q: query }, shown)}`,
      )}`,
  };
}

const sumOf = ({ rows }: Traffic, key: "requests" | "errors"): number =>
  rows.reduce((sum, row) => sum + row[key], 0);

const decimal = (value: number): string => (value < 10 ? value.toFixed(1) : String(Math.round(value)));
