/**
 * The admission policy of the chart, from the declarations of annotations: one rule each for the form of the value. What
 * only the controller can judge (ranges, references) stays a Warning Event. See docs/reference/annotations.md.
 */
import { stringify } from "yaml";
import { annotationKey, type AnnotationDefinition } from "../common/src/features/definition.ts";

/** The form of a value: a regular expression in RE2 syntax for the trimmed text, and what the person is told. */
type Form = { readonly pattern: string; readonly noun: string; readonly expected: string };

type Rule = {
  readonly expression: string;
  readonly messageExpression: string;
  /** Stands in where the expression has no result, as for values with line ends. */
  readonly message: string;
  readonly reason: "Invalid";
};

const name = "ingress-annotations.svc-labs.dev";

const forms = {
  boolean: { pattern: "(?i)^(true|false)$", noun: "a boolean", expected: "true or false" },
  "cidr-list": {
    pattern: "^[0-9a-fA-F:./,\\s]+$",
    noun: "a list of CIDRs",
    expected: "CIDRs or IP addresses, separated by commas",
  },
  duration: {
    pattern: "^(0|(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|ms|s|m|h))+)$",
    noun: "a duration",
    expected: "a duration such as 15s, 1.5s or 1m30s",
  },
  integer: { pattern: "^-?[0-9]{1,16}$", noun: "a whole number", expected: "digits" },
  "namespaced-name": {
    pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$",
    noun: "a namespaced name",
    expected: "<namespace>/<name>",
  },
  size: {
    pattern: "(?i)^[0-9]+[kmg]?$",
    noun: "a size",
    expected: "a number of bytes with an optional k, m or g, such as 512k or 8m",
  },
} as const satisfies Partial<Record<AnnotationDefinition<unknown>["type"], Form>>;

/** What can hold any text, so that only the controller can tell whether it makes sense. */
const anyText: ReadonlySet<string> = new Set(["csv", "mirror-target", "newline-list", "string"]);

/** The form of an annotation's value, or undefined where any text has it. */
export function formOf(definition: AnnotationDefinition<unknown>): Form | undefined {
  const { type, values } = definition;
  if (values !== undefined) {
    const choices = values.map((value) => value.replaceAll(/[^a-z0-9-]/g, String.raw`\$&`));
    return { pattern: `(?i)^(${choices.join("|")})$`, noun: "a known value", expected: inWords(values) };
  }
  if (anyText.has(type)) return undefined;
  const form = forms[type as keyof typeof forms] as Form | undefined;
  if (form === undefined)
    throw new Error(`${definition.name}: an annotation of type ${type} declares its values`);
  return form;
}

/** The rules of all annotations whose values have a form. */
export const rulesOf = (definitions: Iterable<AnnotationDefinition<unknown>>): readonly Rule[] =>
  [...definitions].flatMap((definition) => {
    const form = formOf(definition);
    return form === undefined ? [] : [ruleOf(annotationKey(definition), form)];
  });

/**
 * A value that was there before the update passes: an object that is wrong already must stay editable, and its
 * finalizers removable.
 */
function ruleOf(key: string, { pattern, noun, expected }: Form): Rule {
  const quoted = celString(key);
  const value = `variables.annotations[${quoted}].trim()`;
  const complaint = `is not ${noun}, expected ${expected}`;
  return {
    expression: `!(${quoted} in variables.changed) || ${value}.matches(${celString(pattern)})`,
    messageExpression: `${celString(`${key}: "`)} + ${value} + ${celString(`" ${complaint}`)}`,
    message: `${key}: the value ${complaint}`,
    reason: "Invalid",
  };
}

/** `a, b or c`. */
const inWords = (values: readonly string[]): string =>
  values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;

/** A string of the Common Expression Language. */
function celString(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** What the rules look at: the annotations of the object, and the keys of those that this request sets or changes. */
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
    metadata: { name, labels: "@LABELS@" },
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
    metadata: { name, labels: "@LABELS@" },
    spec: { policyName: name, validationActions: ["Deny"] },
  };
  const documents = [policy, binding].map((document) => stringify(document, { lineWidth: 0 }));
  const labels = '\n    {{- include "svc.labels" . | nindent 4 }}';
  return [
    "{{/* Written by scripts/generate-chart.ts from the declarations under common/src/features; do not edit. */}}",
    '{{- if and .Values.vap.enabled (semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version) }}',
    documents.join("---\n").replaceAll(' "@LABELS@"', labels).trimEnd(),
    "{{- end }}",
    "",
  ].join("\n");
}
