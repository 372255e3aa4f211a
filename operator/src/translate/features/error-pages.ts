import { errorPages, type ErrorPages } from "@svc-gateway/common/features/error-pages.ts";
import { unusableResource } from "../diagnostics/references.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveNamedService } from "./named-service.ts";

/** The errors of an Ingress's routes that a Service answers; undefined for none. See docs/features/error-pages.md. */
export function translateErrorPages(read: AnnotationReader, context: FeatureContext): ErrorPages | undefined {
  const { codes: codesOf, backend } = errorPages.annotations;
  const codes = read(codesOf) ?? [];
  const address = read(backend);
  const service =
    address &&
    resolveNamedService(address, context, ["errors"], (why): undefined => {
      context.report(backend, (place) => unusableResource(place, why, backend.fallback));
    });
  if (service === undefined && codes.length === 0) return undefined;
  const fields = [{ name: "X-Namespace", value: context.referrer.namespace }];
  return { codes: [...codes], ...(service && { page: service, standIn: service }), fields };
}
