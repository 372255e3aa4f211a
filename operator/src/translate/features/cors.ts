import { cors, defaultCorsMaxAgeSeconds, type Cors } from "@svc-gateway/common/features/cors.ts";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { annotationWarning, riskyAnnotation } from "../diagnostics/annotations.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";

const { allowOrigins, allowMethods, allowHeaders, allowCredentials, exposeHeaders, maxAge } =
  cors.annotations;
const details = [allowMethods, allowHeaders, allowCredentials, exposeHeaders, maxAge];

const everyPage =
  `${annotationKey(allowCredentials)}: with ${annotationKey(allowOrigins)} "*" every page on the web may send requests with ` +
  "the cookies of its visitor and read the responses; list the origins instead";

/** The CORS settings of an Ingress's routes; undefined if CORS is off. See docs/features/cors.md. */
export function translateCors(read: AnnotationReader, context: FeatureContext): Cors | undefined {
  const origins = read(allowOrigins);
  const value: Omit<Cors, "allowOrigins"> = {
    allowCredentials: read(allowCredentials) ?? false,
    allowMethods: read(allowMethods) ?? [],
    allowHeaders: read(allowHeaders) ?? [],
    exposeHeaders: read(exposeHeaders) ?? [],
    maxAgeSeconds: read(maxAge) ?? defaultCorsMaxAgeSeconds,
  };
  if (origins === undefined) {
    reportIdle(read, context);
    return undefined;
  }
  if (value.allowCredentials && origins.includes("*"))
    context.report(allowCredentials, (place) => riskyAnnotation(place, everyPage));
  return { allowOrigins: origins, ...value };
}

/** Reports CORS annotations of the Ingress itself that have no effect, because no origin enables CORS. */
function reportIdle(read: AnnotationReader, { hasAnnotation, report }: FeatureContext): void {
  for (const one of details) {
    if (!hasAnnotation(one.name) || read<unknown>(one) === undefined) continue;
    const message = `${annotationKey(one)}: has no effect without a usable ${annotationKey(allowOrigins)}`;
    report(one, (place) => annotationWarning(place, message));
  }
}
