/** Filters of type ExtensionRef: resources of our own API group as features. See docs/gateway-api.md, "Extensions". */
import { authBasicSecret, unknownUsers } from "@svc-gateway/common/features/auth-basic-secret.ts";
import { authJwt } from "@svc-gateway/common/features/auth-jwt.ts";
import { compression } from "@svc-gateway/common/features/compression.ts";
import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import { extAuth } from "@svc-gateway/common/features/ext-auth.ts";
import { ipAccessControl } from "@svc-gateway/common/features/ip-access-control.ts";
import { maxBodySize } from "@svc-gateway/common/features/max-body-size.ts";
import { isPathText } from "@svc-gateway/common/features/path-modifier.ts";
import { rateLimit } from "@svc-gateway/common/features/rate-limit.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { highestGroup } from "@svc-gateway/common/features/rewrite-target.ts";
import type { Problem } from "@svc-gateway/common/values/result.ts";
import type { HTTPRouteRuleFilterExtensionRef as ExtensionRef } from "../../../api/generated/httproute.ts";
import type { KindName } from "../../../api/kinds.ts";
import { isNamedKind, isStandIn } from "../../../api/stand-in.ts";
import type { ConditionReason } from "../../condition.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import {
  describeUnusable,
  protectionUnavailable,
  resourceFieldIgnored,
  unusableResource,
} from "../../diagnostics/references.ts";
import { countGroups, groupMissing } from "../../diagnostics/routes.ts";
import type { AnnotationReader } from "../../features/annotation-reader.ts";
import { translateAuthBasicSecret } from "../../features/auth-basic-secret.ts";
import { translateAuthJwt } from "../../features/auth-jwt.ts";
import { translateCompression } from "../../features/compression.ts";
import type { FeatureContext } from "../../features/context.ts";
import { translateExtAuth } from "../../features/ext-auth.ts";
import { translateIpAccessControl } from "../../features/ip-access-control.ts";
import { translateRateLimit } from "../../features/rate-limit.ts";
import { readRetryPolicy } from "../../features/retry.ts";
import { quote, quoteKind, withArticle } from "../../text.ts";
import { featureContext, type FilterContext } from "./filter-context.ts";
import { canonicalReplacement } from "./path-replacement.ts";
import { readRouteOptions, type ReadOptions } from "./route-options.ts";

const extensionGroup = "gateway.svc-labs.dev";

/** `missing` is reported in ResolvedRefs, `unsupported` in Accepted or PartiallyInvalid. */
export type ExtensionResult =
  ReadOptions | { readonly missing: ConditionReason } | { readonly unsupported: ConditionReason };

type Name = { readonly namespace: string; readonly name: string };
type ReadExtension = (name: Name, context: FilterContext) => RouteFeatures;
type ReadWithPaths = (name: Name, context: FilterContext) => ReadOptions;

/** Translates a feature as if an annotation named the resource, so that both share one implementation. */
const asIfAnnotated =
  <T>(
    definition: AnnotationDefinition<T>,
    translate: (read: AnnotationReader, context: FeatureContext) => RouteFeatures,
  ): ReadExtension =>
  (name, context) =>
    translate(readOnly(definition, name), featureContext(context));

/** An annotation reader that knows a single annotation, whose value is already read. */
const readOnly = (definition: { readonly name: string }, value: Name): AnnotationReader =>
  Object.assign((asked: { readonly name: string }) => (asked.name === definition.name ? value : undefined), {
    inherited: () => undefined,
  }) as AnnotationReader;

const externalAuth = asIfAnnotated(extAuth.annotations.extAuth, (read, context) => ({
  "ext-auth": translateExtAuth(read, context),
}));

type Extension = {
  /** The kind of the object. */
  readonly resource: KindName;
  readonly httpOnly?: true;
  /** Whether the feature acts on upstreams or responses, so that it has nothing to do before a route is chosen. */
  readonly afterRouting?: true;
  /** Whether several filters of this kind all apply. Of several authentications, each must admit the request. */
  readonly additive?: true;
  /** Whether the filter authenticates clients, regardless of the content of the resource. */
  readonly authenticates?: true;
} & ({ readonly read: ReadExtension } | { readonly readWithPaths: ReadWithPaths });

