import { mirrorTarget, type MirrorTarget } from "@svc-gateway/common/features/mirror-target.ts";
import { mirrorDisabled } from "../diagnostics/references.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveNamedService } from "./named-service.ts";

/** The target of copies of an Ingress's requests; undefined for none. See docs/features/mirror-target.md. */
export function translateMirrorTarget(
  read: AnnotationReader,
  context: FeatureContext,
): MirrorTarget | undefined {
  const definition = mirrorTarget.annotations.mirrorTarget;
  const address = read(definition);
  if (address === undefined) return undefined;
  const target = resolveNamedService(address, context, ["copies"], (why): undefined => {
    context.report(definition, (place) => mirrorDisabled(place, why));
  });
  return target && [target];
}
