/** Collects and names the policies that are written next to an Ingress. */
import { hash } from "node:crypto";
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import type { World } from "@svc-gateway/operator/world.ts";
import type { OwnObject } from "./written.ts";

/** The maximum length of the name of an object (RFC 1123 subdomain). */
const maxName = 253;

/** Returns a name within the maximum length; longer names are shortened and made unique by a digest. */
export function boundedName(base: string, suffix: string): string {
  const whole = `${base}${suffix}`;
  if (whole.length <= maxName) return whole;
  const digest = hash("sha256", whole, "hex").slice(0, 8);
  return `${base.slice(0, maxName - suffix.length - digest.length - 1).replace(/[-.]+$/, "")}-${digest}${suffix}`;
}

/** Returns a name of an object of a kind that no other object of this kind has. */
export type Namer = (kind: string, suffix: string) => string;

/**
 * Creates the namer of the objects that replace one Ingress: its name, the suffix, and a number where that name exists.
 * `isTaken` reports whether another object of the kind has a name.
 */
export function createNamer(base: string, isTaken: (kind: string, name: string) => boolean): Namer {
  const used = new Set<string>();
  return (kind, suffix) => {
    for (let count = 1; ; count++) {
      const tried = boundedName(base, `${suffix}${count === 1 ? "" : `-${count}`}`);
      if (used.has(`${kind} ${tried}`) || isTaken(kind, tried)) continue;
      used.add(`${kind} ${tried}`);
      return tried;
    }
  };
}

/** Collects the objects of one Ingress. `isTaken` reports whether another object of the kind has a name. */
export function collectObjects(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  isTaken: (kind: string, name: string) => boolean,
): { readonly define: (object: OwnObject) => string; readonly objects: () => readonly KubeObject[] } {
  const known = new Map<string, KubeObject>();
  const freeName = createNamer(name, isTaken);
  return {
    define(object) {
      const { apiVersion, kind, spec } = object;
      const key = canonicalJson(object);
      const before = known.get(key);
      if (before !== undefined) return before.metadata.name;
      const chosen = freeName(kind, "");
      known.set(key, { apiVersion, kind, metadata: { namespace, name: chosen }, spec } as KubeObject);
      return chosen;
    },
    objects: () => [...known.values()],
  };
}

/** Creates a function that reports whether a namespace has an object of a kind and name. */
export const nameTaken =
  (world: World, namespace: string) =>
  (kind: string, name: string): boolean =>
    (world[kind as "Ingress"] ?? []).some(
      ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
    );
