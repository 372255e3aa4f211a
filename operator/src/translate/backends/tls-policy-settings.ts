/**
 * Translates the spec of a BackendTLSPolicy to settings of proxies, and to its status. See
 * docs/features/backend-tls.md.
 */
import {
  systemAuthorities,
  type BackendTls,
  type SubjectAltName,
} from "@svc-gateway/common/ir/backend-tls.ts";
import { formatHostname, parseDnsName, parseHostname } from "@svc-gateway/common/values/hostname.ts";
import { problem, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type {
  BackendTLSPolicyValidation as Validation,
  BackendTLSPolicyValidationSubjectAltName as WrittenName,
} from "../../api/generated/backendtlspolicy.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { resolveAuthorities, type AuthorityOptions } from "../certificates/authority-refs.ts";
import { reasonAt, type ConditionReason } from "../condition.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { cleartextFallback, policyValueIgnored } from "../diagnostics/policies.ts";
import type { Diagnostic } from "../finding.ts";
import type { TranslateSettings } from "../settings.ts";
import { quote } from "../text.ts";

export type TlsPolicySettings = {
  /**
   * The TLS settings of connections; undefined for unencrypted connections, because none of the names can be used.
   */
  readonly tls: BackendTls | undefined;
  /** The reason why the policy is not accepted as written; undefined if it is. */
  readonly unaccepted: ConditionReason | undefined;
  /** The first reference that cannot be resolved. */
  readonly unresolved: ConditionReason | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/** Reads a policy. A policy that cannot protect has no authorities, so that no connections are made. */
export function readTlsPolicy(
  object: ObjectOf<"BackendTLSPolicy">,
  options: AuthorityOptions & Pick<TranslateSettings, "backendTlsStrict">,
): TlsPolicySettings {
  const { validation } = object.spec;
  const diagnostics: Diagnostic[] = [];
  const hostname = parseDnsName(validation.hostname);
  const trust = readTrust(validation, object.metadata.namespace, options);
  const names = readNames(validation.subjectAltNames ?? []);
  const place = (field: string) => ({ object: refOf(object), field: `spec.validation.${field}` });
  for (const { index, message } of names.refused) {
    const instead = "the name is left out";
    diagnostics.push(policyValueIgnored(place(`subjectAltNames[${index}]`), { message }, instead));
  }
  const noName: ConditionReason | undefined =
    names.refused.length > 0 && names.usable.length === 0
      ? {
          reason: "InvalidSubjectAltNames",
          message: `No subject alternative name can be used: ${names.refused[0]?.message}`,
        }
      : undefined;
  const unaccepted =
    trust.unaccepted ??
    (hostname.ok
      ? undefined
      : { reason: "Invalid", message: `The hostname ${describeProblem(hostname.error)}` }) ??
    noName;
  const isFallback = unaccepted !== undefined && unaccepted === noName && !options.backendTlsStrict;
  if (isFallback) diagnostics.push(cleartextFallback(place("subjectAltNames")));
  const tls: BackendTls = {
    hostname: hostname.ok ? hostname.value : "",
    ...(unaccepted === undefined && { authorities: trust.authorities }),
    ...(names.usable.length > 0 && { subjectAltNames: names.usable }),
  };
  return { tls: isFallback ? undefined : tls, unaccepted, unresolved: trust.unresolved, diagnostics };
}

type Trust = Pick<TlsPolicySettings, "unaccepted" | "unresolved"> & { readonly authorities?: string };

function readTrust(validation: Validation, namespace: string, options: AuthorityOptions): Trust {
  const { caCertificateRefs = [], wellKnownCACertificates } = validation;
  if (caCertificateRefs.length === 0) {
    if (wellKnownCACertificates === "System") {
      return { authorities: systemAuthorities, unaccepted: undefined, unresolved: undefined };
    }
    const message = `wellKnownCACertificates ${quote(wellKnownCACertificates ?? "")} is not known, expected System`;
    return { unaccepted: { reason: "Invalid", message }, unresolved: undefined };
  }
  const from = { kind: "BackendTLSPolicy", namespace } as const;
  const { pem, refusal } = resolveAuthorities(
    caCertificateRefs,
    "spec.validation.caCertificateRefs",
    from,
    options,
  );
  const because = (reason: string): ConditionReason | undefined =>
    refusal && reasonAt(refusal.field, { reason, message: refusal.message });
  const unresolved = because(refusal?.why === "kind" ? "InvalidKind" : "InvalidCACertificateRef");
  return pem === undefined
    ? { unaccepted: because("NoValidCACertificate"), unresolved }
    : { authorities: pem, unaccepted: undefined, unresolved };
}

function readNames(written: readonly WrittenName[]): {
  readonly usable: readonly SubjectAltName[];
  readonly refused: readonly { readonly index: number; readonly message: string }[];
} {
  const usable: SubjectAltName[] = [];
  const refused: { index: number; message: string }[] = [];
  for (const [index, name] of written.entries()) {
    const read = readName(name);
    if (read.ok) usable.push(read.value);
    else refused.push({ index, message: describeProblem(read.error) });
  }
  return { usable, refused };
}

function readName({ type, hostname = "", uri = "" }: WrittenName): Result<SubjectAltName> {
  if (type === "Hostname") {
    const name = parseHostname(hostname);
    return name.ok ? ok({ type: "dns", value: formatHostname(name.value) }) : name;
  }
  if (type !== "URI") return problem(`The type ${quote(String(type))} is not known`, "Hostname or URI");
  // A subset of RFC 3986 4.3: characters that are invalid in a URI cannot be in a certificate either.
  return /^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e]+$/.test(uri)
    ? ok({ type: "uri", value: uri })
    : problem(`${quote(uri)} is not a URI with a scheme`);
}
