/**
 * Reads the annotations of one Ingress by precedence: the value of the Ingress, the default of its class, the
 * ConfigMap, the built-in value. Every annotation gets a verdict. See docs/ingress-nginx.md, "How annotations
 * are read".
 */
import { annotationPrefix } from "@svc-gateway/common/features/definition.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { describeProblem, keyField, type Place } from "../diagnostics/define-finding.ts";
import { invalidAnnotation } from "../diagnostics/annotations.ts";
import {
  annotationOverridden,
  notSupported,
  protectionRefused,
  removedNginxAnnotation,
  servedDifferently,
  unknownNginxAnnotation,
} from "../diagnostics/ingress-nginx.ts";
import { invalidAnnotationEvent, notServed } from "../events.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import type { Letter, NginxAnnotation } from "./annotations/declare.ts";
import { formerAnnotation, nginxAnnotations } from "./annotations/index.ts";
import { nginxKey, nginxName, type NginxClass } from "./class.ts";
import { countsOnCanary, isCanary } from "./is-canary.ts";
import type { NginxReport, Outcome, Verdict } from "./report.ts";
import { meantBy } from "./unknown-names.ts";
import { isClosing, readValue } from "./value.ts";

/** The origin of a value. `own`: an annotation of this gateway for the same setting takes precedence. */
export type Source = "annotation" | "class" | "config" | "built-in" | "own" | "none";

export type NginxReader = {
  /**
   * Returns the value of an annotation. It is undefined if nothing sets it and it has no built-in value, and if
   * an annotation of this gateway decides about the setting.
   */
  <T>(annotation: NginxAnnotation<T>): T | undefined;
  readonly sourceOf: (annotation: NginxAnnotation) => Source;
};

/** The annotations of one Ingress. Findings, Events and verdicts are added while groups read them. */
export type NginxAnnotations = {
  readonly read: NginxReader;
  /**
   * Annotations of this gateway whose class defaults do not apply, because the Ingress sets the same settings here.
   */
  readonly replaced: ReadonlySet<string>;
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
  readonly report: () => Omit<NginxReport, "unprotectedPaths">;
  /** Whether every request is answered 503. */
  readonly isClosed: () => boolean;
  /** Whether it is served without a protection that this gateway does not support. */
  readonly isUnprotected: () => boolean;
  readonly say: Says;
};

type Named = Pick<NginxAnnotation, "name">;

/** Creates the finding about an Ingress whose paths are answered 503, if it is not `ProtectionRefused`. */
export type ClosingFinding = (place: Place, message: string) => Diagnostic;

/** Functions that report about annotations. `GroupContext` describes each. */
type Says = {
  readonly close: (annotation: Named, why: string, finding?: ClosingFinding) => void;
  readonly cannotProtect: (annotation: Named, why: string, finding?: ClosingFinding) => void;
  readonly closeHost: (annotation: Named, why: string, finding?: ClosingFinding) => void;
  readonly closePaths: (annotation: Named, why: string, paths: string) => void;
  readonly judge: (annotation: Named, outcome: Outcome, text: string) => void;
  readonly ignore: (annotation: Named, why: string) => void;
  readonly usePartly: (annotation: Named, why: string) => void;
  readonly finding: (
    annotation: Named,
    finding: (place: Place) => Diagnostic,
    verdict?: { readonly outcome: Outcome; readonly text: string },
  ) => void;
};

type Written = { readonly annotation: NginxAnnotation; readonly key: string; readonly raw: string };
type Value = { readonly source: Source; readonly value: unknown };

const answers503 = "every request to the paths of the Ingress is answered 503";
const withoutProtection =
  "requests are served without this protection, because the class says whenUnprotected: serve";

/** The handling in ingress-nginx of a value that closes the paths here, for messages. */
function inIngressNginx(bad: Letter): string {
  if (bad === "D") return "as in ingress-nginx, ";
  if (bad === "X") return "ingress-nginx would not load the Ingress, here ";
  return "ingress-nginx would serve the Ingress without this protection, here ";
}

