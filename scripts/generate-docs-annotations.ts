import type { AnnotationDefinition } from "../common/src/features/definition.ts";
import { removedAnnotations } from "../common/src/features/removed-annotations.ts";
import { annotations, features, routingOptions, tlsOptions } from "../common/src/features/registry.ts";

/** Generates docs/reference/annotations.md from the declarations of annotations. */
export function annotationsPage(): string {
  return `# Ingress annotations

<!-- Written by scripts/generate-docs.ts from the declarations under common/src/features; change it there. -->

Keys have the prefix \`ingress.svc-labs.dev/\`. An annotation applies to every rule, path and default backend of its Ingress.
The forms of values are described [on a separate page](values.md).

The Ingress's own value takes precedence over the default of its class
([SvcIngressClassParameters](api.md), \`spec.defaultAnnotations\`), which takes precedence over the built-in default.

- An invalid value (one that does not parse) is reported as an [\`InvalidAnnotation\`](events.md) Event and treated as absent:
  the default of the class applies, else the built-in default. The three annotations that change the headers of one
  direction apply together: if one of them is invalid, none of the Ingress's own applies. An invalid default of a class
  is reported as a finding of the parameters.
- An empty value is reported too, but does not override the default of the class. An empty ${named(emptyIsAbsent)} is the
  same as an absent one and is not reported.
- Annotations that authenticate (\`auth-*\`) fail closed. One that is invalid (on the Ingress or as a default of the
  class), or empty without a default of the class, is treated as a reference to a resource that does not exist.
- Values of more than 65,536 characters are invalid.
- References: a resource that an annotation names may be in another namespace,
  [for some kinds only with a ReferenceGrant](../cross-namespace-references.md). A missing resource is reported as the
  finding \`ReferenceNotFound\` and an \`InvalidAnnotation\` Event, with the same consequence as an invalid value (see the
  second table). If the class has a default, that applies instead, except for \`auth-*\`, \`ext-auth\` and
  \`mirror-target\`.
- A key with the prefix that is not in this list is reported as the finding \`UnknownAnnotation\`, which says what replaces
  a [removed](#removed-annotations) one.
- On Kubernetes 1.30 or later the chart's admission policy (\`vap.enabled\`) rejects values that do not have the form of
  their type, with the text of the Event. It does not check ranges, references, values of the types
  ${freeTypes()},
  or values that an object had before the policy was installed; the controller does.

## Values and meaning

${table(["Annotation", "Type", "Default", "Class default", "Meaning"], meaningRow)}

## Invalid values, and equivalents in the Gateway API

An invalid value is reported as an \`InvalidAnnotation\` Event; the third column lists what else is. The last column is
the equivalent for routes or Gateways of the Gateway API.

${table(["Annotation", "If the value is invalid", "Events also report", "Resource", "Gateway API"], mistakeRow)}

## Removed annotations

These have no effect. The finding \`UnknownAnnotation\` names the resource that has their settings now, and \`check\` reports an
error.

| Annotations | Instead |
| --- | --- |
${removedAnnotations.map(removedRow).join("\n")}
`;
}

const removedRow = ({ names, kind, annotation }: (typeof removedAnnotations)[number]): string => {
  const removed = names.map((name) => `\`${name}\``).join(", ");
  const user = annotation === undefined ? "attached to the Service" : `named by \`${annotation}\``;
  return `| ${removed} | \`${kind}\`, ${user} |`;
};

type Definition = AnnotationDefinition<unknown>;

const emptyIsAbsent = [...annotations.values()].filter((definition) => definition.emptyIsAbsent === true);

const named = (definitions: readonly Definition[]): string =>
  definitions.map(({ name }) => `\`${name}\``).join(", ");

/** The types that allow any text as the value. */
const freeTypes = (): string =>
  [...new Set([...annotations.values()].flatMap(({ form, type }) => (form === undefined ? type : [])))]
    .sort()
    .join(", ");

/** The slug of the feature of each annotation, by which its page is found. */
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

/** The cell for a kind. Kinds of Kubernetes have no section in the reference of this project's kinds. */
const resourceCell = (kind: string): string =>
  kind === "Secret" || kind === "Service" ? kind : `[${kind}](api.md#${kind.toLowerCase()})`;
