/** Findings about objects that annotations, filters and policies refer to. */
import { problemOfStandIn } from "../../api/stand-in.ts";
import type { Problem } from "@svc-gateway/common/values/result.ts";
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { describeProblem, errorAmongManifests, finding, type Place } from "./define-finding.ts";

/**
 * The reason why an object cannot be used. `found` is the stand-in for an invalid object, or undefined if the
 * object does not exist.
 */
export function describeUnusable(named: string, found: object | undefined): string {
  if (found === undefined) return `${named} does not exist`;
  const why = problemOfStandIn(found);
  return why === undefined ? `${named} is not valid` : `${named} is not valid: ${why}`;
}

export const referenceNotFound = (place: Place, named: string, consequence: string): Diagnostic =>
  finding("warning", "ReferenceNotFound")(place, `${named} does not exist; ${consequence}`);

/** A finding about a missing resource that would restrict access. */
export const protectionNotFound = (place: Place, named: string, consequence: string): Diagnostic =>
  errorAmongManifests(referenceNotFound(place, named, consequence));

export const referenceNotPermitted = (place: Place, message: string): Diagnostic =>
  finding("error", "ReferenceNotPermitted")(place, message);

export const unusableResource = (place: Place, why: string, consequence: string): Diagnostic =>
  errorAmongManifests(finding("warning", "UnusableResource")(place, `${why}; ${consequence}`));

export const protectionUnavailable = (place: Place, why: string, consequence: string): Diagnostic =>
  finding("error", "ProtectionUnavailable")(place, `${why}; ${consequence}`);

export const resourcePartlyIgnored = (place: Place, message: string): Diagnostic =>
  finding("warning", "ResourcePartlyIgnored")(place, message);

/** A finding about a key set that has more keys of an algorithm than are tried for a token. */
export const keySetNeedsKid = (place: Place, message: string): Diagnostic =>
  finding("info", "KeySetNeedsKid")(place, message);

export const keySetNotFetched = (place: Place, why: string, hasOldKeys: boolean): Diagnostic =>
  finding("warning", "KeySetNotFetched")(
    place,
    `The key set cannot be fetched: ${why}; ${hasOldKeys ? "the last one stays in use" : "requests are answered 503 until it is"}`,
  );

export const keySetLeftOut = (place: Place, maxBytes: number, bytes: number): Diagnostic =>
  protectionUnavailable(
    place,
    `The key sets of all JwtAuths take more than ${maxBytes / 1_048_576} MiB, and namespace ${place.object.namespace ?? ""} takes the most of it (this key set: ${Math.max(1, Math.round(bytes / 1024))} KiB)`,
    "the key set is not used, and requests are answered 503",
  );

export const linesLeftOut = (place: Place, named: string, leftOut: readonly string[]): Diagnostic =>
  finding("warning", "LinesLeftOut")(
    place,
    `${named} has invalid lines, which are ignored: ${leftOut.join(", ")}`,
  );

export const resourceFieldIgnored = (place: Place, named: string, what: string): Diagnostic =>
  finding("warning", "InvalidField")(place, `${named}: ${what}`);

export const mirrorDisabled = (place: Place, why: string): Diagnostic =>
  finding("error", "MirrorDisabled")(place, `${why}; requests are not mirrored`);

const describeRanges = (named: string, refused: readonly string[]): string =>
  `${named} holds ${quote(refused[0] ?? "")}${refused.length > 1 ? ` and ${refused.length - 1} more, which are not IP addresses or CIDRs; they are ignored` : ", which is not an IP address or CIDR; it is ignored"}`;

export const rangesLeftOut = (place: Place, named: string, refused: readonly string[]): Diagnostic =>
  finding("warning", "InvalidRange")(place, describeRanges(named, refused));

/** A finding about the logging or tracing of requests. */
export const invalidObservation = (place: Place, problem: Problem, consequence: string): Diagnostic =>
  finding("warning", "InvalidField")(place, `${describeProblem(problem)}; ${consequence}`);

/** A finding about denied ranges that are ignored, so that clients from there are admitted. */
export const denialsLeftOut = (place: Place, named: string, refused: readonly string[]): Diagnostic =>
  errorAmongManifests(rangesLeftOut(place, named, refused));
