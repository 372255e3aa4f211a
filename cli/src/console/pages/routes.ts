import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import { describeFilters, shareOf } from "../../explain/backends.ts";
import { hideSecrets } from "../hide-secrets.ts";
import { html, type Html, type Part } from "../html.ts";
import type { Page } from "../layout.ts";
import type { RouteRow } from "../model/model.ts";
import { badge, card, chip, definitions, linkTo, paged, pager } from "../parts.ts";
import { createFilter, pageOf, textOf, type View } from "../view.ts";

/** Hosts and routes, each with its filters in the order in which they run. */
export function routesPage(view: View): Page {
  const query = textOf(view, "q");
  const holds = createFilter(query);
  const found = view.model.routes.filter(({ text }) => holds(text));
  const shown = paged(found, pageOf(view));
  return {
    title: "Routes",
    lead: "In the order in which hosts are stored; within a host, in order of precedence.",
    path: "/routes",
    query,
    body: card(
      query === "" ? "All routes" : `Routes with "${query}"`,
      html`<div class="rows">${shown.rows.map((row) => routeDetails(row, shown.rows.length === 1))}</div>
        ${shown.total === 0 && html`<p class="note">No route ${query === "" ? "is served" : "matches the search"}.</p>`}
        ${pager("/routes", { q: query }, shown)}`,
      badge(String(shown.total)),
    ),
  };
}

const routeDetails = (row: RouteRow, isOpen: boolean): Html => {
  const { host, match, route, scope, ports, source, place } = row;
  const filters = describeFilters(route.features);
  return html`<details${isOpen && html` open`}><summary><code>${host}</code> <b>${match}</b> <span class="soft">${summaryOf(route.backends)}</span>${
    filters.length > 0 && badge(`${filters.length} filter${filters.length === 1 ? "" : "s"}`)
  }</summary><div class="inner">${definitions([
    ["Object", html`${source}${place !== "" && html` <span class="soft">${place}</span>`}`],
    ["Findings", html`<a href="${linkTo("/findings", { q: source })}">of this object</a>`],
    ["Route", html`<code>${route.id}</code>`],
    ["Ports", html`${ports.join(", ")}${scope !== "shared" && ` of Gateway ${scope}`}`],
    ["Filters", filtersOf(route.features)],
    ["Backends", backendsOf(route.backends)],
    [
      "Try",
      html`<a href="${linkTo("/explain", { url: exampleUrl(row), scope: scope === "shared" ? "" : scope })}"
        >Explain a request to it</a
      >`,
    ],
  ])}</div></details>`;
};

const summaryOf = (backends: readonly Backend[]): string => {
  const [first] = backends;
  if (first === undefined) return "";
  return backends.length === 1 ? first.service : `${first.service} and ${backends.length - 1} more`;
};

export function filtersOf(features: RouteFeatures | undefined): Part {
  const filters = describeFilters(features);
  if (filters.length === 0) return "none";
  return html`<ol class="steps">
    ${filters.map(
      ({ name, settings }) => html`<li><b>${name}</b> <code>${shownSettings(settings)}</code></li>`,
    )}
  </ol>`;
}

const maxSettingsLength = 2_000;

/** Settings as JSON, with texts hidden that are secret by their name or shape. */
export function shownSettings(settings: unknown): string {
  const text = JSON.stringify(hideSecrets(settings)) ?? "";
  return text.length > maxSettingsLength ? `${text.slice(0, maxSettingsLength)} ...` : text;
}

const backendsOf = (backends: readonly Backend[]): Part => {
  if (backends.length === 0) return "none: answered 500, unless a filter answers";
  return backends.map((backend) => {
    const { service, weight, endpoints, protocol, status } = backend;
    const filters = describeFilters(backend.features);
    return html`<div>
      ${
        service === ""
          ? "no Service"
          : html`<a href="${linkTo("/backends", { q: endpoints ?? service })}">${service}</a>`
      }
      <span class="soft">${shareOf(weight, backends)} %</span>
      ${chip(protocol === "http1" ? "HTTP/1.1" : "HTTP/2")}${
        status !== undefined && badge(`answered ${status}`, "bad")
      }${filters.length > 0 && filtersOf(backend.features)}
    </div>`;
  });
};

/** A URL that can match the route. */
function exampleUrl({ host, ports, route }: RouteRow): string {
  const secure = ports.includes(443);
  const name = host === "*" ? "example.com" : host.replace(/^\*/, "www");
  const path = route.match.path.type === "regex" ? "/" : route.match.path.value;
  const port = secure || ports.includes(80) ? "" : `:${ports[0] ?? 80}`;
  return `${secure ? "https" : "http"}://${name}${port}${path}`;
}
