import type { AnnotationDefinition } from "../common/src/features/definition.ts";
import { annotations, features, routingOptions, tlsOptions } from "../common/src/features/registry.ts";

/** The page docs/reference/annotations.md, from the declarations of annotations. */
export function annotationsPage(): string {
  return `# Ingress annotations

<!-- Written by scripts/generate-docs.ts from the declarations under common/src/features; change it there. -->

Keys have the prefix \`ingress.svc-labs.dev/\`. An annotation holds for every rule, path and default backend of its Ingress.
The forms of values are described [on a page of their own](values.md).

The value that counts is the Ingress's own, else the default that its class holds
([SvcIngressClassParameters](api.md), \`spec.defaultAnnotations\`), else the built-in one.

- A value that does not parse is reported as an [\`InvalidAnnotation\`](events.md) Event and counts as absent: the default
  of the class applies, else the built-in one. Of the three annotations that change the fields of one direction, none of
  the Ingress's own applies then. A default of a class that does not parse is reported as a finding of the parameters.
- An empty value is reported too, but sets nothing: the default of the class stays. Only an empty
  ${named(emptyIsAbsent)} is not worth a word.
- Annotations that protect (\`auth-*\`) never fail open. One that is empty without a default of the class, or does not parse
  (of the Ingress or of the class), counts as a reference to something that does not exist.
- Values of more than 65,536 characters are not read.
- References: a resource that an annotation names may be in another namespace,
  [some only with a ReferenceGrant](../cross-namespace-references.md). One that does not exist is reported as the
  finding \`ReferenceNotFound\` and an \`InvalidAnnotation\` Event, with the consequence that the table gives for a value that does not parse;
  where the class has a default, that applies instead, other than for \`auth-*\`, \`ext-auth\` and \`mirror-target\`.
- A key with the prefix that is not in this list is reported as the finding \`UnknownAnnotation\`.
- On Kubernetes 1.30 or later the chart's admission policy (\`vap.enabled\`) refuses a value that does not have the form of
  its type, with the words that the Event would have. Ranges, references and values of the types ${freeTypes()} are left to
  the controller, and so are values that an object had before the policy came.

## What they say

${table(["Annotation", "Form", "Built in", "Class default", "Meaning"], meaningRow)}

## What mistakes lead to, and what else says the same

The Event is \`InvalidAnnotation\` and tells of a value that does not parse; the third column says of what else. The last
column is how a route of the Gateway API, or its Gateway, has the same.

${table(["Annotation", "If it does not parse", "Events also tell of", "Resource", "Gateway API"], mistakeRow)}
`;
}

type Definition = AnnotationDefinition<unknown>;

const emptyIsAbsent = [...annotations.values()].filter((definition) => definition.emptyIsAbsent === true);

const named = (definitions: readonly Definition[]): string =>
  definitions.map(({ name }) => `\`${name}\``).join(", ");

/** The types whose values can be any text. */
const freeTypes = (): string =>
  [...new Set([...annotations.values()].flatMap(({ form, type }) => (form === undefined ? type : [])))]
    .sort()
    .join(", ");

/** The feature of each annotation, which has a page. */
const slugs = new Map(
  [...Object.values(features), ...Object.values(routingOptions), ...Object.values(tlsOptions)].flatMap(
    ({ slug, annotations: own }) =>
      Object.values<Definition>(own).map((definition) => [definition, slug] as const),
  ),
);

const table = (columns: readonly string[], row: (definition: Definition) => readonly string[]): string =>
  [columns, columns.map(() => "---"), ...[...annotations.values()].map(row)]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

function meaningRow(definition: Definition): readonly string[] {
  const { name, type, builtIn, classDefault, doc } = definition;
  const page = `[More](../features/${slugs.get(definition)}.md)`;
  return [`\`${name}\``, type, builtIn, classDefault ? "yes" : "no", `${doc} ${page}`];
}

const mistakeRow = ({
  name,
  fallback,
  alsoInEvents = "",
  resource,
  gatewayApi,
}: Definition): readonly string[] => [
  `\`${name}\``,
  fallback,
  alsoInEvents,
  resource === undefined ? "" : resourceCell(resource),
  gatewayApi,
];

/** Kinds of Kubernetes have no section in the reference of ours. */
const resourceCell = (kind: string): string =>
  kind === "Secret" || kind === "Service" ? kind : `[${kind}](api.md#${kind.toLowerCase()})`;
