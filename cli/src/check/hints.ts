/** Suggests a correction for the name of an object or port that does not exist, from the other manifests. */
import { mostSimilar } from "@svc-gateway/common/values/similar.ts";
import { kindNames, type KindName } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import { createLookup, objectsIn, type World } from "@svc-gateway/operator/world.ts";

/** The maximum number of ports of a Service that a hint lists. */
const maxPorts = 6;

const missing = /\b([A-Z]\w+) ([a-z0-9][-a-z0-9.]*)\/([a-z0-9][-a-z0-9.]*) does not exist(?! ?\()/;
const withoutPort = /\bService ([-a-z0-9]+)\/([-a-z0-9]+) has no (?:TCP )?port "[^"]*"/;

/**
 * Creates the function that adds a hint to a finding about a missing object or port: the most similar name in the
 * namespace, another namespace with an object of that name, or the ports of the Service. In a cluster the object can
 * still be created; among manifests the name is probably a mistake.
 */
export function createHints(world: World): (diagnostic: Diagnostic) => Diagnostic {
  const byName = new Map<KindName, Map<string, string[]>>();
  const namespacesOf = (kind: KindName, name: string): readonly string[] => {
    let names = byName.get(kind);
    if (names === undefined) {
      names = new Map();
      for (const { metadata } of world[kind] as readonly KubeObject[]) {
        const known = names.get(metadata.name);
        if (known === undefined) names.set(metadata.name, [metadata.namespace ?? ""]);
        else known.push(metadata.namespace ?? "");
      }
      byName.set(kind, names);
    }
    return names.get(name) ?? [];
  };
  const hintOfName = (text: RegExpExecArray): string => {
    const [, kind = "", namespace = "", name = ""] = text;
    const known = kindNames.find((one) => one === kind);
    if (known === undefined) return "";
    const names = [...objectsIn(world, known, namespace)].map(({ metadata }) => metadata.name);
    const similar = mostSimilar(name, names);
    if (similar !== undefined) return ` (did you mean ${similar}?)`;
    const [elsewhere] = namespacesOf(known, name);
    return elsewhere === undefined ? "" : ` (there is one in namespace ${elsewhere})`;
  };
  const lookup = createLookup(world);
  const hintOfPort = ([, namespace = "", name = ""]: RegExpExecArray): string => {
    const ports = lookup("Service", namespace, name)?.spec?.ports ?? [];
    if (ports.length === 0) return "";
    const listed = ports
      .slice(0, maxPorts)
      .map(({ port, name: text }) => (text ? `${port} (${text})` : `${port}`));
    return `, its ports are ${listed.join(", ")}${ports.length > maxPorts ? " and others" : ""}`;
  };
  return (diagnostic) => {
    const { message } = diagnostic;
    const object = missing.exec(message);
    const port = object === null ? withoutPort.exec(message) : null;
    const found = object ?? port;
    if (found === null) return diagnostic;
    const hint = object === null ? hintOfPort(found) : hintOfName(found);
    if (hint === "") return diagnostic;
    const end = found.index + found[0].length;
    return { ...diagnostic, message: `${message.slice(0, end)}${hint}${message.slice(end)}` };
  };
}
