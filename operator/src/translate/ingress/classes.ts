/**
 * Finds the IngressClasses of this controller with their defaults, and so the Ingresses to serve. See
 * docs/routing.md.
 */
import { isDeepStrictEqual } from "node:util";
import type { Observation } from "@svc-gateway/common/ir/observation.ts";
import { didYouMean } from "@svc-gateway/common/values/similar.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { isStandIn, problemOfStandIn } from "../../api/stand-in.ts";
import { createLookup, type Lookup, type World } from "../../world.ts";
import { ageOf, compareAges } from "../age.ts";
import { attempt } from "../attempt.ts";
import { isRecord } from "../../api/validation/problem.ts";
import { ingressClassNotFound, invalidClassParameters, noIngressClass } from "../diagnostics/classes.ts";
import { keyField } from "../diagnostics/define-finding.ts";
import { protectionUnavailable } from "../diagnostics/references.ts";
import type { ClassDefaults } from "../features/annotation-reader.ts";
import { readClassDefaults } from "../features/class-defaults.ts";
import type { Diagnostic } from "../finding.ts";
import { haveSameItems, memo, trackedMemo } from "../incremental/memo.ts";
import {
  nginxName,
  noNginxDefaults,
  readNginxDefaults,
  readNginxPolicy,
  type NginxClass,
} from "../ingress-nginx/class.ts";
import { readNginxConfig } from "../ingress-nginx/config-reader.ts";
import type { NginxConfig } from "../ingress-nginx/config.ts";
import { readObservation } from "../observation.ts";
import type { IngressNginxSettings, TranslateSettings } from "../settings.ts";

const legacyClassAnnotation = "kubernetes.io/ingress.class";
const defaultClassAnnotation = "ingressclass.kubernetes.io/is-default-class";
const parametersGroup = "ingress.svc-labs.dev";
const parametersKind = "SvcIngressClassParameters";

/** A class that this controller serves. The object stays the same until the IngressClass or its parameters change. */
export type ClassInfo = {
  /** Defaults for annotations; undefined when the class has no parameters. */
  readonly defaults: ClassDefaults | undefined;
  /** False suppresses access-log lines for the Ingresses of the class. */
  readonly accessLog: boolean;
  /**
   * Logging and tracing of requests to the Ingresses of the class; undefined if only the flags of the proxy apply.
   */
  readonly observation?: Observation | undefined;
  /**
   * Whether the defaults cannot be read. The whole class is then closed, because its protection could be among them.
   */
  readonly isClosed?: true;
  /** The settings of the ingress-nginx dialect; undefined if Ingresses of the class are not read in it. */
  readonly nginx?: NginxClass;
  /**
   * Whether the class belongs to another controller, or has no IngressClass, and is served because the settings
   * name it.
   */
  readonly isAdopted?: true;
  readonly diagnostics: readonly Diagnostic[];
};

