/** Findings about sessions of Ingresses of ingress-nginx. See docs/reference/events.md, "Findings". */
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { finding, type Place } from "./define-finding.ts";

/** A session cookie for a path that is a regular expression, which browsers cannot compare. */
export const cookiePathExpression = (place: Place, path: string): Diagnostic =>
  finding("warning", "CookiePathExpression")(
    place,
    `Path ${quote(path)} is a regular expression, which is no Path for a cookie; / is used, expected session-cookie-path`,
  );
