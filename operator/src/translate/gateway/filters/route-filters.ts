/** Reads the filters of a rule, or of one of its backends, as features. See docs/gateway-api.md, "Filters". */
import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { HTTPRouteRuleFilter as Filter } from "../../../api/generated/httproute.ts";
import { isClosing, keepClosed } from "../../closures.ts";
import type { Fault, ConditionReason } from "../../condition.ts";
import { routeFieldIgnored } from "../../diagnostics/gateway.ts";
import { quote, quoteKind } from "../../text.ts";
import { invalidAnswer } from "../routes/backend-ref.ts";
import { readCors } from "./cors.ts";
import { readExternalAuthFilter } from "./ext-auth.ts";
import { isAdditiveExtension, isAuthentication, readExtension } from "./extension-refs.ts";
import type { FilterContext } from "./filter-context.ts";
import { readHeaderModifier } from "./header-modifier.ts";
import { readMirror } from "./mirror-target.ts";
import { readRedirect } from "./redirect.ts";
import { readRewrite } from "./rewrite-target.ts";

export type ReadFilters = {
  /** Returns the features for requests of one match. They depend on it because of prefix replacements. */
  readonly of: (path: PathMatch) => RouteFeatures | undefined;
  /**
   * References that cannot be resolved. A mirror with one is omitted; a rule or backend with another such
   * filter answers 500.
   */
  readonly unresolved: readonly Fault[];
  /** Filters that are not supported: a rule or backend with one answers 500. */
  readonly unsupported: readonly Fault[];
  readonly isBroken: boolean;
};

/**
 * Reads the filters of a rule or backend. Of two filters of a type, or two extensions of a kind, the first one
 * applies, except that all mirrors and authorizations apply.
 */
export function readFilters(filters: readonly Filter[] | undefined, outer: FilterContext): ReadFilters {
  if (filters === undefined || filters.length === 0) return none;
  const fixed: RouteFeatures[] = [];
  const ofPath: ((path: PathMatch) => RouteFeatures)[] = [];
  const seen = new Set<string>();
  const authenticates = filters.some(asksClients);
  const unresolved: Fault[] = [];
  const unsupported: Fault[] = [];
  let isBroken = false;
  for (const [index, filter] of filters.entries()) {
    const { type } = filter;
    const place = { ...outer.place, field: `${outer.place.field}.filters[${index}]` };
    const context = { ...outer, authenticates, place };
    const at = (refusal: ConditionReason, consequence = answersInstead(outer)): Fault => ({
      ...refusal,
      field: place.field,
      consequence,
    });
    const warn = (message: string): void => {
      outer.findings.diagnostics.push(routeFieldIgnored(place, message));
    };
    const key = describe(filter);
    if (seen.has(key) && !isAdditive(filter)) {
      warn(`A second filter ${key} is ignored: only the first one applies`);
      continue;
    }
    seen.add(key);
    switch (type) {
      case "RequestHeaderModifier":
        fixed.push({ "request-headers": readHeaderModifier(filter.requestHeaderModifier, "request", warn) });
        break;
      case "ResponseHeaderModifier":
        fixed.push({
          "response-headers": readHeaderModifier(filter.responseHeaderModifier, "response", warn),
        });
        break;
      case "RequestRedirect":
        ofPath.push((path) => ({ redirect: readRedirect(filter.requestRedirect, path) }));
        break;
      case "URLRewrite":
        ofPath.push((path) => ({ "rewrite-target": readRewrite(filter.urlRewrite, path) }));
        break;
      case "CORS":
        fixed.push({ cors: readCors(filter.cors, context) });
        break;
      case "RequestMirror": {
        const read = readMirror(filter.requestMirror, context);
        if ("reason" in read) unresolved.push(at(read, "requests are not mirrored there"));
        else fixed.push({ "mirror-target": read });
        break;
      }
      case "ExtensionRef": {
        const read = readExtension(filter.extensionRef, context);
        if ("features" in read) {
          fixed.push(keepClosed(read.features));
          if (read.ofPath !== undefined) ofPath.push(read.ofPath);
        } else {
          isBroken = true;
          if ("missing" in read) unresolved.push(at(read.missing));
          else unsupported.push(at(read.unsupported));
        }
        break;
      }
      case "ExternalAuth": {
        const read = readExternalAuthFilter(filter.externalAuth, context);
        if ("check" in read) fixed.push({ "ext-auth": [read] });
        else {
          isBroken = true;
          if ("unresolved" in read) unresolved.push(at(read.unresolved));
          else unsupported.push(at(read.unsupported));
        }
        break;
      }
      default:
        isBroken = true;
        unsupported.push(
          at({ reason: "UnsupportedValue", message: `Filter ${quote(type)} is not supported` }),
        );
    }
  }
  const common = join(fixed);
  const of = (path: PathMatch): RouteFeatures | undefined => {
    const parts = ofPath.map((read) => read(path));
    const features = Object.assign({}, common, ...parts) as {
      -readonly [S in keyof RouteFeatures]: RouteFeatures[S];
    };
    // The host and path of a URLRewrite are combined with the path rewrite of an extension.
    const rewrite = Object.assign({}, ...[common, ...parts].map((part) => part["rewrite-target"]));
    if (Object.keys(rewrite).length > 0) features["rewrite-target"] = rewrite;
    return Object.values(features).every((value) => value === undefined) ? undefined : features;
  };
  return { of, unresolved, unsupported, isBroken };
}

