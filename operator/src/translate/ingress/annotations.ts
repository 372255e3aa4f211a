/** Reads the annotations of an Ingress, with the findings about them. See docs/reference/annotations.md. */
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { pathNormalize, type PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { rewriteTarget } from "@svc-gateway/common/features/rewrite-target.ts";
import { useRegex } from "@svc-gateway/common/features/use-regex.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import type { EndpointRef } from "../backends/service-port.ts";
import { closeAll, closeFeatures } from "../closures.ts";
import type { KeySetRef } from "../credentials/remote-key-sets.ts";
import { annotationWarning, invalidAnnotation, riskyAnnotation } from "../diagnostics/annotations.ts";
import { classClosed } from "../diagnostics/classes.ts";
import { keyField, type Place } from "../diagnostics/define-finding.ts";
import { referenceNotPermitted } from "../diagnostics/references.ts";
import { invalidAnnotationEvent, notServed } from "../events.ts";
import {
  createAnnotationReader,
  hasOwnValue,
  type AnnotationReader,
  type ClassDefaults,
} from "../features/annotation-reader.ts";
import { describeUnknownKey, unknownKeys } from "../features/class-defaults.ts";
import type { FeatureContext } from "../features/context.ts";
import { translateFeatures } from "../features/index.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import { foreignAnnotationsOf, reportForeignAnnotations } from "../foreign/foreign-annotations.ts";
import type { View } from "../incremental/view.ts";
import { nginxName } from "../ingress-nginx/class.ts";
import { isCanary } from "../ingress-nginx/is-canary.ts";
import { findWithoutEffect, readCanaryRule, type CanaryRule } from "./canary.ts";
import type { ClassInfo } from "./classes.ts";

type Findings = {
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
  /** Endpoint sets that the features name. */
  readonly endpointRefs: readonly EndpointRef[];
  /** The resources that features refer to besides endpoint sets. */
  readonly resources: readonly Resource[];
  readonly keySets: readonly KeySetRef[];
};

type Surroundings = { readonly view: View; readonly httpsPublicPort: number };

type ReadAnnotations = Findings & {
  /** Reads the annotations again. Findings about them are already contained in the result. */
  readonly read: AnnotationReader;
  /** The features of every route of the Ingress. */
  readonly features: RouteFeatures | undefined;
  /** Whether its `ImplementationSpecific` paths are regular expressions. */
  readonly useRegex: boolean;
  /** The new path of requests, as written in the annotation. */
  readonly rewriteTarget: string | undefined;
  /** The rule of a canary; undefined if the Ingress is not one. */
  readonly canary: CanaryRule | undefined;
  /** The level to which paths of its hosts are normalised; undefined if the Ingress sets none. */
  readonly pathLevel: PathLevel | undefined;
};

/** Reads the annotations as settings for the rules and routes of the Ingress. */
export function readAnnotations(
  ingress: ObjectOf<"Ingress">,
  { defaults, isClosed, nginx }: ClassInfo,
  surroundings: Surroundings,
): ReadAnnotations {
  const { read, context, ...findings } = openAnnotations(ingress, defaults, surroundings);
  const own = Object.keys(ingress.metadata.annotations ?? {});
  const asked = translateFeatures(read, context, defaults === undefined ? own : [...defaults.keys, ...own]);
  const features = isClosed === true ? closeAll(asked) : closeFeatures(ingress, asked);
  const isRegex = read(useRegex.annotations.useRegex) === true;
  const newPath = read(rewriteTarget.annotations.rewriteTarget);
  const pathLevel = read(pathNormalize.annotations.pathNormalize);
  const canary = readCanaryRule(read);
  const object = refOf(ingress);
  const unknown = unknownKeys(own).map((key) =>
    describeUnknownKey({ object, field: keyField("metadata.annotations", key) }, key),
  );
  const withoutEffect = findWithoutEffect(
    ingress,
    nginx === undefined ? canary !== undefined : isCanary(ingress, nginx),
  );
  const ofClass = isClosed === true ? [classClosed({ object })] : [];
  const isRead = (key: string): boolean =>
    nginx !== undefined && nginxName(key, nginx.settings) !== undefined;
  const foreign = reportForeignAnnotations(
    object,
    foreignAnnotationsOf(ingress.metadata.annotations ?? {}, isRead),
  );
  const diagnostics = [
    ...findings.diagnostics,
    ...unknown,
    ...withoutEffect,
    ...foreign.diagnostics,
    ...ofClass,
  ];
  const ofClosed = ofClass.map(({ message }) => notServed(object, message));
  const events = [...findings.events, ...foreign.events, ...ofClosed];
  return {
    ...{ read, features, useRegex: isRegex, rewriteTarget: newPath, canary, pathLevel },
    ...findings,
    diagnostics,
    events,
  };
}

/** Opens the annotations of one Ingress for reading. Findings are added while features read them. */
export function openAnnotations(
  ingress: ObjectOf<"Ingress">,
  classDefaults: ClassDefaults | undefined,
  { view, httpsPublicPort }: Surroundings,
): Findings & { readonly read: AnnotationReader; readonly context: FeatureContext } {
  const { namespace, annotations = {} } = ingress.metadata;
  const object = refOf(ingress);
  const diagnostics: Diagnostic[] = [];
  const events: DesiredEvent[] = [];
  const resources: Resource[] = [];
  const endpointRefs: EndpointRef[] = [];
  const keySets: KeySetRef[] = [];
  const placeOf = (key: string): Place => ({ object, field: keyField("metadata.annotations", key) });
  const warnWithEvent =
    (finding: (place: Place, message: string) => Diagnostic): FeatureContext["warn"] =>
    (definition, text) => {
      const key = annotationKey(definition);
      const message = `${key}: ${text}`;
      diagnostics.push(finding(placeOf(key), message));
      events.push(invalidAnnotationEvent(object, message));
    };
  const read = createAnnotationReader({
    annotations,
    classDefaults,
    onInvalid: (key, message) => {
      diagnostics.push(invalidAnnotation(placeOf(key), message));
      events.push(invalidAnnotationEvent(object, message));
    },
    onWarning: (key, message, notice) => {
      diagnostics.push(annotationWarning(placeOf(key), message));
      if (notice === "event") events.push(invalidAnnotationEvent(object, message));
    },
  });
  const context: FeatureContext = {
    ...view,
    referrer: { kind: "Ingress", namespace },
    httpsPublicPort,
    provide: (resource) => resources.push(resource),
    useEndpoints: (ref) => endpointRefs.push(ref),
    fetch: (ref) => keySets.push(ref),
    hasAnnotation: (name) => Object.hasOwn(annotations, annotationKey({ name })),
    freeNamespaces: (definition) =>
      classDefaults === undefined || hasOwnValue(annotations, definition)
        ? [namespace]
        : [namespace, classDefaults.namespace],
    warn: warnWithEvent(riskyAnnotation),
    warnUnlessAuthenticated: warnWithEvent(riskyAnnotation),
    refuse: warnWithEvent(referenceNotPermitted),
    reportWithEvent: (definition, finding) => {
      const key = annotationKey(definition);
      const found = finding(placeOf(key));
      diagnostics.push(found);
      events.push(invalidAnnotationEvent(object, `${key}: ${found.message}`));
    },
    report: (definition, finding) => {
      diagnostics.push(finding(placeOf(annotationKey(definition))));
    },
  };
  return { read, context, diagnostics, events, resources, endpointRefs, keySets };
}
