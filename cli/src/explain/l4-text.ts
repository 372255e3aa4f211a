import { formatRef } from "@svc-gateway/operator/api/object.ts";
import type { Paint } from "../text/paint.ts";
import type { ExplainedL4Backend, ExplainedL4Route, L4Answer } from "./l4.ts";
import { describeListener, describeTls, formatSteps } from "./answer-text.ts";

/** Formats the answer as text: the steps of the connection in order. */
export function formatL4Answer(answer: L4Answer, paint: Paint): string {
  const { connection, listener, host, mode, tls, route } = answer;
  const { protocol, serverName, port } = connection;
  const steps = formatSteps(
    [
      ["listener", listener === undefined ? [] : [describeListener(listener)]],
      [
        "TLS",
        protocol !== "tls" || mode === undefined
          ? []
          : tls === undefined
            ? ["passed through"]
            : describeTls(tls),
      ],
      ["host", protocol !== "tls" || host === undefined ? [] : [host]],
      ["route", route === undefined ? [] : [describeRoute(route)]],
      ["backend", route === undefined ? [] : describeBackends(route.backends)],
      ["result", [describeOutcome(answer)]],
    ],
    paint,
  );
  return [`${protocol}://${serverName}:${port}`, ...steps, ""].join("\n");
}

const describeRoute = ({ id, source, place }: ExplainedL4Route): string =>
  `${id} of ${formatRef(source)}${place === undefined ? "" : ` at ${place}`}`;

const describeBackends = (backends: readonly ExplainedL4Backend[]): readonly string[] =>
  backends.length === 0
    ? ["none"]
    : backends.flatMap(({ service, share, endpoints }) => [
        `Service ${service}${share === 100 ? "" : `, ${share} %`}`,
        endpoints.length === 0 ? "  no endpoint: refused" : `  ${endpoints.join(", ")}`,
      ]);

function describeOutcome({ outcome, connection, route }: L4Answer): string {
  const { protocol, port } = connection;
  const refused = protocol === "udp" ? "dropped" : "the connection is reset";
  switch (outcome) {
    case "no-listener":
      return `no listener serves ${protocol} on port ${port}: ${protocol === "udp" ? "dropped" : "the connection is refused"}`;
    case "https":
      return "for the HTTPS listener of the port: ask with an https URL";
    case "no-certificate":
      return "no certificate for this server name: the handshake is refused";
    case "no-route":
      return `no route: ${refused}`;
    case "route": {
      const isReached = route?.backends.some(({ share, endpoints }) => share > 0 && endpoints.length > 0);
      return isReached === true ? "forwarded to the backend" : refused;
    }
  }
}
