/**
 * The admission policy of the chart, generated from the declarations of annotations, with one rule for the form of
 * each value. Ranges and references, which only the controller can check, still result in Warning Events. See
 * docs/reference/annotations.md.
 */
import { stringify } from "yaml";
import { annotationKey, type AnnotationDefinition } from "../common/src/features/definition.ts";
import { maxExcerpt, type Form } from "../common/src/values/form.ts";

type Rule = {
  readonly expression: string;
  readonly messageExpression: string;
  /** Used if `messageExpression` has no result, as for values with line breaks. */
  readonly message: string;
  readonly reason: "Invalid";
};

const name = "ingress-annotations.svc-labs.dev";

/** The rules of all annotations whose values have a form. */
export const rulesOf = (definitions: Iterable<AnnotationDefinition<unknown>>): readonly Rule[] =>
  [...definitions].flatMap((definition) =>
    definition.form === undefined ? [] : [ruleOf(annotationKey(definition), definition.form)],
  );

/**
 * The rule for the value of an annotation. It accepts a value that was present before the update, because an object
 * that is already invalid must stay editable, and its finalizers removable. The message is that of the Event that the
 * controller would write, without the consequence.
 */
function ruleOf(key: string, { pattern, noun, expected }: Form): Rule {
  const quoted = celString(key);
  const value = `variables.annotations[${quoted}].trim()`;
  const complaint = `is not ${noun}, expected ${expected}`;
  const shown = `(v.size() > ${maxExcerpt} ? v.substring(0, ${maxExcerpt}) + '...' : v)`;
  const text = `v == '' ? 'is empty' : '"' + ${shown} + ${celString(`" ${complaint}`)}`;
  return {
    expression: `!(${quoted} in variables.changed) || ${value}.matches(${celString(pattern)})`,
    // Mapping a list with one element binds the value to a name.
    messageExpression: `${celString(`${key}: `)} + [${value}].map(v, ${text})[0]`,
    message: `${key}: the value ${complaint}`,
    reason: "Invalid",
  };
}

/** Quotes a text as a CEL string. */
function celString(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** Variables of the rules: the annotations of the object, and the keys of those that this request adds or changes. */
export const variables = [
  { name: "annotations", expression: "has(object.metadata.annotations) ? object.metadata.annotations : {}" },
  {
    name: "old",
    expression:
      "oldObject != null && has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}",
  },
  {
    name: "changed",
    expression:
      "variables.annotations.filter(key, !(key in variables.old) || variables.old[key] != variables.annotations[key])",
  },
] as const;

/** The template of the policy and its binding. */
export function admissionTemplate(definitions: Iterable<AnnotationDefinition<unknown>>): string {
  const policy = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: "@METADATA@",
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ["networking.k8s.io"],
            apiVersions: ["v1"],
            operations: ["CREATE", "UPDATE"],
            resources: ["ingresses"],
          },
        ],
      },
      variables,
      validations: rulesOf(definitions),
    },
  };
  const binding = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: "@METADATA@",
    spec: { policyName: name, validationActions: ["Deny"] },
  };
  const documents = [policy, binding].map((document) => stringify(document, { lineWidth: 0 }));
  const metadata = `\n  {{- include "svc.metadata" (dict "root" . "name" "${name}") | nindent 2 }}`;
  return [
    "{{/* Written by scripts/generate-chart.ts from the declarations under common/src/features; do not edit. */}}",
    '{{- if and .Values.vap.enabled (semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version) }}',
    documents.join("---\n").replaceAll(' "@METADATA@"', metadata).trimEnd(),
    "{{- end }}",
    "",
  ].join("\n");
}