const authentication = { additive: true, authenticates: true } as const;

/** The extensions by the kind that a filter names. */
const extensions: { readonly [kind: string]: Extension } = {
  RetryPolicy: { resource: "RetryPolicy", afterRouting: true, read: readRetryExtension },
  IpAccessControl: {
    resource: "IpAccessControl",
    read: asIfAnnotated(ipAccessControl.annotations.ipAccessControl, (read, context) => ({
      "ip-access-control": translateIpAccessControl(read, context),
    })),
  },
  RateLimit: {
    resource: "RateLimit",
    read: asIfAnnotated(rateLimit.annotations.rateLimit, (read, context) => ({
      "rate-limit": translateRateLimit(read, context),
    })),
  },
  SvcExternalAuth: { resource: "SvcExternalAuth", ...authentication, read: externalAuth },
  ExternalAuth: { resource: "SvcExternalAuth", ...authentication, read: externalAuth },
  JwtAuth: {
    resource: "JwtAuth",
    ...authentication,
    read: asIfAnnotated(authJwt.annotations.authJwt, (read, context) => ({
      "auth-jwt": translateAuthJwt(read, context),
    })),
  },
  BasicAuth: { resource: "BasicAuth", ...authentication, read: readBasicAuth },
  Compression: {
    resource: "Compression",
    afterRouting: true,
    read: asIfAnnotated(compression.annotations.compression, (read, context) => ({
      compression: translateCompression(read, context),
    })),
  },
  PathRewriteRegex: { resource: "PathRewriteRegex", httpOnly: true, read: readPathRewrite },
  RequestSizeLimit: { resource: "RequestSizeLimit", read: readSizeLimit },
  RouteOptions: {
    resource: "RouteOptions",
    afterRouting: true,
    additive: true,
    readWithPaths: ({ namespace, name }, context) => {
      const options = context.view.lookup("RouteOptions", namespace, name);
      return options === undefined ? { features: {} } : readRouteOptions(options, context);
    },
  },
};

/** The kinds that a filter of type ExtensionRef may name. */
export const extensionKinds: readonly string[] = Object.keys(extensions);

/** Whether several extensions of this kind all apply. */
export const isAdditiveExtension = (kind: string | undefined): boolean =>
  kind !== undefined && Object.hasOwn(extensions, kind) && extensions[kind]?.additive === true;

/** Whether an extension of this kind authenticates clients. */
export const isAuthentication = (kind: string | undefined): boolean =>
  kind !== undefined && Object.hasOwn(extensions, kind) && extensions[kind]?.authenticates === true;

/**
 * Returns the feature that an ExtensionRef requests. The resource must be in the namespace of the object with
 * the filter.
 */
export function readExtension(ref: ExtensionRef | undefined, context: FilterContext): ExtensionResult {
  const { group = "", kind = "", name = "" } = ref ?? {};
  const isKnown = group === extensionGroup && Object.hasOwn(extensions, kind);
  const extension = isKnown ? extensions[kind] : undefined;
  if (extension === undefined || !isSupported(extension, context)) {
    const where = withArticle(context.level === "rule" ? context.kind : context.level);
    const expected = group === extensionGroup ? "" : `, expected a kind of group ${extensionGroup}`;
    const message = `ExtensionRef ${quoteKind({ group, kind })} is not supported on ${where}${expected}`;
    return { unsupported: { reason: "UnsupportedValue", message } };
  }
  const { namespace, view } = context;
  const found = view.lookup(extension.resource, namespace, name);
  // A stand-in of any other kind closes the route, so it is read like a resource.
  if (found === undefined || (isStandIn(found) && isNamedKind(extension.resource))) {
    const message = describeUnusable(`${kind} ${namespace}/${name}`, found);
    return { missing: { reason: "InvalidKind", message } };
  }
  return "read" in extension
    ? { features: extension.read({ namespace, name }, context) }
    : extension.readWithPaths({ namespace, name }, context);
}

function isSupported({ httpOnly, afterRouting }: Extension, { level, kind }: FilterContext): boolean {
  if (level === "listener") return afterRouting !== true;
  return level === "rule" && (httpOnly !== true || kind === "HTTPRoute");
}