/** A sentence without its full stop, for the middle of a message. */
const phrase = (sentence: string): string => sentence.replace(/\.$/, "");

/** The names of annotations of this gateway that are set. */
export type OwnNames = {
  readonly ofIngress: ReadonlySet<string>;
  readonly ofClass: ReadonlySet<string>;
  /**
   * Whether an annotation may replace one that protects. A reference to a resource that does not exist can restrict
   * nothing, so it may not.
   */
  readonly protects: (name: string) => boolean;
};

/**
 * Reads all annotations with the prefix of ingress-nginx. On a canary, annotations that do not count only get a
 * verdict.
 */
export function openNginxAnnotations(
  ingress: ObjectOf<"Ingress">,
  nginx: NginxClass,
  own: OwnNames,
): NginxAnnotations {
  const counts = isCanary(ingress, nginx) ? countsOnCanary : (): boolean => true;
  const object = refOf(ingress);
  const diagnostics: Diagnostic[] = [];
  const events: DesiredEvent[] = [];
  const verdicts = new Map<string, Verdict>();
  const placeOf = (key: string): Place => ({ object, field: keyField("metadata.annotations", key) });
  let isClosed = false;
  let isUnprotected = false;

  const { closes, unprotected } = nginx.config;
  const closedBy = closes ?? (nginx.policy.servesUnprotected ? undefined : unprotected);
  if (closedBy !== undefined) {
    const message = `A setting that protects the class is not served: ${closedBy}; ${answers503}`;
    isClosed = true;
    diagnostics.push(protectionRefused({ object }, message));
    events.push(notServed(object, message));
  } else if (unprotected !== undefined) {
    const message = `${unprotected}; ${withoutProtection}`;
    isUnprotected = true;
    diagnostics.push(protectionRefused({ object }, message));
    events.push(invalidAnnotationEvent(object, message));
  }

  const { written, others } = collect(ingress.metadata.annotations ?? {}, nginx);
  /** The key of the annotation that a name was read from. */
  const keyOf = (annotation: Named): string =>
    written.get(annotation.name)?.key ?? nginxKey(annotation, nginx.settings);
  const judge = (key: string, outcome: Outcome, text: string): void => {
    verdicts.set(key, { key, outcome, text });
  };

  const invalid = (key: string, text: string, outcome: Outcome): void => {
    const message = `${key}: ${text}`;
    diagnostics.push(invalidAnnotation(placeOf(key), message));
    events.push(invalidAnnotationEvent(object, message));
    judge(key, outcome, text);
  };
  const refuse = (annotation: Named, text: string, finding: ClosingFinding = protectionRefused): void => {
    const key = keyOf(annotation);
    diagnostics.push(finding(placeOf(key), `${key}: ${text}`));
    events.push(notServed(object, `${key}: ${text}`));
    judge(key, "refused", text);
  };
  const say: Says = {
    close(annotation, why, finding = protectionRefused) {
      isClosed = true;
      refuse(annotation, `${why}; ${answers503}`, finding);
    },
    cannotProtect(annotation, why, finding = protectionRefused) {
      if (!nginx.policy.servesUnprotected) return say.close(annotation, why, finding);
      const key = keyOf(annotation);
      const text = `${why}; ${withoutProtection}`;
      isUnprotected = true;
      diagnostics.push(finding(placeOf(key), `${key}: ${text}`));
      events.push(invalidAnnotationEvent(object, `${key}: ${text}`));
      judge(key, "refused", text);
    },
    closeHost: (annotation, why, finding) =>
      refuse(
        annotation,
        `${why}; every request to the hosts of the Ingress that is not redirected is answered 403`,
        finding,
      ),
    closePaths: (annotation, why, paths) => refuse(annotation, `${why}; these are answered 503: ${paths}`),
    judge: (annotation, outcome, text) => judge(keyOf(annotation), outcome, text),
    ignore: (annotation, why) =>
      invalid(keyOf(annotation), `${why}; as in ingress-nginx, the setting is ignored`, "no-effect"),
    usePartly: (annotation, why) => invalid(keyOf(annotation), why, "differently"),
    finding(annotation, finding, verdict) {
      const key = keyOf(annotation);
      const found = finding(placeOf(key));
      diagnostics.push(found);
      if (found.severity === "error") events.push(invalidAnnotationEvent(object, found.message));
      if (verdict !== undefined) judge(key, verdict.outcome, verdict.text);
    },
  };

  const refuseBad = ({ annotation, key }: Written, why: string): void => {
    if (isClosing(annotation)) {
      isClosed = true;
      invalid(key, `${why}; ${inIngressNginx(annotation.bad)}${answers503}`, "refused");
    } else if (annotation.bad === "X") {
      invalid(
        key,
        `${why}; ingress-nginx would not load the Ingress, here it is served without the setting`,
        "differently",
      );
    } else {
      invalid(key, `${why}; as in ingress-nginx, the setting is ignored`, "no-effect");
    }
  };

  /** Sets the verdict of an annotation by the degree to which it is served. */
  const judgeValue = (annotation: NginxAnnotation, key: string, value: unknown): void => {
    const isNeutral = annotation.isNeutral?.(value) === true;
    if (isNeutral || annotation.served === "served") judge(key, "served", "");
    else if (annotation.served === "no-effect") judge(key, "no-effect", annotation.here);
    else if (annotation.served === "differently") {
      say.finding(annotation, (place) => servedDifferently(place, `${key}: ${phrase(annotation.here)}`), {
        outcome: "differently",
        text: annotation.here,
      });
    } else {
      const why = annotation.served === "refused" ? phrase(annotation.here) : "is not served yet";
      if (annotation.protective === true) say.cannotProtect(annotation, why);
      else {
        say.finding(annotation, (place) => notSupported(place, `${key}: ${why}; it has no effect`), {
          outcome: "refused",
          text: `${why}; it has no effect`,
        });
      }
    }
  };

  const ownOver = (
    names: Pick<ReadonlySet<string>, "has">,
    annotation: NginxAnnotation,
  ): string | undefined =>
    annotation.own?.find((name) => names.has(name) && (annotation.protective !== true || own.protects(name)));

  const values = new Map<string, Value>();
  const replaced = new Set<string>();
  const appliesFromClass = (name: string): boolean => own.ofClass.has(name) && !replaced.has(name);
  /** The value that the Ingress itself sets; undefined if it sets none that can be used. */
  const readWritten = (one: Written): Value | undefined => {
    const { annotation, key, raw } = one;
    if (!counts(annotation)) {
      judge(key, "no-effect", "requests of a canary have the settings of the Ingress that it is a canary of");
      return undefined;
    }
    const winner = ownOver(own.ofIngress, annotation);
    if (winner !== undefined) {
      const text = `${annotationPrefix}${winner} is about the same setting and takes precedence`;
      diagnostics.push(annotationOverridden(placeOf(key), key, `${annotationPrefix}${winner}`));
      judge(key, "no-effect", text);
      return { source: "own", value: undefined };
    }
    const value = readValue(annotation, raw);
    if (value === undefined) {
      judge(key, "no-effect", "is empty and sets nothing");
      return undefined;
    }
    if (!value.ok) {
      refuseBad(one, describeProblem(value.error));
      return undefined;
    }
    if (annotation.keepsClassDefaults !== true) {
      for (const name of annotation.own ?? []) replaced.add(name);
    }
    judgeValue(annotation, key, value.value);
    return { source: "annotation", value: value.value };
  };

  const readDefault = (annotation: NginxAnnotation): Value => {
    const { name, builtIn } = annotation;
    if (ownOver(own.ofIngress, annotation) ?? ownOver({ has: appliesFromClass }, annotation)) {
      return { source: "own", value: undefined };
    }
    const ofClass = nginx.defaults.get(name);
    if (ofClass?.ok === true) {
      return { source: "class", value: ofClass.value };
    }
    if (ofClass !== undefined && isClosing(annotation)) closeByClass(annotation, ofClass);
    if (nginx.config.defaults.has(name)) return { source: "config", value: nginx.config.defaults.get(name) };
    return { source: builtIn === undefined ? "none" : "built-in", value: builtIn };
  };
  const closeByClass = (annotation: NginxAnnotation, bad: Result<unknown>): void => {
    if (bad.ok || isClosed) return;
    say.close(annotation, `the default of the class cannot be used: ${describeProblem(bad.error)}`);
  };

  for (const { key, name, overriddenBy } of others) {
    if (overriddenBy !== undefined) {
      judge(key, "no-effect", `${overriddenBy} is set as well and wins`);
      continue;
    }
    const former = formerAnnotation(name);
    diagnostics.push(
      former === undefined
        ? unknownNginxAnnotation(placeOf(key), key, name, meantBy(name))
        : removedNginxAnnotation(placeOf(key), key, former.instead),
    );
    judge(key, "no-effect", former === undefined ? "is not an annotation of ingress-nginx" : former.instead);
  }
  for (const one of written.values()) {
    const value = readWritten(one);
    if (value !== undefined) values.set(one.annotation.aliasOf ?? one.annotation.name, value);
  }
  // A class default that is not served protects as little as an annotation that is not served.
  for (const [name, ofClass] of nginx.defaults) {
    const annotation = nginxAnnotations.get(name);
    if (annotation === undefined || values.has(name) || !counts(annotation)) continue;
    const value = readDefault(annotation);
    values.set(name, value);
    const isMissing = annotation.served === "not-yet" || annotation.served === "refused";
    const isWanted = ofClass.ok && value.source === "class" && annotation.isNeutral?.(value.value) !== true;
    if (isMissing && isWanted && annotation.protective === true) {
      say.cannotProtect(annotation, "the default of the class is not served");
    }
  }

  const valueOf = (annotation: NginxAnnotation): Value => {
    const name = annotation.aliasOf ?? annotation.name;
    const known = values.get(name);
    if (known !== undefined) return known;
    const value = readDefault(annotation);
    values.set(name, value);
    return value;
  };
  const read = Object.assign(
    // The value was parsed by the form of its annotation.
    <T>(annotation: NginxAnnotation<T>): T | undefined => valueOf(annotation).value as T | undefined,
    { sourceOf: (annotation: NginxAnnotation): Source => valueOf(annotation).source },
  );
  return {
    read,
    replaced,
    diagnostics,
    events,
    report: () => ({ object, verdicts: [...verdicts.values()] }),
    isClosed: () => isClosed,
    isUnprotected: () => isUnprotected,
    say,
  };
}

