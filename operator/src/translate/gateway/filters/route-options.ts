/** RouteOptions: annotations for Ingresses, used as filters of a rule. See docs/gateway-api.md, "RouteOptions". */
import { authBasicSecret } from "@svc-gateway/common/features/auth-basic-secret.ts";
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { annotations as known, type RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { hasGroupReference, rewriteTarget } from "@svc-gateway/common/features/rewrite-target.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import { mostSimilar } from "@svc-gateway/common/values/similar.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { isStandIn } from "../../../api/stand-in.ts";
import { closeAll } from "../../closures.ts";
import { invalidAnnotation } from "../../diagnostics/annotations.ts";
import {
  describeUnusable,
  protectionUnavailable,
  resourceFieldIgnored,
} from "../../diagnostics/references.ts";
import { createAnnotationReader } from "../../features/annotation-reader.ts";
import type { FeatureContext } from "../../features/context.ts";
import { slugOfAnnotation, translateFeatures } from "../../features/index.ts";
import { expandRewriteTarget } from "../../ingress/rewrite-target.ts";
import { quote } from "../../text.ts";
import { featureContext, type FilterContext } from "./filter-context.ts";

/**
 * The features of the options. Those that `ofPath` returns for a path of the rule replace features of the same name.
 */
export type ReadOptions = {
  readonly features: RouteFeatures;
  readonly ofPath?: (path: PathMatch) => RouteFeatures;
};

const everythingCloses = authBasicSecret.annotations.authBasicSecret.fallback;

/** Reads each annotation as on an Ingress of the same namespace. */
export function readRouteOptions(resource: ObjectOf<"RouteOptions">, context: FilterContext): ReadOptions {
  const { namespace, name } = resource.metadata;
  const { place, findings } = context;
  const named = `RouteOptions ${namespace}/${name}`;
  if (isStandIn(resource)) {
    findings.diagnostics.push(
      protectionUnavailable(place, describeUnusable(named, resource), everythingCloses),
    );
    return { features: closeAll(undefined) };
  }
  const ignore = (_key: string, message: string): void => {
    findings.diagnostics.push(resourceFieldIgnored(place, named, `spec.annotations: ${message}`));
  };
  const written = resource.spec.annotations;
  const keys = Object.keys(written);
  const used = keys.filter(isOption);
  for (const key of keys) if (!isOption(key) && key !== clientCertificates) ignore(key, withoutEffect(key));
  const read = createAnnotationReader({
    annotations: written,
    classDefaults: undefined,
    onInvalid: (key, message) => {
      if (known.get(key)?.onInvalid === "deny")
        findings.diagnostics.push(invalidAnnotation(place, `${named}: spec.annotations: ${message}`));
      else ignore(key, message);
    },
    onWarning: ignore,
  });
  const features = translateFeatures(read, contextOf(written, context), used) ?? {};
  if (Object.hasOwn(written, clientCertificates)) {
    const why = `${named}: ${clientCertificates} is for hosts of Ingresses (spec.tls.frontend of the Gateway asks clients for certificates)`;
    findings.diagnostics.push(protectionUnavailable(place, why, everythingCloses));
    return { features: closeAll(features) };
  }
  const newPath = read(rewriteTarget.annotations.rewriteTarget);
  if (newPath === undefined || !hasGroupReference(newPath)) return { features };
  const ofPath = (path: PathMatch): RouteFeatures =>
    (path.type === "regex" ? expandRewriteTarget(undefined, newPath, path.value) : undefined) ?? {};
  return { features, ofPath };
}

const clientCertificates = annotationKey(authTls.annotations.authTlsSecret);

/**
 * Whether an annotation can be an option. Those of routing and TLS belong to hosts; a redirect to https depends
 * on the listener.
 */
const isOption = (key: string): boolean => {
  const definition = known.get(key);
  const slug = definition && slugOfAnnotation(definition.name);
  return slug !== undefined && slug !== "ssl-redirect";
};

function withoutEffect(key: string): string {
  if (known.has(key)) return `${key} has no effect on a rule of a route`;
  const meant = mostSimilar(key, [...known.keys()]);
  const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
  return `${quote(key)} is not an annotation of this gateway${hint}; it has no effect`;
}

/** The context of the filter, in which the annotations of the object count like those of an Ingress. */
function contextOf(written: { readonly [key: string]: string }, context: FilterContext): FeatureContext {
  const { filters, ...rest } = featureContext(context);
  return {
    ...rest,
    ...(filters?.authenticate === true && { filters }),
    hasAnnotation: (name) => Object.hasOwn(written, annotationKey({ name })),
  };
}
