/** Parts of nginx's configuration. None of it is executed. See docs/ingress-nginx.md, "Snippets". */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { snippetIgnored, snippetNeedless } from "../../diagnostics/ingress-nginx.ts";
import type { NginxAnnotation } from "../annotations/declare.ts";
import { authSnippet } from "../annotations/ext-auth.ts";
import { modsecuritySnippet } from "../annotations/responses.ts";
import { configurationSnippet, serverSnippet, streamSnippet } from "../annotations/snippets.ts";
import { closedOn, type SnippetLevel } from "../closed-paths.ts";
import type { HostWishes } from "../host-facts.ts";
import { memo } from "../../incremental/memo.ts";
import { joinFeatures } from "../join-features.ts";
import { blocksRequests } from "../snippets/modsecurity.ts";
import type { ClassedStatement } from "../snippets/classify.ts";
import type { LocationPath } from "../snippets/location.ts";
import { backendOfPath, backendsOf, type PathBackend } from "../path-backends.ts";
import { readSnippet } from "../snippets/read.ts";
import { dependsOnBackend, optionsOf } from "../statics.ts";
import type { Group, GroupContext, GroupOutput, NginxPath } from "./group.ts";

type Snippet = { readonly annotation: NginxAnnotation<string>; readonly level: SnippetLevel };

const kinds: readonly Snippet[] = [
  { annotation: configurationSnippet, level: "location" },
  { annotation: serverSnippet, level: "server" },
  { annotation: authSnippet, level: "subrequest" },
  { annotation: streamSnippet, level: "stream" },
];

export const snippets: Group = (read, context) => {
  const outputs = kinds.flatMap((kind) => {
    const text = read(kind.annotation);
    return text === undefined ? [] : [translate(kind, text, context)];
  });
  const rules = read(modsecuritySnippet);
  if (rules !== undefined) judgeRules(rules, context);
  const features = outputs.reduce<RouteFeatures | undefined>(
    (before, one) => joinFeatures(before, one.features),
    undefined,
  );
  const ofPath = (path: NginxPath): RouteFeatures | undefined =>
    outputs.reduce<RouteFeatures | undefined>(
      (before, one) => joinFeatures(before, one.ofPath?.(path)),
      undefined,
    );
  const host: HostWishes = Object.assign({}, ...outputs.map((one) => one.host));
  return { features, ofPath, host };
};

