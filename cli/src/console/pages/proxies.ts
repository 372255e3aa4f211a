import { html, type Part } from "../html.ts";
import type { Page } from "../layout.ts";
import type { ConsoleProxy } from "../console-source.ts";
import { age, badge, card, countOf, definitions, paged, pager, table } from "../parts.ts";
import { pageOf, type View } from "../view.ts";

/** The proxies of a controller with the snapshot that each serves, or the process itself in standalone mode. */
export function proxiesPage(view: View): Page {
  const { source } = view;
  const proxies = source.proxies();
  if (proxies === undefined) {
    return {
      title: "Proxies",
      lead: "This process serves by itself.",
      path: "/proxies",
      body: card("Process", html`<div class="pad">${definitions(source.facts())}</div>`),
    };
  }
  const shown = paged(proxies, pageOf(view));
  return {
    title: "Proxies",
    lead: "Each proxy is connected to one controller: those of other replicas are not connected here.",
    path: "/proxies",
    body: card(
      "Proxies",
      html`${table(
        [{ name: "Pod" }, { name: "Serves" }, { name: "State" }, { name: "Snapshot" }, { name: "Release" }],
        shown.rows.map((proxy) => [
          html`${proxy.namespace}/${proxy.name}<small>${proxy.node}</small>`,
          proxy.scope === "shared" ? "shared Gateways and Ingresses" : `Gateway ${proxy.scope}`,
          stateOf(proxy),
          snapshotOf(proxy),
          proxy.stream?.release ?? "",
        ]),
        "No proxy pod is known.",
      )}${pager("/proxies", {}, shown)}`,
      badge(countOf(proxies.length, "pod")),
    ),
  };
}

function stateOf({ phase, stream }: ConsoleProxy): Part {
  if (stream === undefined) return html`${badge("not connected here", "warn")}<small>${phase}</small>`;
  const { health, degradedChecks } = stream;
  const tone = health === "ready" ? "good" : health === "degraded" ? "warn" : "plain";
  return html`${badge(health, tone)}${degradedChecks.length > 0 && html`<small>${degradedChecks.join(", ")}</small>`}`;
}

function snapshotOf({ stream }: ConsoleProxy): Part {
  if (stream === undefined) return "";
  const { version, isInSync, behindMs } = stream;
  return html`${badge(isInSync ? "in sync" : "behind", isInSync ? "good" : "bad")}
    <code>${version.slice(0, 12)}</code>${!isInSync && html`<small>for ${age(behindMs)}</small>`}`;
}
