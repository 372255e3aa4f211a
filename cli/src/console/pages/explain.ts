import { loggable } from "@svc-gateway/common/telemetry/redaction.ts";
import { describePassed, describeSteps } from "../../explain/answer-text.ts";
import type { Answer } from "../../explain/answer.ts";
import { paintFor } from "../../text/paint.ts";
import { hideSecrets } from "../hide-secrets.ts";
import { escapeHtml, Html, html, type Part } from "../html.ts";
import type { Page } from "../layout.ts";
import { badge, card, type Tone } from "../parts.ts";

/** A request as entered in the form. */
export type TypedRequest = {
  readonly method: string;
  readonly url: string;
  /** The headers, one on each line. */
  readonly headers: string;
  /** The Gateway (`namespace/name`) whose dedicated proxies get the request; other texts mean the shared proxies. */
  readonly scope: string;
};

export type Explained =
  | { readonly type: "answer"; readonly answer: Answer }
  | { readonly type: "problem"; readonly message: string };

/** The maximum length of each field, in characters. */
export const maxTyped = { method: 32, url: 4_096, headers: 8_192, scope: 400 } as const;

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** A form for a request, and how the gateway would handle it. */
export const explainPage = (typed: TypedRequest, scopes: readonly string[], explained?: Explained): Page => ({
  title: "Explain a request",
  lead: "Shows what the gateway does with a request, by the code that serves requests. Nothing is sent to a backend.",
  path: "/explain",
  body: html`${card("Request", form(typed, scopes))}${explained !== undefined && result(explained)}`,
});

const form = ({ method, url, headers, scope }: TypedRequest, scopes: readonly string[]): Html =>
  html`<form method="post" action="/explain" class="pad fields">
    <label
      >Method<input
        type="text"
        name="method"
        value="${method}"
        list="methods"
        maxlength="${maxTyped.method}"
        required
    /></label>
    <datalist id="methods">${methods.map((one) => html`<option value="${one}"></option>`)}</datalist>
    <label
      >URL<input
        type="text"
        name="url"
        value="${url}"
        maxlength="${maxTyped.url}"
        placeholder="https://shop.example.com/cart"
        inputmode="url"
        required${url === "" && html` autofocus`}
    /></label>
    ${
      scopes.length > 0 &&
      html`<label class="wide"
        >Sent to<select name="scope">
          <option value="">the shared proxies</option>
          ${scopes.map((one) => html`<option value="${one}" ${one === scope && html` selected`}>the proxies of Gateway ${one}</option>`)}
        </select></label
      >`
    }
    <label class="wide"
      >Headers, one in a line<textarea
        name="headers"
        rows="3"
        maxlength="${maxTyped.headers}"
        placeholder="X-Canary: yes"
        spellcheck="false"
      >
${headers}</textarea>
    </label>
    <div class="wide"><button class="button">Explain</button></div>
  </form>`;

function result(explained: Explained): Part {
  if (explained.type === "problem") return html`<p class="alert" role="alert">${explained.message}</p>`;
  const answer = withoutSecrets(explained.answer);
  const steps = describeSteps(answer).filter(([, lines]) => lines.length > 0);
  const passed = describePassed(answer, paintFor({ hasColours: false }));
  return html`<div id="answer">
    ${card(
      "Answer",
      html`<dl class="answer">
        ${steps.map(
          ([name, lines]) =>
            html`<dt>${name}</dt>
              <dd>${lines.map((line) => html`<div>${line}</div>`)}</dd>`,
        )}
      </dl>`,
      outcomeOf(answer),
    )}
    ${passed.length > 0 && card("Passed over", new Html(preformatted(passed)))}
  </div>`;
}

/** Built without the template: the indentation of the source must not appear in preformatted text. */
const preformatted = (lines: readonly string[]): string =>
  `<pre tabindex="0">${escapeHtml(lines.join("\n"))}</pre>`;

const outcomes: Readonly<Record<Answer["outcome"], readonly [string, Tone]>> = {
  route: ["a route takes it", "good"],
  misdirected: ["answered 421", "bad"],
  closed: ["handshake refused", "bad"],
  "tls-listener": ["belongs to a TLS listener", "warn"],
  "no-listener": ["connection refused", "bad"],
  "no-certificate": ["handshake refused", "bad"],
  "no-route": ["no route", "warn"],
};

const outcomeOf = ({ outcome, reply }: Answer): Html => {
  const [text, tone] = outcomes[outcome];
  return html`<span class="verdict"
    >${badge(text, tone)} ${reply.status !== undefined && badge(String(reply.status))}</span
  >`;
};

/** Hides secrets: headers that a filter sets, and settings of filters, can be credentials. */
function withoutSecrets(answer: Answer): Answer {
  return {
    ...(mask(answer) as Answer),
    upstream: answer.upstream.map((sent) => ({
      ...sent,
      headers: sent.headers.map(({ name, value }) => ({ name, value: String(loggable(name, value)) })),
    })),
  };
}

/** Hides secrets in the settings of filters, anywhere in an answer. */
function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, key === "settings" ? hideSecrets(one) : mask(one)]),
  );
}
