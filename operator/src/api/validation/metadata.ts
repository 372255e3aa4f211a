/**
 * Checks metadata as the API server does (Kubernetes API reference, "ObjectMeta"; "Annotations": at most 256 KiB in
 * total) and keeps the fields of ObjectMeta that this project reads.
 */
import { Buffer } from "node:buffer";
import type { Schema } from "../schema.ts";
import { isDnsLabel, isDnsSubdomain, isLabelValue, isQualifiedName } from "./names.ts";
import type { Findings } from "./problem.ts";
import { describeValue, isRecord, reportError, reportErrorAt, reportWarning } from "./problem.ts";
import { compileWalk } from "./walk.ts";

const maxAnnotationBytes = 262_144;

/**
 * Fields that the server writes and this gateway does not read; `managedFields` alone can be larger than the rest of an
 * object.
 */
const dropped = new Set(["managedFields", "selfLink", "deletionGracePeriodSeconds", "generateName"]);

const text = { type: "string" } satisfies Schema;
const time = { type: "string", format: "date-time" } satisfies Schema;
const texts = { type: "object", additionalProperties: text } satisfies Schema;

const walkMetadata = compileWalk({
  type: "object",
  required: ["name"],
  properties: {
    name: text,
    namespace: text,
    uid: text,
    resourceVersion: text,
    generation: { type: "integer", format: "int64", minimum: 0 },
    creationTimestamp: time,
    deletionTimestamp: time,
    labels: texts,
    annotations: texts,
    finalizers: { type: "array", items: text, maxItems: 1000 },
    ownerReferences: {
      type: "array",
      maxItems: 1000,
      items: {
        type: "object",
        required: ["apiVersion", "kind", "name", "uid"],
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: "boolean" },
          blockOwnerDeletion: { type: "boolean" },
        },
      },
    },
  },
});

/**
 * The forms of object names. `signed` is a DNS subdomain after the domain and the path of a signer, which each end with
 * a colon (ClusterTrustBundle).
 */
export type NameForm = "label" | "subdomain" | "signed";

/** The rules that depend on the kind: its scope and the form of its names. */
export type NameRules = { readonly namespaced: boolean; readonly nameForm: NameForm };

/**
 * Returns the checked metadata. A namespaced object without a namespace gets "default", as with kubectl; the namespace
 * of a cluster-scoped object is dropped with a warning.
 */
export function checkMetadata(
  metadata: unknown,
  rules: NameRules,
  findings: Findings,
): Record<string, unknown> {
  findings.path.push("metadata");
  const known = isRecord(metadata)
    ? Object.fromEntries(Object.entries(metadata).filter(([name]) => !dropped.has(name)))
    : (metadata ?? {});
  const result = walkMetadata(known, findings) as Record<string, unknown>;
  const isValid = findings.errors.length === 0;
  if (isValid) {
    checkName(result["name"] as string, rules, findings);
    checkLabels(result["labels"] as Texts, findings);
    checkAnnotations(result["annotations"] as Texts, findings);
  }
  applyScope(result, rules, findings);
  findings.path.pop();
  return result;
}

type Texts = { readonly [key: string]: string } | undefined;

const nameForms: {
  readonly [F in NameForm]: { readonly matches: (name: string) => boolean; readonly expected: string };
} = {
  label: { matches: isDnsLabel, expected: "must be at most 63 lower-case letters, digits and '-'" },
  subdomain: {
    matches: isDnsSubdomain,
    expected: "must be at most 253 lower-case letters, digits, '-' and '.'",
  },
  signed: {
    matches: (name) => name.length <= 253 && name.split(":").every(isDnsSubdomain),
    expected: "must be at most 253 lower-case letters, digits, '-', '.' and ':', each part between colons",
  },
};

function checkName(name: string, { nameForm }: NameRules, findings: Findings): void {
  const { matches, expected } = nameForms[nameForm];
  if (matches(name)) return;
  reportErrorAt(
    findings,
    ["name"],
    `${expected}, beginning and ending with a letter or digit, found ${describeValue(name)}`,
  );
}

function checkLabels(labels: Texts, findings: Findings): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (!isQualifiedName(key)) {
      reportErrorAt(findings, ["labels"], `has the key ${describeValue(key)}, which is not a label name`);
    } else if (!isLabelValue(value)) {
      reportErrorAt(
        findings,
        ["labels", key],
        `must be at most 63 letters, digits, '-', '_' and '.', found ${describeValue(value)}`,
      );
    }
  }
}

function checkAnnotations(annotations: Texts, findings: Findings): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    if (!isQualifiedName(key.toLowerCase())) {
      reportErrorAt(
        findings,
        ["annotations"],
        `has the key ${describeValue(key)}, which is not an annotation name`,
      );
    }
  }
  if (bytes > maxAnnotationBytes) {
    reportErrorAt(
      findings,
      ["annotations"],
      `must be at most ${maxAnnotationBytes} bytes in total, keys and values together, found ${bytes} bytes`,
    );
  }
}

function applyScope(result: Record<string, unknown>, { namespaced }: NameRules, findings: Findings): void {
  const { namespace } = result;
  if (!namespaced) {
    if (namespace === undefined) return;
    findings.path.push("namespace");
    reportWarning(findings, "is ignored: this kind is not namespaced");
    findings.path.pop();
    delete result["namespace"];
  } else if (namespace === undefined || namespace === "") {
    result["namespace"] = "default";
  } else if (typeof namespace === "string" && !isDnsLabel(namespace)) {
    findings.path.push("namespace");
    reportError(
      findings,
      `must be at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit, found ${describeValue(namespace)}`,
    );
    findings.path.pop();
  }
}
