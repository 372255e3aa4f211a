/** What an Ingress that takes a part of the requests of another one says. See docs/ingress-nginx.md, "Canaries". */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { Backend, BackendChoice } from "@svc-gateway/common/ir/route.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import type { ObjectRef } from "../../api/object.ts";
import type { Age } from "../age.ts";
import type { EndpointRef } from "../backends/service-port.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { affinity, affinityCanaryBehavior } from "./annotations/balancing.ts";
import {
  canary,
  canaryByCookie,
  canaryByHeader,
  canaryByHeaderPattern,
  canaryByHeaderValue,
  canaryWeight,
  canaryWeightTotal,
} from "./annotations/canary.ts";
import type { NginxAnnotation } from "./annotations/declare.ts";
import type { NginxReader } from "./reader.ts";

/** How requests are chosen for a canary. */
export type CanaryRule = {
  readonly weight: number;
  readonly total: number;
  /** Conditions before the weight, with the side that they decide for. */
  readonly choices: readonly { readonly when: BackendChoice["when"]; readonly takes: boolean }[];
  /** Its endpoints keep no sessions. */
  readonly isUnbound: boolean;
};

/** A path of a canary. */
export type CanaryClaim = {
  readonly host: HostPattern;
  readonly owner: ObjectRef;
  readonly age: Age;
  readonly field: string;
  readonly written: string;
  readonly pathType: string | undefined;
  readonly backend: Backend;
  /** The Service port of the backend, where it has one. */
  readonly endpointRef: EndpointRef | undefined;
  readonly rule: CanaryRule;
};

/** The most that weights of backends come to. */
const maxTotal = 1_000_000;

/** The rule of a canary; undefined for any other Ingress. */
export function readCanary(
  read: NginxReader,
  ignore: (annotation: Pick<NginxAnnotation, "name">, why: string) => void,
): CanaryRule | undefined {
  if (read(canary) !== true) return undefined;
  const total = Math.max(100, read(canaryWeightTotal) ?? 100);
  const weight = Math.min(read(canaryWeight) ?? 0, total);
  const scale = Math.min(1, maxTotal / total);
  return {
    weight: Math.round(weight * scale),
    total: Math.round(total * scale),
    choices: [...headerChoices(read, ignore), ...cookieChoices(read)],
    isUnbound: read(affinityCanaryBehavior) === "legacy" && read(affinity) !== "cookie",
  };
}

function headerChoices(read: NginxReader, ignore: Parameters<typeof readCanary>[1]): CanaryRule["choices"] {
  const written = read(canaryByHeader);
  if (written === undefined) return [];
  // nginx compares names with "_" in the place of "-".
  const name = written.toLowerCase().replaceAll("_", "-");
  const on = (type: "exact" | "regex", value: string) => ({ headers: [{ name, type, value }] });
  const value = read(canaryByHeaderValue);
  if (value !== undefined) return [{ when: on("exact", value), takes: true }];
  const pattern = read(canaryByHeaderPattern);
  if (pattern === undefined) {
    return [
      { when: on("exact", "always"), takes: true },
      { when: on("exact", "never"), takes: false },
    ];
  }
  const compiled = compileRegex(pattern, { whole: false });
  if (compiled.ok) return [{ when: on("regex", pattern), takes: true }];
  ignore(canaryByHeaderPattern, `${describeProblem(compiled.error)}, so that no value of the header matches`);
  return [{ when: on("regex", ""), takes: false }];
}

function cookieChoices(read: NginxReader): CanaryRule["choices"] {
  const name = read(canaryByCookie);
  if (name === undefined) return [];
  const is = (value: string) => ({ cookies: [{ name, type: "exact" as const, value }] });
  return [
    { when: is("always"), takes: true },
    { when: is("never"), takes: false },
  ];
}
