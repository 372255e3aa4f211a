import type { HealthState } from "@svc-gateway/common/admin/health.ts";
import type { ConsoleProxy } from "../console-source.ts";
import { html, type Html, type Part } from "../html.ts";
import type { Page } from "../layout.ts";
import { age, badge, card, countOf, definitions, linkTo, stat, table, type Tone } from "../parts.ts";
import type { View } from "../view.ts";

const tones: Readonly<Record<HealthState, Tone>> = { Ready: "good", Degraded: "warn", Pending: "bad" };

const soonMs = 14 * 24 * 60 * 60_000;

/** Health, counts, and what needs attention. */
export function overviewPage({ source, build, model, nowMs }: View): Page {
  const errors = model.findings.filter(({ severity }) => severity === "error").length;
  const warnings = model.findings.filter(({ severity }) => severity === "warning").length;
  const empty = model.backends.filter(({ endpoints, routes }) => endpoints.length === 0 && routes > 0).length;
  const ending = model.certificates.filter(({ notAfterMs }) => notAfterMs < nowMs + soonMs).length;
  const proxies = source.proxies();
  const { subsystems } = source.health();
  const attention = attentionRows(model, nowMs, proxies ?? []);
  return {
    title: "Overview",
    lead:
      build === undefined
        ? "Nothing has been built yet."
        : `${countOf(model.listeners.length, "listener")}, ${countOf(model.hostCount, "host")} and ${countOf(model.routes.length, "route")} are served.`,
    path: "/",
    body: html`<div class="stats">
        ${stat(model.listeners.length, "listeners", "/listeners")}
        ${stat(model.routes.length, "routes", "/routes")}
        ${stat(model.backends.length, "backends", "/backends")}
        ${stat(empty, "backends without endpoint", "/backends?show=empty", empty > 0 ? "bad" : "plain")}
        ${stat(errors, "errors", "/findings?severity=error", errors > 0 ? "bad" : "plain")}
        ${stat(warnings, "warnings", "/findings?severity=warning", warnings > 0 ? "warn" : "plain")}
        ${stat(model.conflicts.length, "conflicts", "/findings#conflicts", model.conflicts.length > 0 ? "warn" : "plain")}
        ${stat(ending, "certificates end in 14 days", "/certificates", ending > 0 ? "bad" : "plain")}
      </div>
      ${
        attention.length > 0 &&
        card(
          "Needs attention",
          table([{ name: "What" }, { name: "Where" }], attention, ""),
          html`<a href="/findings">All findings</a>`,
        )
      }
      <div class="grid">
        ${card(
          "Health",
          table(
            [{ name: "Check" }, { name: "State" }],
            Object.entries(subsystems).flatMap(([subsystem, { checks }]) =>
              Object.entries(checks).map(([check, state]) => [
                html`${subsystem} <span class="soft">/</span> ${check}`,
                badge(state, tones[state]),
              ]),
            ),
            "No check is registered.",
          ),
        )}
        ${card("Process", html`<div class="pad">${definitions(source.facts())}</div>`)}
        ${proxies !== undefined && card("Proxies", proxySummary(proxies))}
      </div>`,
  };
}

const maxAttention = 8;

/** The problems that need attention, the most severe first. */
function attentionRows(
  { findings, certificates }: View["model"],
  nowMs: number,
  proxies: readonly ConsoleProxy[],
): readonly (readonly Part[])[] {
  const errors = findings
    .filter(({ severity }) => severity === "error")
    .map(({ object, reason, message }) => [
      html`${badge("error", "bad")} <b>${reason}</b><small>${message}</small>`,
      html`<a href="${linkTo("/findings", { q: object })}">${object}</a>`,
    ]);
  const ending = certificates
    .filter(({ notAfterMs }) => notAfterMs < nowMs + soonMs)
    .map(({ host, port, notAfterMs }) => [
      html`${badge("certificate", "warn")}
        <b>${notAfterMs < nowMs ? "expired" : `ends in ${age(notAfterMs - nowMs)}`}</b>`,
      html`<a href="${linkTo("/certificates", { q: host })}">${host}</a> port ${port}`,
    ]);
  const behind = proxies
    .filter(({ stream }) => stream?.isInSync === false)
    .map(({ namespace, name }) => [
      html`${badge("proxy", "warn")} <b>does not serve the last snapshot</b>`,
      html`<a href="/proxies">${namespace}/${name}</a>`,
    ]);
  return [...behind, ...errors, ...ending].slice(0, maxAttention);
}

function proxySummary(proxies: readonly ConsoleProxy[]): Html {
  const connected = proxies.filter(({ stream }) => stream !== undefined);
  const behind = connected.filter(({ stream }) => stream?.isInSync === false);
  const apart = proxies.length - connected.length;
  return html`<div class="pad">
    ${definitions([
      ["Known", html`<a href="/proxies">${countOf(proxies.length, "proxy pod")}</a>`],
      ["Connected here", String(connected.length)],
      [
        "In sync",
        badge(
          `${connected.length - behind.length} of ${connected.length}`,
          behind.length > 0 ? "warn" : "good",
        ),
      ],
      ...(apart > 0 ? [["Elsewhere", `${apart}, connected to another replica or to none`] as const] : []),
    ])}
  </div>`;
}
