import { html, type Html } from "../html.ts";
import type { Page } from "../layout.ts";
import { badge, card, countOf, linkTo } from "../parts.ts";
import { createFilter, textOf, type View } from "../view.ts";

const maxHits = 10;

/** The first hits from every page. */
export function searchPage(view: View): Page {
  const query = textOf(view, "q");
  const { model } = view;
  const holds = createFilter(query);
  const sections: readonly Section[] = [
    {
      name: "Routes",
      path: "/routes",
      hits: model.routes
        .filter(({ text }) => holds(text))
        .map(({ host, match, source, route }) => [`${host} ${match}`, source, route.id]),
    },
    {
      name: "Backends",
      path: "/backends",
      hits: model.backends
        .filter(({ name, endpoints }) => holds(name, ...endpoints))
        .map(({ name, endpoints }) => [name, countOf(endpoints.length, "endpoint"), name]),
    },
    {
      name: "Certificates",
      path: "/certificates",
      hits: model.certificates
        .filter(({ host, names }) => holds(host, ...names))
        .map(({ host, port }) => [host, `port ${port}`, host]),
    },
    {
      name: "Findings",
      path: "/findings",
      hits: model.findings
        .filter(({ object, reason, message }) => holds(object, reason, message))
        .map(({ object, reason }) => [reason, object, `${object} ${reason}`]),
    },
  ];
  const found = query === "" ? [] : sections.filter(({ hits }) => hits.length > 0);
  return {
    title: "Search",
    lead:
      query === ""
        ? "Type a host, a path, a Service, an address or the name of an object."
        : `Hits for "${query}"`,
    query,
    body:
      found.length === 0
        ? html`<p class="note">${query === "" ? "" : "Nothing was found."}</p>`
        : html`<div class="grid">${found.map((section) => sectionCard(section, query))}</div>`,
  };
}

/** The text of a hit, a description, and the query that finds it on its page. */
type Hit = readonly [text: string, about: string, query: string];

type Section = { readonly name: string; readonly path: string; readonly hits: readonly Hit[] };

const sectionCard = ({ name, path, hits }: Section, query: string): Html =>
  card(
    name,
    html`<ul class="hits">
        ${hits
          .slice(0, maxHits)
          .map(
            ([text, about, one]) =>
              html`<li>
                <a href="${linkTo(path, { q: one })}">${text}</a> <span class="soft">${about}</span>
              </li>`,
          )}
      </ul>
      ${hits.length > maxHits && html`<p class="note"><a href="${linkTo(path, { q: query })}">Show all ${hits.length}</a></p>`}`,
    badge(String(hits.length)),
  );
