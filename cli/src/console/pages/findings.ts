import { html } from "../html.ts";
import type { Page } from "../layout.ts";
import { describePath } from "../../text/path.ts";
import { formatRef } from "@svc-gateway/operator/api/object.ts";
import { badge, card, linkTo, paged, pager, table, type Tone } from "../parts.ts";
import { createFilter, pageOf, textOf, type View } from "../view.ts";

const tones: Readonly<Record<string, Tone>> = { error: "bad", warning: "warn", info: "plain" };

const choices = ["", "error", "warning", "info"];

/** The findings about objects that are not served as written, and the conflicts between objects. */
export function findingsPage(view: View): Page {
  const query = textOf(view, "q");
  const severity = choices.find((one) => one === textOf(view, "severity")) ?? "";
  const holds = createFilter(query);
  const found = view.model.findings.filter(
    (one) =>
      (severity === "" || one.severity === severity) && holds(one.object, one.reason, one.message, one.place),
  );
  const shown = paged(found, pageOf(view));
  const conflicts = view.model.conflicts.filter(({ host, loser, winner }) =>
    holds(host.host, formatRef(loser), formatRef(winner)),
  );
  const shownConflicts = paged(conflicts, 1);
  const rest = conflicts.length - shownConflicts.rows.length;
  return {
    title: "Findings",
    lead: "What is not served as written, or deserves attention. Reasons are explained in docs/reference/events.md.",
    path: "/findings",
    query,
    body: html`${card(
        "Findings",
        html`${table(
          [{ name: "Severity" }, { name: "Object" }, { name: "Finding" }],
          shown.rows.map((one) => [
            badge(one.severity, tones[one.severity]),
            html`<a href="${linkTo("/routes", { q: one.object })}">${one.object}</a
              >${one.place !== "" && html`<small>${one.place}</small>`}`,
            html`<b>${one.reason}</b>${one.field !== "" && html` <code>${one.field}</code>`}<small
                >${one.message}</small
              >`,
          ]),
          "Nothing to report.",
        )}${pager("/findings", { q: query, severity }, shown)}`,
        html`<div class="filterbar">
          ${choices.map(
            (one) =>
              html`<a
                href="${linkTo("/findings", { q: query, severity: one })}"
                ${one === severity && html` aria-current="true"`}
                >${one === "" ? "all" : one}</a
              >`,
          )}
        </div>`,
      )}
      <div id="conflicts">
        ${card(
          "Conflicts",
          html`${table(
            [{ name: "Host and path" }, { name: "Served" }, { name: "Not served" }],
            shownConflicts.rows.map(({ host, path, winner, loser }) => [
              html`<code>${host.host}</code> ${describePath(path)}`,
              formatRef(winner),
              formatRef(loser),
            ]),
            "No two objects want the same host and path.",
          )}${rest > 0 && html`<p class="note">and ${rest} more: search for a host or an object</p>`}`,
        )}
      </div>`,
  };
}
