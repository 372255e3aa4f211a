/** Findings about hosts, paths and routes of Ingresses. */
import { formatRef, nameOf, type ObjectRef } from "../../api/object.ts";
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { errorAmongManifests, failed, finding, type Place } from "./define-finding.ts";

export const invalidHost = failed("error", "InvalidHost", "the host is not served");

export const invalidPath = failed("error", "InvalidPath", "the path is not served");

export const invalidBackend = failed("error", "InvalidBackend", "requests to it are answered 503");

export const resourceBackendIgnored = (place: Place): Diagnostic =>
  finding("error", "ResourceBackendIgnored")(
    place,
    "Resource backends are not supported, expected a Service; the backend is ignored",
  );

export const ruleWithoutPaths = (place: Place, host: string): Diagnostic =>
  finding("warning", "NoPaths")(
    place,
    `The rule has no path and the Ingress no default backend; it serves nothing on host ${host}`,
  );

export const duplicatePath = (place: Place, host: string, path: string): Diagnostic =>
  finding("error", "DuplicatePath")(
    place,
    `Host ${host} path ${quote(path)} appears twice in this Ingress; only the first one is served`,
  );

export const routeConflict = (place: Place, message: string): Diagnostic =>
  finding("error", "RouteConflict")(place, message);

/** Reported by `check` only, for a route that never gets a request. `taken` names one match, its hosts and who has it. */
export const routeShadowed = (place: Place, taken: string): Diagnostic =>
  finding("error", "RouteShadowed")(
    place,
    `${taken}, which takes precedence; the route gets no requests, as this is so for all its matches`,
  );

/** Reported by `check` only, for a match of a route that gets requests otherwise. */
export const matchShadowed = (place: Place, taken: string): Diagnostic =>
  finding("warning", "MatchShadowed")(
    place,
    `${taken}, which takes precedence; the rule gets no requests there`,
  );

export const defaultBackendShadowed = (place: Place, host: string, winner: ObjectRef): Diagnostic =>
  finding("info", "DefaultBackendShadowed")(
    place,
    `The default backend gets no requests on host ${host}, because ${nameOf(winner)} serves the path /`,
  );

/** `on` is a port or several ports, `what` a listener of `by`. */
export const hostOfGateway = (
  place: Place,
  taken: { readonly host: string; readonly on: string; readonly by: ObjectRef; readonly what: string },
): Diagnostic => {
  const { host, on, by, what } = taken;
  const which = host === "*" ? `, which has no hostname and so serves every host that no Ingress names` : "";
  return finding("error", "HostOfGateway")(
    place,
    `Host ${host} on ${on} belongs to ${what} of ${formatRef(by)}${which}; this Ingress gets no requests for it there`,
  );
};

export const regexShadowed = (place: Place, host: string, path: string, winner: ObjectRef): Diagnostic =>
  finding("error", "RegexShadowed")(
    place,
    `Regex path ${quote(path)} on host ${host} is never matched: ${nameOf(winner)} serves the prefix /, and prefixes take precedence over regular expressions`,
  );

export const pathLevelConflict = (place: Place, host: string, level: string, winner: ObjectRef): Diagnostic =>
  finding("warning", "PathLevelConflict")(
    place,
    `Paths on host ${host} are normalised at level ${level}, which ${nameOf(winner)} sets and which has precedence; the level of this Ingress is ignored`,
  );

/** The end of a sentence such as "the regular expression has only one group". */
export const countGroups = (groups: number): string =>
  groups === 0 ? "no group" : groups === 1 ? "only one group" : `only ${groups} groups`;

/** A finding about a group, such as `$2`, that is not captured. */
export const groupMissing = (place: Place, group: string, why: string): Diagnostic =>
  finding("error", "GroupMissing")(place, `${group} has no group to refer to: ${why}`);

/** A path that looks like a regular expression but is literal, so that no real request has it. */
export const patternIsLiteral = (place: Place, path: string, remedy: string): Diagnostic =>
  errorAmongManifests(
    finding("warning", "PatternIsLiteral")(
      place,
      `Path ${quote(path)} is matched literally, not as a regular expression; ${remedy}`,
    ),
  );
