/** Which IngressClasses are ours, what defaults they bring, and so which Ingresses are ours. See docs/routing.md. */
import { refOf } from "../../api/object.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { createLookup, type Lookup, type World } from "../../world.ts";
import { ageOf, compareAges } from "../age.ts";
import { attempt } from "../attempt.ts";
import { ingressClassNotFound, invalidClassParameters, keyField, noIngressClass } from "../diagnostics.ts";
import type { ClassDefaults } from "../features/annotation-reader.ts";
import { readClassDefaults } from "../features/class-defaults.ts";
import { trackedMemo } from "../memo.ts";
import type { TranslateSettings } from "../settings.ts";
import type { Diagnostic } from "../translation.ts";

const legacyClassAnnotation = "kubernetes.io/ingress.class";
const defaultClassAnnotation = "ingressclass.kubernetes.io/is-default-class";
const parametersGroup = "ingress.svc-labs.dev";
const parametersKind = "SvcIngressClassParameters";

/** A class of ours. The same object comes back for as long as the IngressClass and its parameters do not change. */
export type ClassInfo = {
  /** Defaults for annotations; undefined when the class has no parameters. */
  readonly defaults: ClassDefaults | undefined;
  /** False suppresses access-log lines for the Ingresses of the class. */
  readonly accessLog: boolean;
  readonly diagnostics: readonly Diagnostic[];
};

type Classification = {
  readonly ours?: ClassInfo | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

export type Classes = {
  /** The class that makes an Ingress ours, or why it is not; neither for an Ingress that is somebody else's. */
  readonly classify: (ingress: ObjectOf<"Ingress">) => Classification;
  readonly diagnostics: readonly Diagnostic[];
};

/** Remembers per settings; see `createClasses`. */
export function createClassReader(
  settings: Pick<TranslateSettings, "controllerName" | "ingressClass">,
): (world: World) => Classes {
  const { controllerName, ingressClass } = settings;
  const infoOf = trackedMemo((one: ObjectOf<"IngressClass">, _: undefined, { lookup }) =>
    attempt(one, () => readClass(one, lookup), noDefaults),
  );
  return (world) => {
    const lookup = createLookup(world);
    const ours = new Map<string, ClassInfo>();
    const defaults: ObjectOf<"IngressClass">[] = [];
    for (const one of world.IngressClass) {
      if (one.spec?.controller !== controllerName) continue;
      if (ingressClass !== undefined && one.metadata.name !== ingressClass) continue;
      ours.set(one.metadata.name, infoOf(one, undefined, world));
      if (one.metadata.annotations?.[defaultClassAnnotation] === "true") defaults.push(one);
    }
    const [oldest] = defaults.sort((a, b) => compareAges(ageOf(a), ageOf(b)));
    const defaultClass = oldest === undefined ? undefined : ours.get(oldest.metadata.name);
    return {
      classify: (ingress) => {
        const named = classNameOf(ingress);
        const info = named === undefined ? defaultClass : ours.get(named.name);
        return info === undefined
          ? attempt(ingress, () => ({ diagnostics: explainUnserved(ingress, named, lookup) }), {})
          : { ours: info, diagnostics: [] };
      },
      diagnostics: [...ours.values()].flatMap((info) => info.diagnostics),
    };
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
): readonly Diagnostic[] {
  const object = refOf(ingress);
  if (named === undefined) return [noIngressClass({ object })];
  if (lookup("IngressClass", "", named.name) !== undefined) return [];
  return [ingressClassNotFound({ object, field: named.field }, named.name)];
}

const noDefaults = { defaults: undefined, accessLog: true };

function readClass(one: ObjectOf<"IngressClass">, lookup: Lookup): ClassInfo {
  const reference = one.spec?.parameters;
  if (reference === undefined) return { ...noDefaults, diagnostics: [] };
  const none = (why: string): ClassInfo => ({
    ...noDefaults,
    diagnostics: [invalidClassParameters({ object: refOf(one), field: "spec.parameters" }, why)],
  });
  const { apiGroup = "", kind, namespace, name, scope } = reference;
  if (apiGroup !== parametersGroup || kind !== parametersKind) {
    return none(`Parameters must be a ${parametersKind} of group ${parametersGroup}`);
  }
  if (scope !== "Namespace" || namespace === undefined || namespace === "") {
    return none('Parameters need the scope "Namespace" and a namespace');
  }
  const parameters = lookup(parametersKind, namespace, name);
  if (parameters === undefined) return none(`${parametersKind} ${namespace}/${name} does not exist`);
  const { defaults, diagnostics } = readClassDefaults(parameters);
  return { defaults, accessLog: parameters.spec.accessLog !== false, diagnostics };
}
