/** The settings of a class whose Ingresses are read in the ingress-nginx dialect. */
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import { invalidClassDefault } from "../diagnostics/classes.ts";
import { describeProblem, keyField } from "../diagnostics/define-finding.ts";
import { unknownNginxAnnotation } from "../diagnostics/ingress-nginx.ts";
import { protectionUnavailable } from "../diagnostics/references.ts";
import type { Diagnostic } from "../finding.ts";
import type { IngressNginxSettings } from "../settings.ts";
import type { NginxAnnotation } from "./annotations/declare.ts";
import { nginxAnnotations } from "./annotations/index.ts";
import type { NginxConfig } from "./config.ts";
import { meantBy } from "./unknown-names.ts";
import { isClosing, readValue } from "./value.ts";

/** Defaults of annotations, by name without prefix: a value, or the reason why it cannot be used. */
export type NginxDefaults = ReadonlyMap<string, Result<unknown>>;

/** A class in the ingress-nginx dialect. The object stays the same until something in it changes. */
export type NginxClass = {
  readonly settings: IngressNginxSettings;
  readonly config: NginxConfig;
  /** The defaults in its SvcIngressClassParameters. */
  readonly defaults: NginxDefaults;
  readonly policy: NginxPolicy;
};

/** The permissions that the operator gives to the Ingresses of a class. */
export type NginxPolicy = {
  /** Whether an Ingress is served without a protection that this gateway does not support. If false, it is closed. */
  readonly servesUnprotected: boolean;
  /** Uses that are forbidden although ingress-nginx allows them. */
  readonly forbidden: ReadonlySet<ForbiddenUse>;
};

export type ForbiddenUse = "backend-protocol-without-verification" | "auth-plain-hashes";

/** Returns the policy of a class with these parameters, or without any. */
export function readNginxPolicy(
  settings: IngressNginxSettings,
  parameters?: ObjectOf<"SvcIngressClassParameters">,
): NginxPolicy {
  const { whenUnprotected, forbid = [] } = parameters?.spec ?? {};
  const ofFlags: readonly ForbiddenUse[] = settings.requireBackendVerification
    ? ["backend-protocol-without-verification"]
    : [];
  return { servesUnprotected: whenUnprotected === "serve", forbidden: new Set([...forbid, ...ofFlags]) };
}

export const noNginxDefaults: NginxDefaults = new Map();

/** The name of an annotation without the prefix of ingress-nginx; undefined for any other key. */
export function nginxName(
  key: string,
  { annotationsPrefix }: Pick<IngressNginxSettings, "annotationsPrefix">,
): string | undefined {
  const isOurs = key.startsWith(annotationsPrefix) && key[annotationsPrefix.length] === "/";
  return isOurs ? key.slice(annotationsPrefix.length + 1) : undefined;
}

/** The key of an annotation of ingress-nginx. */
export const nginxKey = (
  { name }: Pick<NginxAnnotation, "name">,
  { annotationsPrefix }: Pick<IngressNginxSettings, "annotationsPrefix">,
): string => `${annotationsPrefix}/${name}`;

/** Whether an Ingress has the annotation with a value that is not blank, even if the value cannot be read. */
export const isWritten = (
  annotation: Pick<NginxAnnotation, "name">,
  { metadata }: ObjectOf<"Ingress">,
  { settings }: Pick<NginxClass, "settings">,
): boolean => (metadata.annotations?.[nginxKey(annotation, settings)] ?? "").trim() !== "";

/** Reads the defaults for annotations of ingress-nginx in the parameters of a class. */
export function readNginxDefaults(
  parameters: ObjectOf<"SvcIngressClassParameters">,
  settings: IngressNginxSettings,
): { readonly defaults: NginxDefaults; readonly diagnostics: readonly Diagnostic[] } {
  const defaults = new Map<string, Result<unknown>>();
  const diagnostics: Diagnostic[] = [];
  for (const [key, raw] of Object.entries(parameters.spec.defaultAnnotations ?? {})) {
    const name = nginxName(key, settings);
    if (name === undefined) continue;
    const place = { object: refOf(parameters), field: keyField("spec.defaultAnnotations", key) };
    const annotation = nginxAnnotations.get(name);
    if (annotation === undefined) {
      diagnostics.push(unknownNginxAnnotation(place, key, name, meantBy(name)));
      continue;
    }
    const value = readValue(annotation, raw);
    if (value === undefined) continue;
    defaults.set(nameOf(annotation), value);
    if (value.ok) continue;
    diagnostics.push(
      isClosing(annotation)
        ? protectionUnavailable(place, describeProblem(value.error), "every request is answered 503")
        : invalidClassDefault(place, value.error),
    );
  }
  return { defaults, diagnostics };
}

/** The name that an annotation counts as: for another spelling, the name that it is an alias of. */
const nameOf = ({ name, aliasOf = name }: NginxAnnotation): string => aliasOf;
