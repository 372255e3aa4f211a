/** The hosts and locations of Ingresses in the order in which ingress-nginx writes them. */
import type { CorpusCase, CorpusObject } from "../cases.ts";
import { list } from "./list.ts";

const prefix = "nginx.ingress.kubernetes.io/";

type Annotations = Readonly<Record<string, string | undefined>>;

export type SiteIngress = {
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Annotations;
  readonly paths: readonly { readonly path: string; readonly pathType: string; readonly service: string }[];
  readonly defaultService: string | undefined;
};

export type Site = {
  readonly host: string;
  readonly aliases: readonly string[];
  readonly ingresses: readonly SiteIngress[];
};

export type Location = {
  /** A word that is unique in the configuration. */
  readonly id: string;
  readonly path: string;
  /** The parameters of the `location` blocks, one or two. */
  readonly matches: readonly string[];
  readonly rewrite: string | undefined;
  readonly namespace: string;
  readonly ingress: string;
  /** The Service of the path; undefined for the default backend of the controller, which answers 404. */
  readonly service: string | undefined;
  readonly annotations: Annotations;
};

/** Annotations that need Lua, and directives of a module that Debian's nginx lacks: nginx alone cannot show them. */
const unshowable = new Set(["affinity", "canary", "upstream-hash-by", "load-balance", "limit-connections"]);
const unshowableSnippet = /more_(?:set|clear)/;

/** Whether nginx alone can show what ingress-nginx does with the Ingresses of a case. */
export const canShow = ({ objects }: CorpusCase): boolean =>
  objects.every((object) =>
    Object.entries(annotationsOf(object)).every(
      ([name, value]) => !unshowable.has(name) && !unshowableSnippet.test(value ?? ""),
    ),
  );

/** Booleans as the configuration looks for them. */
const asBoolean = (value: string): string => (/^(?:True|TRUE)$/.test(value) ? "true" : value);

export function annotationsOf({ metadata }: CorpusObject): Annotations {
  return Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).flatMap(([key, value]) =>
      key.startsWith(prefix) && value !== "" ? [[key.slice(prefix.length), asBoolean(value)]] : [],
    ),
  );
}

/** The hosts of a case, with the Ingresses that name them. */
export function sitesOf({ objects }: Pick<CorpusCase, "objects">): readonly Site[] {
  const hosts = new Map<string, SiteIngress[]>();
  for (const object of objects) {
    if (object.kind !== "Ingress") continue;
    for (const { host, http } of object.spec?.rules ?? []) {
      const ingress = {
        ...object.metadata,
        annotations: annotationsOf(object),
        paths: http.paths.map(({ path = "/", pathType, backend }) => ({
          path,
          pathType,
          service: backend.service.name,
        })),
        defaultService: object.spec?.defaultBackend?.service.name,
      };
      hosts.set(host, [...(hosts.get(host) ?? []), ingress]);
    }
  }
  return [...hosts].map(([host, ingresses]) => ({
    host,
    ingresses,
    // The first Ingress with aliases decides.
    aliases: list(
      ingresses.find(({ annotations }) => annotations["server-alias"])?.annotations["server-alias"],
    ),
  }));
}

/** One regular expression, or a rewrite that changes the path, makes all paths of a host regular expressions. */
export function locationsOf({ host, ingresses }: Site): readonly Location[] {
  const hasExpressions = ingresses.some(
    ({ annotations, paths }) =>
      annotations["use-regex"] === "true" ||
      paths.some(
        ({ path }) => annotations["rewrite-target"] !== undefined && annotations["rewrite-target"] !== path,
      ),
  );
  // An exact path takes the place of the same path as a prefix.
  const exact = new Set(
    ingresses.flatMap(({ paths }) =>
      paths.flatMap(({ path, pathType }) => (pathType === "Exact" ? literals(path, pathType) : [])),
    ),
  );
  const hasRoot = ingresses.some(({ paths }) =>
    paths.some(({ path, pathType }) => path === "/" && pathType !== "Exact"),
  );
  const all = ingresses.flatMap(({ name, namespace, annotations, paths, defaultService }, at) => {
    // The controller makes a path of the first Ingress for all that no rule names.
    const rest = { path: "/", pathType: "Prefix", service: defaultService };
    return (hasRoot || at > 0 ? paths : [...paths, rest]).map(
      ({ path, pathType, service }, index): Location => {
        const rewrite = annotations["rewrite-target"];
        const isPlain = rewrite === undefined && annotations["use-regex"] !== "true";
        return {
          id: `${host.replaceAll(/[^a-z0-9]/g, "_")}_${at}_${index}`,
          path,
          matches: hasExpressions
            ? expressions(path, pathType, isPlain)
            : literals(path, pathType).filter((match) => pathType === "Exact" || !exact.has(match)),
          rewrite: rewrite === path ? undefined : rewrite,
          namespace,
          ingress: name,
          service,
          annotations,
        };
      },
    );
  });
  // Of equal paths, that of no rule is the last here. In ingress-nginx it hides an exact path `/` on hosts with regex
  // paths.
  const isRest = ({ service }: Location): number => Number(service === undefined);
  return all.sort(
    (a, b) =>
      b.path.length - a.path.length || (a.path === b.path ? isRest(a) - isRest(b) : a.path < b.path ? 1 : -1),
  );
}

function literals(path: string, pathType: string): readonly string[] {
  if (pathType === "Exact") return [`= ${path}`];
  if (path === "/") return ["/"];
  const bare = path.endsWith("/") ? path.slice(0, -1) : path;
  return [`${bare}/`, `= ${bare}`];
}

const expressions = (path: string, pathType: string, isPlain: boolean): readonly string[] =>
  pathType !== "Exact" && isPlain && path !== "/" && !path.endsWith("/")
    ? [`~* "^${path}/"`, `~* "^${path}"`]
    : [`~* "^${path}"`];
