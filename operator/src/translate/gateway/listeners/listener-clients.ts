/**
 * Client certificates that the TLS options of a listener request. See docs/features/auth-tls.md, "Listeners of
 * Gateways".
 */
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import { annotationKey, annotationPrefix } from "@svc-gateway/common/features/definition.ts";
import type { GatewayListener as Written } from "../../../api/generated/gateway.ts";
import { refOf } from "../../../api/object.ts";
import { reasonAt, type ConditionReason } from "../../condition.ts";
import { invalidAnnotation } from "../../diagnostics/annotations.ts";
import { keyField, type Place } from "../../diagnostics/define-finding.ts";
import { routeFieldIgnored } from "../../diagnostics/gateway.ts";
import { referenceNotPermitted } from "../../diagnostics/references.ts";
import { createAnnotationReader } from "../../features/annotation-reader.ts";
import { translateAuthTls, type AuthTls } from "../../features/auth-tls.ts";
import { describeUnknownKey, unknownKeys } from "../../features/class-defaults.ts";
import type { FeatureContext } from "../../features/context.ts";
import type { Diagnostic } from "../../finding.ts";
import type { View } from "../../incremental/view.ts";
import { featureContext, noFindings } from "../filters/filter-context.ts";
import type { ListenerOwner } from "../kinds.ts";

export type ListenerClients = {
  /** The requested validation; undefined if the options request none. */
  readonly asked: AuthTls | undefined;
  /** The reason why the listener is not served: it would admit clients that its options are meant to reject. */
  readonly unaccepted: ConditionReason | undefined;
  /**
   * The reason why the Secret cannot be used. The listener is served and admits no client; otherwise a listener
   * with a wider host could serve its requests.
   */
  readonly unresolved: ConditionReason | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

const nothing: ListenerClients = {
  asked: undefined,
  unaccepted: undefined,
  unresolved: undefined,
  diagnostics: [],
};

const clientKeys: ReadonlySet<string> = new Set(Object.values(authTls.annotations).map(annotationKey));
const secretKey = annotationKey(authTls.annotations.authTlsSecret);

/**
 * Reads each option like the annotation of an Ingress. `index` is the position of the listener in its Gateway
 * or ListenerSet.
 */
export function readListenerClients(
  { protocol, tls }: Written,
  index: number,
  owner: ListenerOwner,
  view: View,
): ListenerClients {
  const options = tls?.options ?? {};
  const keys = Object.keys(options);
  const placeOf = (key: string): Place => ({
    object: refOf(owner),
    field: keyField(`spec.listeners[${index}].tls.options`, key),
  });
  const diagnostics: Diagnostic[] = [
    ...unknownKeys(keys).map((key) => describeUnknownKey(placeOf(key), key)),
    ...keys
      .filter(
        (key) =>
          key.startsWith(annotationPrefix) && !clientKeys.has(key) && !unknownKeys([key]).includes(key),
      )
      .map((key) => routeFieldIgnored(placeOf(key), `${key} has no effect on a listener`)),
  ];
  if (!keys.some((key) => clientKeys.has(key)))
    return diagnostics.length === 0 ? nothing : { ...nothing, diagnostics };
  if (protocol !== "HTTPS" && Object.hasOwn(options, secretKey)) {
    const message = `tls.options: a listener of protocol ${protocol} cannot ask for client certificates (${secretKey}), expected HTTPS`;
    return { ...nothing, unaccepted: { reason: "UnsupportedValue", message }, diagnostics };
  }
  let unresolved: ConditionReason | undefined;
  /** A fault of the Secret becomes a condition of the listener, from which the finding is derived. */
  const report = (key: string, finding: Diagnostic, reason: string): void => {
    if (key !== secretKey) diagnostics.push(finding);
    else unresolved ??= reasonAt(keyField("tls.options", key), { reason, message: finding.message });
  };
  const read = createAnnotationReader({
    annotations: options,
    classDefaults: undefined,
    onInvalid: (key, message) => report(key, invalidAnnotation(placeOf(key), message), invalidReference),
    onWarning: (key, message) => diagnostics.push(routeFieldIgnored(placeOf(key), message)),
  });
  const asked = translateAuthTls(read, contextOf(options, owner, view, placeOf, report));
  return { asked, unaccepted: undefined, unresolved, diagnostics };
}

/** The reason of the condition, as for the authorities of `spec.tls.frontend` (GEP-91). */
const invalidReference = "InvalidCACertificateRef";

/** The context of the annotations, which reports findings about options. */
function contextOf(
  options: Readonly<Record<string, string>>,
  { kind, metadata: { namespace } }: ListenerOwner,
  view: View,
  placeOf: (key: string) => Place,
  add: (key: string, finding: Diagnostic, reason: string) => void,
): FeatureContext {
  const report: FeatureContext["report"] = (definition, finding) => {
    const key = annotationKey(definition);
    add(key, finding(placeOf(key)), invalidReference);
  };
  const place = placeOf(secretKey);
  return {
    ...featureContext({
      ...{ view, allowExternalName: false, kind, namespace },
      ...{ level: "listener", place, findings: noFindings() },
    }),
    report,
    reportWithEvent: report,
    refuse: (definition, message) => {
      const key = annotationKey(definition);
      add(key, referenceNotPermitted(placeOf(key), message), "RefNotPermitted");
    },
    hasAnnotation: (name) => Object.hasOwn(options, annotationKey({ name })),
  };
}
