/**
 * Checks and defaults that the Kubernetes API server implements for its own kinds in Go code. The published OpenAPI
 * lacks them: enums, ranges and defaults ("Kubernetes API Reference Docs", the description of each field). Rules that
 * span fields are code, in operator/src/api/validate-core.ts.
 */
import type { Schema } from "../operator/src/api/schema.ts";

const port = { minimum: 1, maximum: 65535 } satisfies Schema;
const portProtocol = { enum: ["TCP", "UDP", "SCTP"], default: "TCP" } satisfies Schema;
const requiredText = { minLength: 1 } satisfies Schema;

/** The keywords to add, by kind and dotted path (`[]` enters a list). */
const checks: { readonly [kind: string]: { readonly [path: string]: Schema } } = {
  Service: {
    "spec.type": { enum: ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"], default: "ClusterIP" },
    "spec.ports[].port": port,
    "spec.ports[].protocol": portProtocol,
    "spec.sessionAffinity": { enum: ["ClientIP", "None"], default: "None" },
  },
  Secret: { type: { default: "Opaque" } },
  Ingress: {
    "spec.rules[].http.paths": { minItems: 1 },
    "spec.rules[].http.paths[].pathType": { enum: ["Exact", "Prefix", "ImplementationSpecific"] },
    "spec.rules[].http.paths[].backend.service.name": requiredText,
    "spec.rules[].http.paths[].backend.service.port.number": port,
    "spec.defaultBackend.service.name": requiredText,
    "spec.defaultBackend.service.port.number": port,
  },
  IngressClass: {
    "spec.controller": { maxLength: 250 },
    "spec.parameters.scope": { enum: ["Cluster", "Namespace"], default: "Cluster" },
    "spec.parameters.kind": requiredText,
    "spec.parameters.name": requiredText,
  },
  EndpointSlice: {
    addressType: { enum: ["IPv4", "IPv6", "FQDN"] },
    endpoints: { maxItems: 1000 },
    "endpoints[].addresses": { minItems: 1, maxItems: 100 },
    ports: { maxItems: 20000 },
    "ports[].protocol": portProtocol,
    "ports[].name": { default: "" },
  },
};

/**
 * The lists, by kind and dotted path, whose published type only server-side apply enforces: the API server accepts
 * repeated entries from other requests.
 */
const repeatable: { readonly [kind: string]: readonly string[] } = {
  EndpointSlice: ["endpoints[].addresses"],
};

/** The schema of a core kind with these checks; throws when a path is not in it. */
export function addApiServerChecks(kind: string, schema: Schema): Schema {
  const checked = Object.entries(checks[kind] ?? {}).reduce(
    (result, [path, keywords]) => changeAt(result, path, (field) => ({ ...field, ...keywords })),
    schema,
  );
  return (repeatable[kind] ?? []).reduce((result, path) => changeAt(result, path, withoutListType), checked);
}

function withoutListType(schema: Schema): Schema {
  const { "x-kubernetes-list-type": _listType, ...rest } = schema;
  return rest;
}

const changeAt = (schema: Schema, path: string, change: (field: Schema) => Schema): Schema =>
  changeBelow(schema, path.replaceAll("[]", ".[]").split("."), change);

function changeBelow(schema: Schema, steps: readonly string[], change: (field: Schema) => Schema): Schema {
  const [step, ...rest] = steps;
  if (step === undefined) return change(schema);
  const next = step === "[]" ? schema.items : schema.properties?.[step];
  if (next === undefined) throw new Error(`no such field: ${steps.join(".")}`);
  const changed = changeBelow(next, rest, change);
  return step === "[]"
    ? { ...schema, items: changed }
    : { ...schema, properties: { ...schema.properties, [step]: changed } };
}
