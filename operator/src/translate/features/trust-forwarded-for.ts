import {
  defaultForwardedForHeader,
  trustForwardedFor,
  type TrustForwardedFor,
} from "@svc-gateway/common/features/trust-forwarded-for.ts";
import { everyPeerTrusted } from "../diagnostics/annotations.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";

/**
 * The source of the client's address; undefined for the address of the peer. See
 * docs/features/trust-forwarded-for.md.
 */
export function translateTrustForwardedFor(
  read: AnnotationReader,
  { report }: FeatureContext,
): TrustForwardedFor | undefined {
  const { annotations } = trustForwardedFor;
  const trusts = read(annotations.trustForwardedFor);
  const header = read(annotations.forwardedForHeader) ?? defaultForwardedForHeader;
  const trustedCidrs = read(annotations.forwardedForTrustedCidrs);
  if (trusts !== true) return undefined;
  if (trustedCidrs !== undefined) return { header, trustedCidrs: [...trustedCidrs] };
  report(annotations.trustForwardedFor, (place) => everyPeerTrusted(place, header));
  return { header };
}
