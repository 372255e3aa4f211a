/** The choice among the endpoints of a path. See docs/ingress-nginx.md, "Balancing". */
import { parseRequestTemplate, type RequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import type { Balancing } from "@svc-gateway/common/ir/balancing.ts";
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import {
  loadBalance,
  upstreamHashBy,
  upstreamHashBySubset,
  upstreamHashBySubsetSize,
} from "../annotations/balancing.ts";
import { backendOfPath, backendsOf, type PathBackend } from "../path-backends.ts";
import type { NginxReader } from "../reader.ts";
import { optionsOf } from "../statics.ts";
import type { Group, GroupContext, NginxPath } from "./group.ts";
import { reportPartners } from "./partners.ts";

type ToBalancing = (path: NginxPath) => Balancing | undefined;

/** A canary chooses among its endpoints by its own annotations, not by those of its primary. */
export const balancing: Group = (read, context) => {
  const toBalancing = readHash(read, context) ?? readAlgorithm(read, context);
  if (toBalancing === undefined) return {};
  const backend = (before: Backend, path: NginxPath): Backend => {
    const chosen = before.endpoints === undefined ? undefined : toBalancing(path);
    return chosen === undefined ? before : { ...before, balancing: chosen };
  };
  return { backend, ofCanary: backend };
};

/** Reads the hash, which overrides an algorithm; undefined if there is none, or if it cannot be read. */
function readHash(read: NginxReader, context: GroupContext): ToBalancing | undefined {
  const text = read(upstreamHashBy);
  const templates = text === undefined ? undefined : parseForAll(text, context);
  if (templates === undefined) {
    const partners = [upstreamHashBySubset, upstreamHashBySubsetSize];
    reportPartners(partners, "has no effect without upstream-hash-by", read, context);
    return undefined;
  }
  if (read.sourceOf(loadBalance) === "annotation") {
    context.noEffect(loadBalance, "has no effect beside upstream-hash-by");
  }
  const subset = readSubset(read, context);
  return (path) => {
    const key = templates.get(keyOf(backendOfPath(context.ingress, path)));
    return key && { algorithm: "hash", key, ...(subset !== undefined && { subset }) };
  };
}

/** The templates by backend, because `$service_name` and `$service_port` are resolved here. */
function parseForAll(
  text: string,
  { ingress, usePartly }: GroupContext,
): ReadonlyMap<string, RequestTemplate> | undefined {
  const parse = (backend: PathBackend): Result<RequestTemplate> =>
    parseRequestTemplate(text, optionsOf(ingress, backend));
  const found = new Map<string, RequestTemplate>();
  for (const backend of backendsOf(ingress)) {
    const template = parse(backend);
    if (!template.ok) {
      usePartly(
        upstreamHashBy,
        `${describeProblem(template.error)}; nginx would refuse such a configuration in ingress-nginx, here endpoints are chosen without a hash`,
      );
      return undefined;
    }
    found.set(keyOf(backend), template.value);
  }
  return found;
}

const keyOf = ({ name, port }: PathBackend): string => `${name}/${port}`;

const usualSubset = 3;

function readSubset(read: NginxReader, context: GroupContext): number | undefined {
  if (read(upstreamHashBySubset) !== true) {
    const why = 'has no effect without upstream-hash-by-subset: "true"';
    reportPartners([upstreamHashBySubsetSize], why, read, context);
    return undefined;
  }
  const size = read(upstreamHashBySubsetSize) ?? 0;
  return size === 0 ? usualSubset : size;
}

function readAlgorithm(read: NginxReader, { differs, noEffect }: GroupContext): ToBalancing | undefined {
  const algorithm = read(loadBalance);
  const isOfIngress = read.sourceOf(loadBalance) === "annotation";
  switch (algorithm) {
    case undefined:
      return undefined;
    case "round_robin":
      // As a default, it leaves the choice to the policy of the Service.
      return isOfIngress ? () => ({ algorithm }) : undefined;
    case "ewma":
      return () => ({ algorithm });
    case "least_conn":
    case "ip_hash":
      if (isOfIngress)
        differs(loadBalance, `ingress-nginx does not load an Ingress with ${algorithm}; it is served`);
      return algorithm === "least_conn"
        ? () => ({ algorithm })
        : () => ({ algorithm: "hash", key: [{ variable: "remote_addr" }] });
    default:
      if (isOfIngress) noEffect(loadBalance, `${algorithm} does not set an algorithm`);
      return undefined;
  }
}
