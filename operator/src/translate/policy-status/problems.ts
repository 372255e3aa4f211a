/** The faults of a policy, independent of its users. */
import type { ObjectOf } from "../../api/kinds.ts";
import { formatRef, refOf } from "../../api/object.ts";
import { attempt } from "../attempt.ts";
import type { ConditionReason } from "../condition.ts";
import { finding } from "../diagnostics/define-finding.ts";
import { readClassDefaults } from "../features/class-defaults.ts";
import { findAuthService } from "../features/ext-auth.ts";
import type { Diagnostic } from "../finding.ts";
import { overlayOf } from "../gateway/dedicated/overlay.ts";
import { readExtension } from "../gateway/filters/extension-refs.ts";
import { noFindings } from "../gateway/filters/filter-context.ts";
import type { View } from "../incremental/view.ts";
import { nginxName } from "../ingress-nginx/class.ts";
import type { IngressNginxSettings, TranslateSettings } from "../settings.ts";
import type { Policy } from "./kinds.ts";

export type PolicyProblems = {
  /** The reason why an object that the policy names cannot be used; undefined if all can. */
  readonly unresolved: ConditionReason | undefined;
  /** The reasons why it has no effect, or not the intended one. */
  readonly unusable: readonly string[];
  /** The parts of it that are ignored or replaced. */
  readonly ignored: readonly string[];
};

export type PolicyReadSettings = Pick<TranslateSettings, "allowExternalName" | "ingressNginx">;

const extensionGroup = "gateway.svc-labs.dev";

/** Reads a policy as a filter in its own namespace would. Never throws: a policy that cannot be read is unusable. */
export function problemsOf(policy: Policy, view: View, settings: PolicyReadSettings): PolicyProblems {
  const { diagnostics } = attempt(policy, () => ({ diagnostics: read(policy, view, settings) }), {});
  const named = formatRef(refOf(policy));
  const textOf = ({ field, message }: Diagnostic): string => {
    const text = message.startsWith(`${named}: `) ? message.slice(named.length + 2) : message;
    return field === undefined ? text : `${field}: ${text}`;
  };
  const ofReferences = diagnostics.filter((one) => isAboutReference(policy, one));
  const ofPolicy = diagnostics.filter((one) => !ofReferences.includes(one) && one.severity !== "info");
  const [first] = ofReferences;
  return {
    unresolved: first && { reason: refReasons[first.reason] ?? "InvalidRef", message: textOf(first) },
    unusable: ofPolicy.filter((one) => isUnusable(policy, one)).map(textOf),
    ignored: ofPolicy.filter((one) => !isUnusable(policy, one)).map(textOf),
  };
}

/** The reason of the condition, by the reason of the finding. */
const refReasons: Readonly<Record<string, string>> = {
  ReferenceNotFound: "RefNotFound",
  ReferenceNotPermitted: "RefNotPermitted",
  BackendRefNotFound: "RefNotFound",
};

const isAboutReference = ({ kind }: Policy, { reason }: Diagnostic): boolean =>
  // A BasicAuth consists only of a reference.
  Object.hasOwn(refReasons, reason) || (kind === "BasicAuth" && reason === "ProtectionUnavailable");

/** Whether a finding makes the policy unusable. Each field of a PathRewriteRegex is required. */
const isUnusable = ({ kind }: Policy, { severity, reason }: Diagnostic): boolean =>
  severity === "error" ||
  reason === "UnusableResource" ||
  (kind === "PathRewriteRegex" && reason === "InvalidField");

function read(
  policy: Policy,
  view: View,
  { allowExternalName, ingressNginx }: PolicyReadSettings,
): readonly Diagnostic[] {
  const place = { object: refOf(policy) };
  switch (policy.kind) {
    case "SvcIngressClassParameters":
      return readParameters(policy, ingressNginx);
    case "SvcGatewayParameters": {
      const overlay = overlayOf(policy.spec.podTemplate);
      if (!overlay.ok) return [finding("error", "InvalidParameters")(place, overlay.error)];
      const ignored = overlay.value?.ignored ?? [];
      return ignored.map((path) =>
        finding("warning", "InvalidField")(place, `spec.podTemplate: ${path} is left out`),
      );
    }
    case "SvcExternalAuth": {
      // A URL can also lead to hosts, and is read together with everything else.
      if (policy.spec.http?.url !== undefined) break;
      const service = findAuthService(policy, view);
      if (service.ok) break;
      const { message } = service.error;
      const reason = message.startsWith("no ReferenceGrant") ? "ReferenceNotPermitted" : "BackendRefNotFound";
      return [finding("error", reason)(place, `spec.backendRef: ${message}`)];
    }
    default:
      break;
  }
  const findings = noFindings();
  const { namespace, name } = policy.metadata;
  readExtension(
    { group: extensionGroup, kind: policy.kind, name },
    {
      view,
      allowExternalName,
      kind: "HTTPRoute",
      namespace,
      level: "rule",
      authenticates: true,
      place,
      findings,
    },
  );
  return findings.diagnostics;
}

/** Reads parameters. Annotations of ingress-nginx are known keys if a class can be read in its dialect. */
function readParameters(
  parameters: ObjectOf<"SvcIngressClassParameters">,
  settings: IngressNginxSettings,
): readonly Diagnostic[] {
  const { diagnostics, unknown } = readClassDefaults(parameters);
  const mayBeNginx = settings.classes.length > 0 || parameters.spec.annotations === "ingress-nginx";
  if (!mayBeNginx) return diagnostics;
  return diagnostics.filter((one) => {
    const key = unknown.get(one);
    return key === undefined || nginxName(key, settings) === undefined;
  });
}