type Other = { readonly key: string; readonly name: string; readonly overriddenBy?: string };

/** Collects the known annotations by the name that they count as, and the keys that set nothing. */
function collect(
  annotations: Readonly<Record<string, string>>,
  { settings }: NginxClass,
): { readonly written: ReadonlyMap<string, Written>; readonly others: readonly Other[] } {
  const written = new Map<string, Written>();
  const others: Other[] = [];
  for (const [key, raw] of Object.entries(annotations)) {
    const name = nginxName(key, settings);
    if (name === undefined) continue;
    const annotation = nginxAnnotations.get(name);
    if (annotation === undefined) {
      others.push({ key, name });
      continue;
    }
    const slot = annotation.aliasOf ?? name;
    const known = written.get(slot);
    if (known === undefined) {
      written.set(slot, { annotation, key, raw });
      continue;
    }
    const next = { annotation, key, raw };
    const [winner, loser] = wins(next, known) ? [next, known] : [known, next];
    written.set(slot, winner);
    others.push({ key: loser.key, name: loser.annotation.name, overriddenBy: winner.key });
  }
  return { written, others };
}

/**
 * Whether `a` takes precedence over `b`, which is another spelling of it. The newer spelling wins unless it is
 * empty.
 */
const wins = (a: Written, b: Written): boolean => {
  const [newer, older] = a.annotation.aliasOf === undefined ? [a, b] : [b, a];
  return (newer.raw.trim() === "" ? older : newer) === a;
};
