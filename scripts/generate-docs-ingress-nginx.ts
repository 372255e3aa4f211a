import type { NginxAnnotation } from "../operator/src/translate/ingress-nginx/annotations/declare.ts";
import { formerAnnotations } from "../operator/src/translate/ingress-nginx/annotations/former.ts";
import {
  annotationGroups,
  nginxAnnotations,
  type AnnotationGroup,
} from "../operator/src/translate/ingress-nginx/annotations/index.ts";
import { inTraefik, traefikTrial } from "./traefik/column.ts";

/** Generates docs/reference/ingress-nginx-annotations.md from the declarations of annotations. */
export function nginxAnnotationsPage(): string {
  return `# Annotations of ingress-nginx

<!-- Written by scripts/generate-docs.ts from operator/src/translate/ingress-nginx/annotations; change it there. -->

All ${nginxAnnotations.size} annotations of ingress-nginx 1.15, and what becomes of each on an Ingress of a
[class that is read as ingress-nginx reads it](../ingress-nginx.md). Keys have the prefix \`nginx.ingress.kubernetes.io/\`, or that of
\`--ingress-nginx-annotations-prefix\`.

| Served | Meaning |
| --- | --- |
| yes | as in ingress-nginx |
| mostly | as in ingress-nginx, but for what the column "Here" says |
| in part | what the column "Here" says; the rest is a finding |
| differently | with the difference that the column "Here" says, and the finding \`ServedDifferently\` |
| nothing to do | the value is accepted and needs nothing here |
| refused | never; a protective one closes the paths of its Ingress (503) |
| not yet | without effect; a protective one closes the paths of its Ingress (503) |

| Invalid value | Meaning |
| --- | --- |
| ignored | the setting is ignored, as in ingress-nginx |
| 503 | the paths of the Ingress get 503, as in ingress-nginx |
| without it | ingress-nginx does not load the Ingress; here it is served without the setting |
| 503, there not loaded | ingress-nginx does not load the Ingress; here its paths get 503, because the setting protects |
| 503, there off | ingress-nginx silently switches a protection off; here the paths get 503 |

Forms of values are described [under Values](../ingress-nginx.md#values). A bold name protects: without it, more is let in. The risk is
the one that ingress-nginx declares.
What the columns "Served" and "Here" say has a request in the tests, and [what nginx can show](../ingress-nginx.md#what-is-compared-with-nginx) is
compared with it.

${traefikWords}

${annotationGroups.map(section).join("\n\n")}

## Names without effect

These names are often found on Ingresses, and have no effect in ingress-nginx 1.15 either. Each is a finding \`RemovedNginxAnnotation\`.

| Name | Instead |
| --- | --- |
${formerAnnotations.map(({ name, isPrefix, instead }) => `| \`${name}${isPrefix ? "*" : ""}\` | ${instead} |`).join("\n")}

Every other name with the prefix is a finding \`UnknownNginxAnnotation\`.
`;
}

const { version, date, corpus } = traefikTrial;

const traefikWords = `The last column is of Traefik ${version} with its provider \`kubernetesIngressNGINX\`, as tried on ${date}: of the requests
of these tests whose answer depends on the annotation, how many Traefik answers exactly as they expect of ingress-nginx, and what was
seen to differ in any case with it. An answer may differ because of another annotation of the same case. "Not read" is a name that the
source of the provider does not have; "not tried" one that no such request shows. Of the ${corpus.cases} applications that the corpus had on
that day, Traefik answers all requests as expected for ${corpus.same}. This gateway does for all of them; where the tests expect another answer
than that of ingress-nginx, their requests say so (\`nginxStatus\`). [How it was tried](../../scripts/traefik/README.md).`;

const section = ({ title, annotations }: AnnotationGroup): string => `## ${title}

| Annotation | Form | Default | Invalid value | Risk | Applies to | Meaning | Served | Here | Traefik |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${annotations.map((one) => `| ${row(one).join(" | ")} |`).join("\n")}`;

const row = (annotation: NginxAnnotation): readonly string[] => {
  const { name, form, shownDefault, risk, scope, meaning, here, served, shownServed, protective, aliasOf } =
    annotation;
  const shownName = `\`${name}\``;
  return [
    protective === true ? `**${shownName}**` : shownName,
    aliasOf === undefined ? form.noun : `as \`${aliasOf}\``,
    shownDefault,
    invalidValue(annotation),
    risk,
    scope === "host" ? "host" : "its paths",
    meaning,
    shownServed ?? (served === "served" && here !== "As there." ? "mostly" : servedWords[served]),
    hereOf(annotation),
    inTraefik(name),
  ].map((cell) => cell.replaceAll("|", String.raw`\|`));
};

function hereOf({ served, here, protective }: NginxAnnotation): string {
  if (served === "not-yet") return protective === true ? "Requests get 503." : "No effect.";
  return served === "refused" ? `${here} ${protective === true ? "Requests get 503." : "No effect."}` : here;
}

const servedWords: { readonly [S in NginxAnnotation["served"]]: string } = {
  served: "yes",
  differently: "differently",
  "no-effect": "nothing to do",
  refused: "refused",
  "not-yet": "not yet",
};

function invalidValue({ bad, empty, protective }: NginxAnnotation): string {
  const words = {
    I: "ignored",
    D: "503",
    X: protective === true ? "503, there not loaded" : "without it",
    O: "503, there off",
  };
  return empty === undefined || empty === bad ? words[bad] : `${words[bad]}; empty: ${words[empty]}`;
}