/** The answer of a rule or backend with a filter that is missing or not supported, for messages. */
const answersInstead = ({ kind, level }: FilterContext): string =>
  `${level === "backend" ? "the backend's share" : "every request of the rule"} is answered ${invalidAnswer(kind)}`;

/** A key that two filters share if only the first of them applies. */
const describe = ({ type, extensionRef: ref }: Filter): string =>
  type === "ExtensionRef"
    ? `${type} ${quoteKind({ group: ref?.group ?? "", kind: ref?.kind ?? "" })}`
    : quote(type);

/** Whether a filter applies in addition to others of its type, as mirrors and authorizations do. */
const isAdditive = ({ type, extensionRef }: Filter): boolean =>
  type === "RequestMirror" ||
  type === "ExternalAuth" ||
  (type === "ExtensionRef" && isAdditiveExtension(extensionRef?.kind));

/** Whether a filter authenticates clients. */
export const asksClients = ({ type, extensionRef }: Filter): boolean =>
  type === "ExternalAuth" || (type === "ExtensionRef" && isAuthentication(extensionRef?.kind));

/** The features of additive filters. Their values are lists, and every entry applies. */
const additive = ["auth-basic-secret", "auth-jwt", "ext-auth", "mirror-target"] as const;

/**
 * Joins the features of all filters. Of several values of a feature the last one is used, or the one that closes the
 * rule because an object or annotation is invalid. Lists of additive features keep the order of the filters, and the
 * changes to response headers are merged field by field.
 */
function join(all: readonly RouteFeatures[]): RouteFeatures {
  const lists = additive.flatMap((slug) => {
    const entries = all.flatMap((features): readonly unknown[] => features[slug] ?? []);
    return entries.length === 0 ? [] : [[slug, entries]];
  });
  const ofResponses: object = Object.assign({}, ...all.map((features) => features["response-headers"]));
  return Object.assign(
    {},
    ...all,
    ...all.map(closingOnly),
    Object.fromEntries(lists),
    Object.keys(ofResponses).length > 0 && { "response-headers": ofResponses },
  );
}

const closingOnly = (features: RouteFeatures): RouteFeatures =>
  Object.fromEntries(
    Object.entries(features).filter(([slug, value]) => isClosing(slug as FeatureSlug, value)),
  );

const none: ReadFilters = {
  of: () => undefined,
  unresolved: [],
  unsupported: [],
  isBroken: false,
};
