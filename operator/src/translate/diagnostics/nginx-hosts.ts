/** Findings about paths and hosts of Ingresses of ingress-nginx. See docs/reference/events.md, "Findings". */
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { finding, type Place } from "./define-finding.ts";

/** A path that RE2 cannot match. */
export const unservableExpression = (place: Place, path: string, why: string, literal: string): Diagnostic =>
  finding("error", "UnservableExpression")(
    place,
    `Path ${quote(path)} is a regular expression that cannot be served: ${why}; every request whose path begins with ` +
      `${quote(literal === "" ? "/" : literal)} and that no longer path takes is answered 503`,
  );

/** A path of the type Exact or Prefix that is a regular expression on its host. */
export const expressionInPrefix = (place: Place, path: string): Diagnostic =>
  finding("warning", "ExpressionInPrefix")(
    place,
    `Path ${quote(path)} of the type Exact or Prefix has characters other than letters, digits and ._-/, and is matched as a ` +
      "regular expression, as in ingress-nginx; expected the type ImplementationSpecific",
  );

/** Regular expressions of an Ingress that may not make all paths of a host regular expressions. */
export const hostWideNotYours = (place: Place, host: string, namespace: string): Diagnostic =>
  finding("warning", "HostWideNotYours")(
    place,
    `Host ${host} belongs to namespace ${namespace}, so only the paths of this Ingress are regular expressions; in ` +
      "ingress-nginx all paths of the host would be",
  );
