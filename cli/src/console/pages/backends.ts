import { html, type Html } from "../html.ts";
import type { Page } from "../layout.ts";
import type { BackendRow } from "../model/model.ts";
import { badge, card, chip, linkTo, paged, pager, table } from "../parts.ts";
import { createFilter, pageOf, textOf, type View } from "../view.ts";

const maxEndpoints = 20;

/** Services with the endpoints that requests go to. */
export function backendsPage(view: View): Page {
  const query = textOf(view, "q");
  const show = textOf(view, "show") === "empty" ? "empty" : "";
  const holds = createFilter(query);
  const found = view.model.backends.filter(
    (row) =>
      (show === "" || (row.endpoints.length === 0 && row.routes > 0)) && holds(row.name, ...row.endpoints),
  );
  const shown = paged(found, pageOf(view));
  return {
    title: "Backends",
    lead: "Endpoints that are ready, as the EndpointSlices of each Service port say. What a proxy finds out by itself, such as an open circuit breaker, is in its metrics.",
    path: "/backends",
    query,
    body: card(
      "Backends",
      html`${table(
        [
          { name: "Service port" },
          { name: "Health" },
          { name: "Endpoints" },
          { name: "Routes", isNumber: true },
        ],
        shown.rows.map((row) => [
          html`${row.name}${row.scope !== "shared" && html`<small>Gateway ${row.scope}</small>`}`,
          healthOf(row),
          endpointsOf(row),
          html`<a href="${linkTo("/routes", { q: row.service })}">${row.routes}</a>`,
        ]),
        query === "" ? "No backend." : "No backend matches the search.",
      )}${pager("/backends", { q: query, show }, shown)}`,
      html`<div class="filterbar">
        ${[
          ["", "All"],
          ["empty", "Without endpoint"],
        ].map(
          ([value = "", name = ""]) =>
            html`<a
              href="${linkTo("/backends", { q: query, show: value })}"
              ${value === show && html` aria-current="true"`}
              >${name}</a
            >`,
        )}
      </div>`,
    ),
  };
}

function healthOf({ endpoints, resolve, tls, hasPolicy }: BackendRow): Html {
  const state =
    endpoints.length === 0
      ? badge("answers 503", "bad")
      : badge(resolve === "dns" ? "resolved by the proxy" : `${endpoints.length} ready`, "good");
  return html`${state}${tls !== "" && html`<small>TLS by ${tls}</small>`}${hasPolicy && html`<small>has a policy</small>`}`;
}

const endpointsOf = ({ endpoints }: BackendRow): Html => {
  const more = endpoints.length - maxEndpoints;
  return html`${endpoints.slice(0, maxEndpoints).map(chip)}${more > 0 && html`<small>and ${more} more</small>`}`;
};
