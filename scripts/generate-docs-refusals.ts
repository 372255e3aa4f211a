import { listedReasons, type RefusingPart } from "../common/src/telemetry/refusals/refusal-reasons.ts";

/** The source of the reasons in each part, except in those that are filters of a route. */
const introductions: { readonly [Part in RefusingPart]?: string } = {
  client: "The message of the client, or the client itself.",
  listener: "The connection of the request.",
  routing: "The choice of a route and of a backend.",
  upstream: "The backend, an endpoint of it, or the connection to it.",
  mirror:
    "Copies of requests ([mirror-target](../features/mirror-target.md)): in the access log only, since no client is refused.",
  proxy: "The proxy itself, and limits of requests as a whole.",
};

/** Generates docs/reference/refusals.md from the list of reasons. */
export function refusalsPage(): string {
  const parts = [...new Set(listedReasons.map(({ part }) => part))];
  return `# Reasons of refusals

<!-- Written by scripts/generate-docs.ts from common/src/telemetry/refusals; change it there. -->

A request that fails in the proxy has two fields in the [access log](access-log.md): \`error\`, a short text for readers, and
\`reason\`, one of the codes below, for programs. \`svc_proxy_refusals_total\` counts it by \`filter\` (the headings below) and
\`reason\`, whether it is logged or not. Codes keep their meaning from one version to the next; new ones may be added.

The status is the usual one: configuration can change it, gRPC calls get [its equivalent](../features/errors.md#grpc), and a
response that has begun keeps its own. No answer of a backend has a reason: the proxy passed it on.

Clients learn less than the log says. That a user exists, or which of two lists an address is on, is in log and metric only; what
is wrong with a bearer token is in \`WWW-Authenticate\`, too ([auth-jwt](../features/auth-jwt.md#challenges)).

${parts.map(section).join("\n\n")}
`;
}

function section(part: RefusingPart): string {
  const introduction = introductions[part] ?? `The filter [${part}](../features/${part}.md).`;
  const rows = listedReasons
    .filter((one) => one.part === part)
    .map(
      ({ code, status, errors, meaning }) =>
        `| \`${code}\` | ${status} | ${errors.map((error) => `\`${error}\``).join("<br>")} | ${meaning} |`,
    );
  return [
    `## ${part}`,
    "",
    introduction,
    "",
    "| Reason | Status | `error` | Meaning |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}