function translate({ annotation, level }: Snippet, text: string, context: GroupContext): GroupOutput {
  const { ingress } = context;
  const all = backendsOf(ingress);
  const varies = all.length > 1 && dependsOnBackend(text);
  const { statementsFor, problem } = readSnippet(text);
  const statements = statementsFor(all[0] && optionsOf(ingress, all[0]));
  const translates = context.nginx.config.keys.allowSnippetAnnotations && level !== "subrequest";
  const isServed = ({ kind, change }: ClassedStatement): boolean =>
    kind === "equivalent" &&
    change !== undefined &&
    translates &&
    (level === "location" || change.request === undefined);
  const served: ClassedStatement[] = [];
  const closed: LocationPath[] = [];
  let closes: string | undefined;
  const undone: string[] =
    problem === undefined ? [] : [`the configuration cannot be read: ${problem.message}`];
  if (problem !== undefined) {
    const why = `the configuration cannot be read: ${problem.message}`;
    context.report(annotation, (place) =>
      snippetIgnored(place, annotation.name, why, problem.isProtective ? "error" : "warning"),
    );
    if (problem.isProtective) closes = `${why}, and it contains words of statements that protect`;
  }
  for (const statement of statements) {
    const { line, text: shown, kind, say, paths } = statement;
    const what = `line ${line}: ${shown} is not executed`;
    if (kind === "needless") {
      context.report(annotation, (place) => snippetNeedless(place, annotation.name, `${what}; ${say}`));
    } else if (kind === "protective") {
      context.report(annotation, (place) =>
        snippetIgnored(place, annotation.name, `${what}, although ${say}`, "error"),
      );
      if (paths === undefined) closes ??= `line ${line}: ${shown} cannot be executed, although ${say}`;
      else closed.push(paths);
    } else if (isServed(statement)) {
      served.push(statement);
    } else {
      undone.push(`line ${line}: ${shown}: ${describeRemedy(statement)}`);
      context.report(annotation, (place) =>
        snippetIgnored(place, annotation.name, `${what}; ${describeRemedy(statement)}`, "warning"),
      );
    }
  }
  for (const { line, text: shown, say } of served) {
    const more = varies && dependsOnBackend(shown) ? ", with the Service of each path" : "";
    context.differs(annotation, `line ${line}: ${shown} is served as ${say}${more}`);
  }
  if (closes !== undefined) context.cannotProtect(annotation, closes);
  else if (closed.length > 0) {
    const paths = closed.map(({ type, value }) => `${type} ${value}`).join(", ");
    context.closePaths(annotation, `it protects paths that are not served by nginx here`, paths);
  } else if (undone.length > 0) context.judge(annotation, "refused", describeUndone(undone));
  else if (served.length === 0) context.judge(annotation, "no-effect", "nothing in it is needed here");
  const ofBackend = memo((backend: PathBackend) =>
    featuresOf(statementsFor(optionsOf(ingress, backend)).filter(isServed)),
  );
  const isOfPath = served.length > 0 && varies;
  return {
    ...(!isOfPath && { features: featuresOf(served) }),
    ...((closed.length > 0 || isOfPath) && {
      ofPath: (path) =>
        joinFeatures(
          isOfPath ? ofBackend(backendOfPath(ingress, path)) : undefined,
          closedOn(path, closed, level),
        ),
    }),
    ...(level === "server" && { host: closingOf(closes !== undefined, closed, context) }),
  };
}

/** The paths that the configuration of a server closes on the routes of other Ingresses of the host. */
function closingOf(closesAll: boolean, closed: readonly LocationPath[], { nginx }: GroupContext): HostWishes {
  if (closesAll && !nginx.policy.servesUnprotected) return { closedPaths: "all" };
  return closed.length > 0 ? { closedPaths: closed } : {};
}

/** The maximum number of statements that the verdict of a snippet names. The findings name all of them. */
const maxNamed = 8;

function describeUndone(undone: readonly string[]): string {
  const more = undone.length - maxNamed;
  const named = undone.slice(0, maxNamed).join("; ");
  return `not executed: ${more > 0 ? `${named}; and ${more} more statements` : named}`;
}

const describeRemedy = ({ kind, say, change }: ClassedStatement): string =>
  kind === "equivalent" && change !== undefined ? `the same is ${say}` : say;

/** The fields that statements change, in their order. */
function featuresOf(statements: readonly ClassedStatement[]): RouteFeatures | undefined {
  return statements.reduce<RouteFeatures | undefined>((before, { change }) => {
    if (change === undefined) return before;
    return joinFeatures(before, {
      ...(change.response && { "response-headers": change.response }),
      ...(change.request && { "request-headers": change.request }),
    });
  }, undefined);
}

/** Judges rules of ModSecurity, which only detect unless they state that they block. */
function judgeRules(rules: string, context: GroupContext): void {
  const why = "there is no ModSecurity to inspect requests";
  const detects =
    "without SecRuleEngine On its rules only write a log in ingress-nginx, so requests are served";
  if (blocksRequests(rules)) {
    context.report(modsecuritySnippet, (place) =>
      snippetIgnored(place, modsecuritySnippet.name, `SecRuleEngine On: ${why}`, "error"),
    );
    context.cannotProtect(modsecuritySnippet, `its rules block requests, and ${why}`);
  } else {
    context.report(modsecuritySnippet, (place) =>
      snippetIgnored(place, modsecuritySnippet.name, `${why}; ${detects}`, "warning"),
    );
    context.judge(modsecuritySnippet, "refused", `${why}; ${detects}`);
  }
}