/** Reads a RetryPolicy. Its gRPC codes apply to GRPCRoutes only. */
function readRetryExtension(
  { namespace, name }: Name,
  { view, kind, place, findings }: FilterContext,
): RouteFeatures {
  const policy = view.lookup("RetryPolicy", namespace, name);
  if (policy === undefined) return {};
  const { value, refused } = readRetryPolicy(policy);
  const named = `RetryPolicy ${namespace}/${name}`;
  for (const what of refused) findings.diagnostics.push(resourceFieldIgnored(place, named, what));
  if (value === undefined) return {};
  const { grpcCodes: _, ...http } = value;
  return { retry: kind === "GRPCRoute" ? value : http };
}

/** Reads a BasicAuth. A Secret in another namespace requires a ReferenceGrant for BasicAuths of this namespace. */
function readBasicAuth({ namespace, name }: Name, context: FilterContext): RouteFeatures {
  const resource = context.view.lookup("BasicAuth", namespace, name);
  if (resource === undefined) return {};
  if (isStandIn(resource)) {
    const why = describeUnusable(`BasicAuth ${namespace}/${name}`, resource);
    const { fallback } = authBasicSecret.annotations.authBasicSecret;
    context.findings.diagnostics.push(protectionUnavailable(context.place, why, fallback));
    return { "auth-basic-secret": unknownUsers };
  }
  const { name: secret, namespace: secretNamespace = namespace } = resource.spec.secretRef;
  const read = readOnly(authBasicSecret.annotations.authBasicSecret, {
    namespace: secretNamespace,
    name: secret,
  });
  const referrer = { kind: "BasicAuth", namespace } as const;
  return { "auth-basic-secret": translateAuthBasicSecret(read, { ...featureContext(context), referrer }) };
}

function readSizeLimit({ namespace, name }: Name, { view, place, findings }: FilterContext): RouteFeatures {
  const resource = view.lookup("RequestSizeLimit", namespace, name);
  if (resource === undefined) return {};
  const limit = maxBodySize.annotations.maxBodySize.parse(String(resource.spec.maxSize).trim(), () => {});
  if (limit.ok) return { "max-body-size": limit.value };
  const why = `RequestSizeLimit ${namespace}/${name}: spec.maxSize: ${describeProblem(limit.error)}`;
  findings.diagnostics.push(unusableResource(place, why, "bodies are not limited"));
  return {};
}

/**
 * Reads a PathRewriteRegex. It is for HTTPRoutes only, because the path of a gRPC request is the name of a
 * method. Paths are not rewritten if the pattern does not compile or the replacement cannot be part of a path.
 */
function readPathRewrite({ namespace, name }: Name, { view, place, findings }: FilterContext): RouteFeatures {
  const resource = view.lookup("PathRewriteRegex", namespace, name);
  if (resource === undefined) return {};
  const { pattern, replacement } = resource.spec;
  const checked = findings.regexBudget.compile(pattern, { whole: false });
  const ignore = (field: string, why: Problem): RouteFeatures => {
    const what = `${field}: ${describeProblem(why)}; paths are not rewritten`;
    findings.diagnostics.push(resourceFieldIgnored(place, `PathRewriteRegex ${namespace}/${name}`, what));
    return {};
  };
  if (!checked.ok) return ignore("spec.pattern", checked.error);
  if (!isPathText(replacement.replaceAll("$", ""))) {
    const message = `${quote(replacement)} has characters that are not valid in a path`;
    return ignore("spec.replacement", { message });
  }
  const value = canonicalReplacement(replacement, pattern);
  if (!value.ok) return ignore("spec.replacement", value.error);
  const highest = highestGroup(replacement) ?? 0;
  const groups = checked.value.groupCount;
  if (highest > groups) {
    const why = `spec.pattern ${quote(pattern)} of PathRewriteRegex ${namespace}/${name} has ${countGroups(groups)}, so it is replaced by nothing`;
    findings.diagnostics.push(groupMissing(place, `$${highest}`, why));
  }
  return { "rewrite-target": { path: { type: "replace", value: value.value, pattern } } };
}
