/** Reads canaries: Ingresses that receive a part of the requests of another Ingress. See docs/features/canary.md. */
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { canary, maxCanaryTotal } from "@svc-gateway/common/features/canary.ts";
import { annotations } from "@svc-gateway/common/features/registry.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { Backend, BackendChoice } from "@svc-gateway/common/ir/route.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf, type ObjectRef } from "../../api/object.ts";
import type { Age } from "../age.ts";
import type { EndpointRef } from "../backends/service-port.ts";
import { canaryAnnotationIgnored } from "../diagnostics/canaries.ts";
import { keyField } from "../diagnostics/define-finding.ts";
import { noEffect } from "../diagnostics/ingress-nginx.ts";
import type { AnnotationReader } from "../features/annotation-reader.ts";
import type { Diagnostic } from "../finding.ts";

/** How requests are chosen for a canary. */
export type CanaryRule = {
  readonly weight: number;
  readonly total: number;
  /** The conditions in order. The first one that a request meets decides; if it meets none, the weight decides. */
  readonly choices: readonly { readonly when: BackendChoice["when"]; readonly takes: boolean }[];
  /** Whether sessions never keep a client on the canary. */
  readonly isUnbound: boolean;
};

/** A path at which a canary receives a part of the requests. */
export type CanaryClaim = {
  readonly host: HostPattern;
  readonly owner: ObjectRef;
  readonly age: Age;
  readonly field: string;
  readonly written: string;
  readonly pathType: string | undefined;
  readonly backend: Backend;
  /** The Service port of the backend; undefined if it has none. */
  readonly endpointRef: EndpointRef | undefined;
  readonly rule: CanaryRule;
};

const { annotations: own } = canary;
const ownKeys: ReadonlySet<string> = new Set(Object.values(own).map(annotationKey));

/** Returns the rule of a canary; undefined for any other Ingress. */
export function readCanaryRule(read: AnnotationReader): CanaryRule | undefined {
  // All annotations are read, so that mistakes are found before the Ingress is made a canary.
  const weight = read(own.weight) ?? 0;
  const total = read(own.total) ?? 100;
  const choices = choicesOf({
    header: read(own.header)?.toLowerCase(),
    value: read(own.headerValue),
    pattern: read(own.headerPattern),
    cookie: read(own.cookie),
  });
  return read(own.canary) === true ? ruleOf(weight, total, choices) : undefined;
}

/**
 * Builds a rule. A weight above the total counts as the total, and weights that are too large for backends are
 * scaled down.
 */
export function ruleOf(weight: number, total: number, choices: CanaryRule["choices"]): CanaryRule {
  const scale = Math.min(1, maxCanaryTotal / total);
  return {
    weight: Math.round(Math.min(weight, total) * scale),
    total: Math.round(total * scale),
    choices,
    isUnbound: false,
  };
}

/**
 * The conditions on a header, followed by those on a cookie. An empty value or pattern could not be read and
 * selects no requests.
 */
export function choicesOf(by: {
  /** The name of the header in lower case. */
  readonly header: string | undefined;
  readonly value: string | undefined;
  readonly pattern: string | undefined;
  readonly cookie: string | undefined;
}): CanaryRule["choices"] {
  const { header: name, value, pattern, cookie } = by;
  const header = (type: "exact" | "regex", text: string) => ({
    headers: [{ name: name ?? "", type, value: text }],
  });
  const cookies = (text: string) => ({
    cookies: [{ name: cookie ?? "", type: "exact" as const, value: text }],
  });
  const ofHeader = (): CanaryRule["choices"] => {
    if (value === "" || (value === undefined && pattern === "")) {
      return [{ when: header("regex", ""), takes: false }];
    }
    if (value !== undefined) return [{ when: header("exact", value), takes: true }];
    if (pattern !== undefined) return [{ when: header("regex", pattern), takes: true }];
    return [
      { when: header("exact", "always"), takes: true },
      { when: header("exact", "never"), takes: false },
    ];
  };
  return [
    ...(name === undefined ? [] : ofHeader()),
    ...(cookie === undefined
      ? []
      : [
          { when: cookies("always"), takes: true },
          { when: cookies("never"), takes: false },
        ]),
  ];
}

/**
 * Findings about annotations that have no effect on a canary, and about canary annotations without `canary: "true"`.
 */
export function findWithoutEffect(
  { metadata, ...rest }: ObjectOf<"Ingress">,
  isCanary: boolean,
): readonly Diagnostic[] {
  const object = refOf({ metadata, ...rest });
  return Object.keys(metadata.annotations ?? {}).flatMap((key) => {
    const definition = annotations.get(key);
    if (definition === undefined || key === annotationKey(own.canary)) return [];
    const place = { object, field: keyField("metadata.annotations", key) };
    if (isCanary === ownKeys.has(key)) return [];
    if (!isCanary) return [canaryAnnotationIgnored(place, key, "the Ingress is not a canary")];
    const why = "requests of a canary have the settings of the Ingress that it is a canary of";
    const protects = definition.restricts === true || definition.onInvalid === "deny";
    return [protects ? noEffect(place, `${key}: ${why}`, "error") : canaryAnnotationIgnored(place, key, why)];
  });
}

/** Whether an Ingress is a canary. The `spec.tls` of a canary is ignored. */
export const isOwnCanary = ({ metadata }: ObjectOf<"Ingress">): boolean => {
  const raw = metadata.annotations?.[annotationKey(own.canary)];
  const parsed = raw === undefined ? undefined : own.canary.parse(raw.trim(), () => undefined);
  return parsed?.ok === true && parsed.value;
};
