/** Explains differences that no writer covers, because they do not belong to a feature. */
import { isWithin } from "./difference.ts";
import type { ServedUnit } from "./served-units.ts";
import type { Loss } from "./written.ts";

/** A difference of an Ingress, on one or several paths. */
export type UnitDifference = {
  readonly property: string;
  readonly loss: Loss;
  readonly text: string;
  /** The Ingress (`namespace/name`) whose setting applies instead. */
  readonly decidedBy?: string;
};

type Known = { readonly property: string; readonly loss: Loss; readonly text: string };

/** The explanations by property; the first one whose property contains the difference applies. */
const known: readonly Known[] = [
  {
    property: "host.matchPaths",
    loss: "changed",
    text: "Paths are compared as clients write them: escapes are not decoded and slashes not merged before",
  },
  {
    property: "match.path",
    loss: "changed",
    text: "The regular expression of the path is found anywhere in the path and compared with case",
  },
  {
    property: "host.inherit",
    loss: "changed",
    text: "Paths that the host does not have are looked for at the wildcard host that covers it",
  },
  {
    property: "host.takesLabels",
    loss: "changed",
    text: "A wildcard host also takes names with several labels in place of the *",
  },
  { property: "host.pathLevel", loss: "changed", text: "Paths are normalised at another level" },
  { property: "host.clients", loss: "lost", text: "Client certificates are not asked for as before" },
  { property: "clients", loss: "lost", text: "Client certificates are not asked for as before" },
  { property: "choices", loss: "lost", text: "Requests are not sent to the canary" },
  { property: "affinity", loss: "lost", text: "Another policy of the Service decides about its sessions" },
  { property: "accessLog", loss: "lost", text: "Requests are written to the access log" },
  { property: "fallback", loss: "changed", text: "The default backend is a path like others" },
];

const ofBackend: readonly Known[] = [
  { property: "protocol", loss: "lost", text: "The backend is sent another version of HTTP" },
  { property: "tls", loss: "lost", text: "The backend is reached in another way, with or without TLS" },
  { property: "endpoints", loss: "lost", text: "The backend is reached in another way, with or without TLS" },
  {
    property: "followsClient",
    loss: "lost",
    text: "Requests that came without TLS are sent in the same way as others",
  },
  { property: "closes", loss: "changed", text: "What is written uses connections to the backend again" },
  {
    property: "balancing.ofEmpty",
    loss: "changed",
    text: "Requests without any of the hashed values go to endpoints in turn instead of to one of them",
  },
  {
    property: "balancing",
    loss: "lost",
    text: "Another policy of the Service decides how its endpoints are chosen",
  },
  { property: "unbound", loss: "changed", text: "Session affinity applies to all backends" },
];

/** Explains a difference; an unknown one counts as lost. */
export function knownDifference(property: string, before: ServedUnit, after: ServedUnit): UnitDifference {
  const found =
    known.find((one) => isWithin(property, one.property)) ??
    ofBackend.find((one) => new RegExp(`^backends\\[\\d+\\]\\.${one.property}\\b`).test(property));
  if (found !== undefined) return { ...found, property };
  const path = `path ${before.route.match.path.value} of host ${before.host}`;
  if (property === "backends") {
    const [was, is] = [before, after].map(({ route }) =>
      route.backends.map(({ service }) => service).join(", "),
    );
    return {
      property,
      loss: "lost",
      text: `The backends of ${path} are ${is || "none"} instead of ${was || "none"}`,
    };
  }
  return { property, loss: "lost", text: `The ${path} differs in ${property}` };
}
