/** Findings about whole objects of any kind. */
import { textOf } from "@svc-gateway/common/values/errors.ts";
import type { Diagnostic } from "../finding.ts";
import { finding, type Place } from "./define-finding.ts";

/** Reported by `check` only: a controller would report it for every object in the cluster that it does not watch. */
export const notWatched = (place: Place, why: string): Diagnostic =>
  finding("info", "NotWatched")(place, `The object is not served: ${why}`);

/** Reported by `check` only. `why` names the class and its controller. */
export const otherController = (place: Place, why: string): Diagnostic =>
  finding("info", "OtherController")(place, `${why}; this gateway does not serve the ${place.object.kind}`);

/** A bug of the translation. The object is set aside, so that it does not prevent others from being served. */
export const internalError = (place: Place, error: unknown): Diagnostic =>
  finding("error", "InternalError")(
    place,
    `The object cannot be translated and is not served: ${textOf(error)}`,
  );
