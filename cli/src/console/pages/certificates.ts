import { html } from "../html.ts";
import type { Page } from "../layout.ts";
import { age, badge, card, chip, paged, pager, table } from "../parts.ts";
import { createFilter, pageOf, textOf, type View } from "../view.ts";

const dayMs = 24 * 60 * 60_000;
const soonMs = 14 * dayMs;

/** Certificates by the server name for which they are presented; those that expire first are at the top. */
export function certificatesPage(view: View): Page {
  const query = textOf(view, "q");
  const holds = createFilter(query);
  const found = view.model.certificates
    .filter(({ host, names }) => holds(host, ...names))
    .toSorted((a, b) => a.notAfterMs - b.notAfterMs);
  const shown = paged(found, pageOf(view));
  return {
    title: "Certificates",
    lead: "What clients are shown, by server name. Private keys are not on this page, nor anywhere in the console.",
    path: "/certificates",
    query,
    body: card(
      "Certificates",
      html`${table(
        [
          { name: "Server name" },
          { name: "Port", isNumber: true },
          { name: "Ends" },
          { name: "Names in it" },
          { name: "Issuer" },
        ],
        shown.rows.map(({ host, port, notAfterMs, names, issuer, fingerprint }) => {
          const leftMs = notAfterMs - view.nowMs;
          const tone = leftMs < 0 ? "bad" : leftMs < soonMs ? "warn" : "good";
          return [
            html`<code>${host}</code>`,
            port,
            html`${badge(leftMs < 0 ? "expired" : `in ${age(leftMs)}`, tone)}<small
                >${new Date(notAfterMs).toISOString().slice(0, 16)}Z</small
              >`,
            names.slice(0, 8).map(chip),
            html`${issuer}<small class="mono">${fingerprint.slice(0, 29)} ...</small>`,
          ];
        }),
        "No certificate is served.",
      )}${pager("/certificates", { q: query }, shown)}`,
    ),
  };
}