export type Classification = {
  readonly ours?: ClassInfo | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/** The classes of a World. The value is the same until a class changes. */
export type Classes = {
  /**
   * Returns the class by which this controller serves an Ingress, or findings about why it does not serve it. It
   * returns neither for an Ingress of another controller. The class is the same value for all of its Ingresses.
   */
  readonly classify: (ingress: ObjectOf<"Ingress">) => Classification;
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Whether this controller serves an IngressClass: because it names the controller, or because the settings name
 * it as a class of ingress-nginx.
 */
export const createClassFilter =
  ({
    controllerName,
    ingressClass,
    ingressNginx,
  }: Pick<TranslateSettings, "controllerName" | "ingressClass" | "ingressNginx">) =>
  ({ metadata, spec }: ObjectOf<"IngressClass">): boolean =>
    ingressNginx.classes.includes(metadata.name) ||
    (spec?.controller === controllerName && (ingressClass === undefined || metadata.name === ingressClass));

/** Reads the classes of a World. A class is read again only when it, or its parameters, is another object. */
export function createClassReader(
  settings: Pick<
    TranslateSettings,
    "controllerName" | "ingressClass" | "classParametersStrict" | "ingressNginx"
  >,
): (world: World) => Classes {
  const { controllerName } = settings;
  const isOurs = createClassFilter(settings);
  const { classes: nginxNames, watchWithoutClass } = settings.ingressNginx;
  const isNginx = ({ metadata }: ObjectOf<"IngressClass">): boolean => nginxNames.includes(metadata.name);
  const configOf = trackedMemo((all: typeof settings, _: undefined, view) =>
    readNginxConfig(all, undefined, view),
  );
  // A class whose translation throws is closed, because its defaults could protect it.
  const infoOf = trackedMemo((one: ObjectOf<"IngressClass">, config: NginxConfig, { lookup }) =>
    attempt(
      one,
      () => ({
        ...readClass(one, { lookup, settings, config, isNginx: isNginx(one) }),
        ...(one.spec?.controller !== controllerName && { isAdopted: true as const }),
      }),
      closed,
    ),
  );
  /** The class for names without an IngressClass, and for Ingresses without a class. */
  const withoutObject = memo((config: NginxConfig): ClassInfo => ({
    ...noDefaults,
    nginx: plainNginx(settings.ingressNginx, config),
    isAdopted: true,
    // Only this class reports the findings about the ConfigMap.
    diagnostics: config.diagnostics,
  }));
  type Last = {
    readonly list: World["IngressClass"];
    readonly infos: readonly ClassInfo[];
    readonly classes: Classes;
  };
  let last: Last | undefined;
  return (world) => {
    const list = world.IngressClass;
    const config = configOf(settings, undefined, world);
    const ours = list.filter(isOurs);
    const infos = [...ours.map((one) => infoOf(one, config, world)), withoutObject(config)];
    if (last?.list !== list || !haveSameItems(last.infos, infos)) {
      const adopted = { names: nginxNames, watchWithoutClass, info: withoutObject(config) };
      last = { list, infos, classes: classesOf(ours, infos, adopted, createLookup(world)) };
    }
    return last.classes;
  };
}

/** The names of classes in the ingress-nginx dialect, and the class for those without an IngressClass. */
type Adopted = {
  readonly names: readonly string[];
  readonly watchWithoutClass: boolean;
  readonly info: ClassInfo;
};

const servedBy = memo((ours: ClassInfo): Classification => ({ ours, diagnostics: [] }));

function classesOf(
  ours: readonly ObjectOf<"IngressClass">[],
  infos: readonly ClassInfo[],
  adopted: Adopted,
  lookup: Lookup,
): Classes {
  const byName = new Map(adopted.names.map((name) => [name, servedBy(adopted.info)]));
  for (const [index, { metadata }] of ours.entries()) {
    const info = infos[index];
    if (info !== undefined) byName.set(metadata.name, servedBy(info));
  }
  const defaults = ours.filter(({ metadata }) => metadata.annotations?.[defaultClassAnnotation] === "true");
  const [oldest] = defaults.sort((a, b) => compareAges(ageOf(a), ageOf(b)));
  const [firstAdopted = ""] = adopted.names;
  const withoutClass = adopted.watchWithoutClass
    ? (byName.get(firstAdopted) ?? servedBy(adopted.info))
    : undefined;
  const otherwise = oldest === undefined ? withoutClass : byName.get(oldest.metadata.name);
  return {
    classify: (ingress) => {
      const named = classNameOf(ingress);
      const known = named === undefined ? otherwise : byName.get(named.name);
      return (
        known ??
        attempt(ingress, () => ({ diagnostics: explainUnserved(ingress, named, lookup, byName.keys()) }), {})
      );
    },
    diagnostics: infos.flatMap((info) => info.diagnostics),
  };
}

type ClassName = { readonly name: string; readonly field: string };

function classNameOf({ metadata, spec }: ObjectOf<"Ingress">): ClassName | undefined {
  if (spec?.ingressClassName) return { name: spec.ingressClassName, field: "spec.ingressClassName" };
  const legacy = metadata.annotations?.[legacyClassAnnotation];
  return legacy
    ? { name: legacy, field: keyField("metadata.annotations", legacyClassAnnotation) }
    : undefined;
}

function explainUnserved(
  ingress: ObjectOf<"Ingress">,
  named: ClassName | undefined,
  lookup: Lookup,
  ours: Iterable<string>,
): readonly Diagnostic[] {
  const object = refOf(ingress);
  if (named === undefined) return [noIngressClass({ object })];
  if (lookup("IngressClass", "", named.name) !== undefined) return [];
  const hint = didYouMean(named.name, ours) || (named.name === "nginx" ? nginxHint : "");
  return [ingressClassNotFound({ object, field: named.field }, named.name, hint)];
}

/** Suggests the flag, because manifests for ingress-nginx rarely contain its IngressClass. */
const nginxHint = " (--ingress-nginx-classes nginx serves the Ingresses of ingress-nginx)";

const noDefaults = { defaults: undefined, accessLog: true };
const closed = { ...noDefaults, isClosed: true } as const;

/** The settings of the ingress-nginx dialect for a class without parameters. */
const plainNginx = (settings: IngressNginxSettings, config: NginxConfig): NginxClass => ({
  settings,
  config,
  defaults: noNginxDefaults,
  policy: readNginxPolicy(settings),
});

type ClassContext = {
  readonly lookup: Lookup;
  readonly settings: Pick<TranslateSettings, "classParametersStrict" | "ingressNginx">;
  readonly config: NginxConfig;
  /** Whether the settings name the class as one of ingress-nginx. */
  readonly isNginx: boolean;
};

/**
 * Reads a class. With `classParametersStrict`, unusable parameters close the class. See docs/routing.md, "Which
 * Ingresses are served".
 */
function readClass(
  one: ObjectOf<"IngressClass">,
  { lookup, settings, config, isNginx }: ClassContext,
): ClassInfo {
  const { classParametersStrict: isStrict, ingressNginx } = settings;
  const nginx = isNginx && { nginx: plainNginx(ingressNginx, config) };
  const reference = one.spec?.parameters;
  if (reference === undefined) return { ...noDefaults, ...nginx, diagnostics: [] };
  const place = { object: refOf(one), field: "spec.parameters" };
  const close = (why: string): ClassInfo => ({
    ...closed,
    ...nginx,
    diagnostics: [
      protectionUnavailable(place, why, "every request to an Ingress of the class is answered 503"),
    ],
  });
  const none = (why: string): ClassInfo =>
    isStrict ? close(why) : { ...noDefaults, ...nginx, diagnostics: [invalidClassParameters(place, why)] };
  const { apiGroup = "", kind, namespace, name, scope } = reference;
  if (apiGroup !== parametersGroup || kind !== parametersKind) {
    return none(
      `Parameters of another kind are not supported, expected ${parametersKind} of group ${parametersGroup}`,
    );
  }
  if (scope !== "Namespace" || namespace === undefined || namespace === "") {
    return none('The reference to the parameters is incomplete, expected scope "Namespace" and a namespace');
  }
  const parameters = lookup(parametersKind, namespace, name);
  if (parameters === undefined) return none(`${parametersKind} ${namespace}/${name} does not exist`);
  if (!isReadable(parameters)) {
    const why = problemOfStandIn(parameters);
    return close(
      `The defaults in ${parametersKind} ${namespace}/${name} cannot be read${why === undefined ? "" : `: ${why}`}`,
    );
  }
  const { defaults, unknown, ...read } = readClassDefaults(parameters);
  const observed = observationOf(parameters);
  const diagnostics = [...read.diagnostics, ...observed.diagnostics];
  const info = {
    defaults,
    accessLog: parameters.spec.accessLog !== false,
    ...(observed.observation && { observation: observed.observation }),
    diagnostics,
  };
  if (!isNginx && parameters.spec.annotations !== "ingress-nginx") return info;
  const ofNginx = readNginxDefaults(parameters, ingressNginx);
  const ofClass = parameters.spec.nginxConfig && readNginxConfig(settings, parameters, { lookup });
  const ofParameters = refOf(parameters);
  const isOfNginx = (key: string | undefined): boolean =>
    key !== undefined && nginxName(key, ingressNginx) !== undefined;
  return {
    ...info,
    nginx: {
      settings: ingressNginx,
      config: ofClass ?? config,
      defaults: ofNginx.defaults,
      policy: readNginxPolicy(ingressNginx, parameters),
    },
    diagnostics: [
      ...diagnostics.filter((finding) => !isOfNginx(unknown.get(finding))),
      ...ofNginx.diagnostics,
      // Findings about the ConfigMap are reported elsewhere, once for all classes.
      ...(ofClass?.diagnostics ?? []).filter(({ object }) => isDeepStrictEqual(object, ofParameters)),
    ],
  };
}

/** The value is the same for all Ingresses of the class. */
const observationOf = memo((parameters: ObjectOf<"SvcIngressClassParameters">) =>
  readObservation(
    refOf(parameters),
    { fields: "spec.accessLogFields" },
    { fields: parameters.spec.accessLogFields, tracing: parameters.spec.tracing },
  ),
);

/** Whether all defaults are strings. An API server can contain an object that is older than its schema. */
function isReadable(parameters: ObjectOf<"SvcIngressClassParameters">): boolean {
  const { spec } = parameters as { readonly spec?: unknown };
  if (!isRecord(spec)) return false;
  const { defaultAnnotations: defaults, nginxConfig = {} } = spec;
  if (!isRecord(nginxConfig) || !Object.values(nginxConfig).every((value) => typeof value === "string")) {
    return false;
  }
  if (defaults === undefined || defaults === null) return !isStandIn(parameters);
  return isRecord(defaults) && Object.values(defaults).every((value) => typeof value === "string");
}
